"""Validates the checkpoints that another trainer writes into a folder, by running a suite with each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.plugin import HarnessError, shown_path
from harness.toolkit.boards import FILE, Leaderboard, running
from harness.toolkit.boards.running import Suite, System, merge, models_of

WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # or the index of several such files
SETTLED = 5.0  # seconds for which a checkpoint's files must be unchanged before it is used


class Watching(NamedTuple):
    """When to look for checkpoints, and when to stop."""

    once: bool = False  # whether to validate only the checkpoints that are there now
    idle: float | None = None  # stop after this many seconds without a new checkpoint; None: never
    every: float = 5.0  # seconds between two looks


def validate(
    folder: Path, suite: Path, system: str | None, out: Path, store: Path | None, watching: Watching,
    tell: Callable[[str], None],
) -> Leaderboard:  # fmt: skip
    """The leaderboard with a row `SYSTEM@CHECKPOINT` for each checkpoint and dataset. It is written after
    each checkpoint. One that was validated before is not run again unless its files changed."""
    if not folder.is_dir():
        raise HarnessError(f"{shown_path(folder)}: is no folder; name that of the checkpoints")
    chosen, key = _tried(running.load(suite), system)
    boards: list[Path] = []
    for checkpoint in _appearing(folder, watching):
        where = out / "checkpoints" / checkpoint.name
        changed = [f"{key}={checkpoint.resolve()}"]
        board = running.run(
            suite, out=where, store=store, only=[chosen], set=changed, quiet=True, replace=True
        )
        boards.append(where / FILE)
        renamed = [f"{shown_path(path)}:{chosen}={chosen}@{path.parent.name}" for path in boards]
        merged = merge(boards, out, rename=renamed)
        for row in board.rows:
            label = next(iter(row.measures), None)
            score = f"{label} {row.measures[label].mean:.4f}" if label else f"failed: {row.error}"
            tell(f"{checkpoint.name}: {row.dataset}: {score}")
    if not boards:
        raise HarnessError(f"{shown_path(folder)}: has no checkpoint; one has config.json and weights")
    return merged.board


def _tried(suite: Suite, named: str | None) -> tuple[str, str]:
    """The system to validate, and the path of its model's parameter, as `--set` takes it. Systems with models
    that the suite makes itself are not considered."""
    fitting = {item.name: item for item in suite.systems if item.scored and _model(item) is not None}
    if named is None and len(fitting) == 1:
        named = next(iter(fitting))
    if named is None or named not in fitting:
        if not fitting:
            what = "no system has a model of its own; give one a model, such as {dense: {model: ...}}"
            raise HarnessError(f"{shown_path(suite.path)}: {what}")
        what = f"'{named}' has no model of its own" if named else "several systems have a model"
        raise HarnessError(f"--system: {what}; choose from: {', '.join(fitting)}")
    return named, str(_model(fitting[named]))


def _model(system: System) -> str | None:
    if models_of(system):
        return None
    if system.retriever is not None and hasattr(system.retriever.params, "model"):
        return f"systems.{system.base}.retriever.{system.retriever.name}.model"
    if len(system.rerank) == 1 and hasattr(system.rerank[0].chosen.params, "model"):
        return f"systems.{system.base}.rerank.{system.rerank[0].chosen.name}.model"
    return None


def _appearing(folder: Path, watching: Watching) -> Iterator[Path]:
    """The checkpoints of the folder in the order of writing, each once, until it is time to stop."""
    seen: set[Path] = set()
    last = time.monotonic()
    while True:
        new = [path for path in _checkpoints(folder) if path not in seen]
        settled = [path for path in new if watching.once or time.time() - _written(path) > SETTLED]
        if settled:
            seen.add(settled[0])
            yield settled[0]
            last = time.monotonic()
            continue
        idle = watching.idle is not None and time.monotonic() - last > watching.idle
        if not new and (watching.once or idle):
            return
        time.sleep(watching.every)


def _checkpoints(folder: Path) -> Sequence[Path]:
    whole = [
        path
        for path in folder.iterdir()
        if (path / "config.json").is_file()
        and any((path / f"{name}{end}").is_file() for name in WEIGHTS for end in ("", ".index.json"))
    ]
    return sorted(whole, key=lambda path: (_written(path), path.name))


def _written(folder: Path) -> float:
    return max(path.stat().st_mtime for path in folder.rglob("*") if path.is_file())
