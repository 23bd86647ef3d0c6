"""Compares what `--estimate --calibrate` says with what suites cost: in a run, in a store, or in their
leaderboards."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness import api, catalogue
from harness.cli import calibration
from harness.cli.estimate import listing
from harness.errors import HarnessError
from harness.execution.estimate import Estimate, free_seconds, read_all
from harness.execution.progress import Reporter
from harness.leaderboard import board_file
from harness.plan.graph import Plan, Step
from harness.running import preparation, suite_run
from harness.steps import COLLECTION_PARTS
from harness.store.artifacts import Store
from harness.store.manifest import Artifact
from harness.suite import NO_CHANGES

COMMITTED = Path(__file__).parents[2] / "leaderboards"
VERSIONS = ("sources", "libraries", "version")  # of the code, in what is keyed
HEAD = ("suite", "compared", "unknown", "processor time", "real", "factor", "time", "real", "disk", "real")


class Cost(NamedTuple):
    cpu_seconds: float
    seconds: float
    bytes: float


class Real(NamedTuple):
    """The cost of some steps, as it was measured."""

    steps: list[str]
    cost: Cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "suites", type=Path, nargs="*", help="the suites' files (default: all that have a leaderboard)"
    )
    parser.add_argument("--run", action="store_true", help="run each suite here, into an empty store")
    parser.add_argument("--against", type=Path, help="compare with the steps that this store has")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="as of harness run")
    parser.add_argument("--steps", action="store_true", help="a line for each step or row too")
    parser.add_argument("--calibrated", type=Path, help="estimate from the costs in this store instead")
    parser.add_argument(
        "--patience", type=float, default=1.0,
        help="on a busy machine: measure until steps take this many times as long",
    )  # fmt: skip
    options = parser.parse_args()
    calibration.ENOUGH *= options.patience
    calibration.REPEATED *= options.patience
    calibration.MOST *= options.patience
    calibration.LONGEST *= options.patience
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|", flush=True)
    for suite in options.suites or sorted(COMMITTED.glob("*/suite.yaml")):
        if not options.suites and not (suite.parent / board_file.FILE).exists():
            continue
        with tempfile.TemporaryDirectory() as name:
            try:
                lines = list(compared(suite, options, Path(name)))
            except HarnessError as error:
                lines = [f"| {suite.parent.name} | {str(error).splitlines()[0]} |" + " |" * (len(HEAD) - 2)]
        print("\n".join(lines if options.steps else lines[-1:]), flush=True)


def compared(suite: Path, options: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The lines of the table for one suite: each step or row, then all together."""
    store = api.opened_store(options.calibrated or folder / "calibration", None)
    prepared = preparation.read(suite, catalogue.load(), store, options.only, NO_CHANGES)
    refused = preparation.refusals(prepared, store)
    if refused:
        raise HarnessError(f"its data or models are not here: {refused[0]}")
    asked = argparse.Namespace(
        suite=suite, only=options.only, jobs=1, calibrate=options.calibrated is None,
        set=[], limit=None, sample=None,
    )  # fmt: skip
    expected = {item.step.id: item for item in listing(prepared, store, asked)}
    if options.run:
        what, real = "steps of a run", _run(prepared, store, folder)
    elif options.against:
        what, real = "steps of a store", _in_store(prepared.plan, Store(options.against).open(), expected)
    else:
        what, real = "rows of the leaderboard", _recorded(prepared.plan, suite.parent)
    estimated, measured, unknown = Cost(0, 0, 0), Cost(0, 0, 0), 0
    for name, (steps, cost) in real.items():
        known = [expected[step] for step in steps if step in expected]
        if len(known) < len(steps) or any(item.seconds is None for item in known):
            unknown += 1
            yield _line(suite.parent.name, name, "yes", None, cost)
            continue
        guess = _sum([_of(item) for item in known])
        estimated, measured = _sum([estimated, guess]), _sum([measured, cost])
        yield _line(suite.parent.name, name, "", guess, cost)
    yield _line(suite.parent.name, f"{len(real)} {what}", str(unknown), estimated, measured)


