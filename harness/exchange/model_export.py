"""Exports the models that a suite made, as folders that transformers loads, each with a model card."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import orjson

from harness.errors import HarnessError
from harness.exchange.written_files import Written, put, scored, target
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row, Step
from harness.leaderboard.training_rows import USERS, MadeModel, models_of
from harness.store.artifacts import Store
from harness.store.manifest import Artifact, Corrupt
from harness.types import JSON

RECIPE = ("examples", "train", "validate")
TASKS = {"dual-encoder": "sentence-similarity", "cross-encoder": "text-ranking"}


def write(board: Leaderboard, out: Path, store: Store) -> Written:
    """Writes each model into `SYSTEM/PART/`: the files that training left, and `README.md` with its origin,
    its training and its scores. A model whose training is no longer in the store gets a note."""
    notes: list[str] = []
    paths: list[Path] = []
    rows: dict[tuple[str, MadeModel], list[Row]] = {}
    for row in scored(board, notes):
        for model in models_of(row):
            rows.setdefault((row.system, model), []).append(row)
    if not rows:
        raise HarnessError(f"{board.data.name}: no row has a model that its suite made; nothing to export")
    for (system, model), scores in rows.items():
        artifact = trained(store, model.step)
        if artifact is None:
            notes.append(f"{system}: the store has no longer its model; run the suite again")
            continue
        for path in sorted((artifact.folder / model.part).rglob("*")):
            if path.is_file():
                copy = target(out, system, model.part, *path.relative_to(artifact.folder / model.part).parts)
                shutil.copyfile(path, copy)
                paths.append(copy)
        paths.append(put(target(out, system, model.part, "README.md"), card(board, model, scores).encode()))
    return Written(tuple(paths), tuple(notes))


def trained(store: Store, step: str) -> Artifact | None:
    """The artifact of the training that made a model, or of its chosen checkpoint. None if the artifact is
    missing or damaged."""
    try:
        if step.startswith("validate-") and store.has(step):
            step = str(store.read(step).facts["validation"]["model"])
        return store.read(step) if store.has(step) else None
    except Corrupt:
        return None


def card(board: Leaderboard, model: MadeModel, rows: Sequence[Row]) -> str:
    """The README of a model, in the form of the Hugging Face Hub."""
    steps = {step.key: step for step in rows[0].provenance.steps}
    chain = [step for step in steps.values() if step.step in RECIPE]
    maker = next((step for step in chain if model.step.endswith(step.key)), chain[-1])
    if maker.step == "validate":
        maker = [step for step in chain if step.step == "train"][-1]
    base = str(maker.params.get("init", "unknown"))
    licence = _licence(base)
    head = [
        "---", "library_name: sentence-transformers",
        f"pipeline_tag: {TASKS.get(maker.name, 'feature-extraction')}",
        *([f"license: {licence}"] if licence else []),
        *([] if "/" not in base or base.startswith(("/", "made:")) else [f"base_model: {base}"]),
        "---", "",
    ]  # fmt: skip
    scores = [
        f"| {row.dataset}/{row.split} | {label} | {value.mean:.4f} | {_interval(value.ci95)} |"
        f" {value.queries} |"
        for row in rows
        for label, value in row.measures.items()
    ]
    lines = [
        f"# {rows[0].system}", "",
        f"Made by the suite `{board.data.name}` of passage-harness"
        f" {board.data.environment.harness or ''} with the trainer `{maker.name}`.", "",
        "## Base", "",
        f"Started from `{_short(base)}`. Licence of the base:"
        f" {licence or 'not stated in its folder; see its page'}.", "",
        "## Scores", "",
        "| data | measure | mean | 95 % interval | queries |", "| --- | --- | ---: | --- | ---: |",
        *scores, "",
        "## Data and recipe", "",
        "The licences of the data below bind who uses the model:", "",
        *[f"- {item.name}: {item.licence or 'no licence stated'}" for item in board.data.datasets], "",
        "Every step that led to the model, with its parameters:", "", "```json",
        *[orjson.dumps(_said(step)).decode() for step in steps.values() if step.step not in USERS], "```", "",
    ]  # fmt: skip
    return "\n".join([*head, *lines])


def _said(step: Step) -> dict[str, JSON]:
    described: dict[str, JSON] = {"step": step.step, "key": step.key[:12], "method": step.name}
    described["params"] = step.params
    return {**described, "training": step.training} if step.training else described


def _licence(base: str) -> str | None:
    """The licence in the front matter of the base model's README, or None."""
    page = Path(base) / "README.md"
    if not page.is_file():
        return None
    for line in page.read_text(encoding="utf-8", errors="replace").splitlines()[1:40]:
        name, colon, value = line.partition(":")
        if colon and name.strip() in ("license", "licence"):
            return value.strip().strip("'\"") or None
        if line.strip() == "---":
            return None
    return None


def _short(base: str) -> str:
    """The name of the base model without the folders of this machine."""
    return Path(base).name if base.startswith("/") else base


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
