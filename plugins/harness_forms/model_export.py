"""Exports the models that a suite made, as folders that transformers loads, each with a model card."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from harness.plugin import JSON, HarnessError
from harness.toolkit.boards import Leaderboard, Row
from harness.toolkit.boards.exchange import Step
from harness.toolkit.boards.stored import USERS, MadeModel, Store, models_of
from harness_forms import model_files
from harness_forms.written_files import Written, put, scored, target

RECIPE = ("examples", "train", "validate")
TASKS = {"dual-encoder": "sentence-similarity", "cross-encoder": "text-ranking"}


class Base(NamedTuple):
    """The model that a training began with."""

    shown: str  # in Markdown
    hub_id: str | None = None
    folder: Path | None = None  # on this machine, if the model is a folder and still known

    @classmethod
    def of(cls, store: Store, init: JSON) -> Base:
        if isinstance(init, str):
            return cls(f"`{init}`", init if "/" in init and not init.startswith("made:") else None)
        folder = model_files.base_folder(store, init)
        return cls("a model that is not known here" if folder is None else f"`{folder.name}`", folder=folder)


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
        artifact = model_files.trained(store, model.step)
        if artifact is None:
            notes.append(f"{system}: the store has no longer its model; run the suite again")
            continue
        files = model_files.listed(store, artifact, model.part)
        if model_files.lacks_backbone(files):
            notes.append(model_files.advice(system))
        for name, path in files.items():
            copy = target(out, system, model.part, *name.split("/"))
            if name.endswith(model_files.ADAPTER):
                put(copy, model_files.content(name, files))
            else:
                shutil.copyfile(path, copy)
            paths.append(copy)
        page = card(board, model, scores, store, files)
        paths.append(put(target(out, system, model.part, "README.md"), page.encode()))
    return Written(tuple(paths), tuple(notes))


def card(
    board: Leaderboard, model: MadeModel, rows: Sequence[Row], store: Store, files: Mapping[str, Path]
) -> str:
    """The README of a model, in the form of the Hugging Face Hub."""
    steps = {step.key: step for step in rows[0].provenance.steps}
    chain = [step for step in steps.values() if step.step in RECIPE]
    maker = next((step for step in chain if model.step.endswith(step.key)), chain[-1])
    if maker.step == "validate":
        maker = [step for step in chain if step.step == "train"][-1]
    base = Base.of(store, maker.params.get("init"))
    licence = None if base.folder is None else _licence(base.folder)
    library = "peft" if model_files.ADAPTER in files else "sentence-transformers"
    head = [
        "---", f"library_name: {library}",
        f"pipeline_tag: {TASKS.get(maker.name, 'feature-extraction')}",
        *([f"license: {licence}"] if licence else []),
        *([f"base_model: {base.hub_id}"] if base.hub_id else []),
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
        f"Started from {base.shown}. Licence of the base:"
        f" {licence or 'not stated in its folder; see its page'}.", "",
        *model_files.described(files),
        "## Scores", "",
        "| data | measure | mean | 95 % interval | queries |", "| --- | --- | ---: | --- | ---: |",
        *scores, "",
        "## Data and recipe", "",
        "The licences of the data below bind who uses the model:", "",
        *[f"- {item.name}: {item.licence or 'no licence stated'}" for item in board.data.datasets], "",
        "Every step that led to the model, with its parameters:", "", "```json",
        *[orjson.dumps(_plain(step)).decode() for step in steps.values() if step.step not in USERS],
        "```", "",
    ]  # fmt: skip
    return "\n".join([*head, *lines])


def _plain(step: Step) -> dict[str, JSON]:
    content = {"step": step.step, "key": step.key[:12], "method": step.name, "params": step.params}
    return {**content, "training": step.training} if step.training else content


def _licence(folder: Path) -> str | None:
    """The licence in the front matter of the base model's README, or None."""
    page = folder / "README.md"
    if not page.is_file():
        return None
    for line in page.read_text(encoding="utf-8", errors="replace").splitlines()[1:40]:
        name, colon, value = line.partition(":")
        if colon and name.strip() in ("license", "licence"):
            return value.strip().strip("'\"") or None
        if line.strip() == "---":
            return None
    return None


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.4f} to {ends[1]:.4f}"