def _of(item: Estimate) -> Cost:
    return Cost(item.cpu_seconds or 0.0, item.seconds or 0.0, item.bytes or 0.0)


def _sum(costs: list[Cost]) -> Cost:
    return Cost(*(sum(numbers) for numbers in zip(*costs, strict=True)))


def _line(suite: str, what: str, unknown: str, guess: Cost | None, real: Cost) -> str:
    sizes = ("?", "?", "?") if guess is None else _shown(guess)
    factor = "?"
    if guess is not None:
        pair = (guess.cpu_seconds, real.cpu_seconds)
        factor = f"{max(pair) / max(min(pair), 1e-3):.2f}"
    measured = _shown(real)
    pairs = [sizes[0], measured[0], factor, sizes[1], measured[1], sizes[2], measured[2]]
    return f"| {suite} | {what} | {unknown} | " + " | ".join(pairs) + " |"


def _shown(cost: Cost) -> tuple[str, str, str]:
    return f"{cost.cpu_seconds:.1f} s", f"{cost.seconds:.1f} s", f"{cost.bytes / 1e6:.1f} MB"


def _run(prepared: preparation.Prepared, calibrated: Store, folder: Path) -> dict[str, Real]:
    """The costs of all steps in a run here, by label, without reading the datasets. Code that the calibration
    compiled is not compiled again."""
    store = Store(folder / "store").open()
    shutil.copytree(calibrated.compiled, store.compiled, dirs_exist_ok=True)
    suite_run.execute(prepared, store, folder / "out", Reporter(), keep_going=True)
    return _in_store(prepared.plan, store, sorted(prepared.plan.ancestors(prepared.targets)))


def _in_store(plan: Plan, store: Store, wanted: Iterable[str]) -> dict[str, Real]:
    """The costs of the steps that the store has, by label. Another version of the code may have made them."""
    artifacts = read_all(store)
    done = {_content(step, artifacts): artifact for step, artifact in artifacts.items()}
    costs = {}
    for step in (plan.steps[name] for name in wanted):
        artifact = done.get(_content(step.id, plan.steps))
        if not isinstance(step.record, COLLECTION_PARTS) and artifact is not None:
            cost = artifact.cost
            real = Cost(float(cost["cpu_seconds"]), free_seconds(cost), float(cost["bytes"]))
            costs[f"{step.label} {step.key[:6]}"] = Real([step.id], real)
    return costs


def _content(step: str, steps: Mapping[str, Step | Artifact]) -> str:
    """What a step does to which data, whatever the version of the code: what is keyed of it without versions,
    with the same of the steps that it reads."""
    if step not in steps:
        return step
    content = _unversioned(steps[step].record.keyed, steps)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _unversioned(value: Any, steps: Mapping[str, Step | Artifact]) -> Any:
    if isinstance(value, list | tuple):
        return [_unversioned(item, steps) for item in value]
    if isinstance(value, str):
        return _content(value, steps)
    if not isinstance(value, Mapping):
        return value
    return {name: _unversioned(item, steps) for name, item in value.items() if name not in VERSIONS}


def _recorded(plan: Plan, folder: Path) -> dict[str, Real]:
    """The costs that the leaderboard has recorded, by row. They may have been measured on another machine.
    Rows have no cost of training and making."""
    board = board_file.read_if_any(folder)
    if board is None:
        raise HarnessError(f"{folder}: has no leaderboard; compare with --run")
    recorded = {(row.dataset, row.system): row.cost for row in board.rows}
    costs = {}
    for row in plan.rows:
        cost = recorded.get((row.dataset, row.system))
        if row.hits is None or cost is None or cost.seconds is None or cost.bytes is None:
            continue
        ancestors = plan.ancestors([row.hits], stop_at=lambda step: step.record.is_apart)
        steps = [
            step for step in plan.steps if step in ancestors and plan.steps[step].record.counts_as is not None
        ]
        real = Cost(cost.cpu_seconds or 0.0, cost.seconds, cost.bytes)
        costs[f"{row.dataset} / {row.system}"] = Real(steps, real)
    return costs


if __name__ == "__main__":
    main()
