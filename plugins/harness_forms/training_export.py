"""Exports the training data of a suite's models in the forms of Tevatron and sentence-transformers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from harness.plugin import HarnessError, Ints, View
from harness.toolkit.boards import Leaderboard
from harness.toolkit.boards.stored import Artifact, Corpus, Examples, Store, read_queries
from harness.toolkit.files import writing
from harness_forms.written_files import Written, target

FORMS = ("tevatron-training", "sentence-transformers-training")


class Text(NamedTuple):
    """A query or passage, without a title."""

    id: str
    text: str


class Example(NamedTuple):
    query: Text
    positives: tuple[Text, ...]
    negatives: tuple[Text, ...]


def write(board: Leaderboard, out: Path, store: Store, form: str) -> Written:
    """Writes `examples-KEY.jsonl` for each set of examples that the models of the rows were trained on. The
    texts come from the store; nothing is run."""
    notes: list[str] = []
    paths: list[Path] = []
    wanted: dict[str, str] = {}
    for row in board.rows:
        for step in row.provenance.steps:
            if step.step == "examples":
                wanted.setdefault(f"examples-{step.key}", row.system)
    if not wanted:
        raise HarnessError(f"{board.data.name}: no row has a model that its suite made; nothing to export")
    for step_id, system in wanted.items():
        if not store.has(step_id):
            notes.append(f"{system}: the store has no longer the examples of its model; run the suite again")
            continue
        path = target(out, f"{step_id[:21]}.jsonl")
        left_out = 0
        with writing.replacing(path) as beside, beside.open("wb") as file:
            for example in examples(store, store.read(step_id)):
                line = _tevatron(example) if form == FORMS[0] else _sentence_transformers(example)
                left_out += line is None
                file.write(b"" if line is None else orjson.dumps(line) + b"\n")
        paths.append(path)
        if left_out:
            notes.append(f"{path.name}: {left_out} queries have no positive or no negative, and are left out")
    return Written(tuple(paths), tuple(notes))


def examples(store: Store, artifact: Artifact) -> Iterator[Example]:
    """Each query with its positives, and with all negatives that a trainer may draw, best first."""
    record = artifact.record
    assert isinstance(record, Examples)
    queries = read_queries(store.read(record.queries.step).folder)
    corpus = Corpus(store.read(record.corpus.step).folder)
    view = View(corpus, [], "passage", None)
    with (
        np.load(artifact.folder / "positives.npz", allow_pickle=False) as good,
        np.load(artifact.folder / "negatives.npz", allow_pickle=False) as bad,
    ):
        pools = [(pool["bounds"], pool["passages"]) for pool in (good, bad)]
    for number, (name, text) in enumerate(zip(queries.ids, queries.texts, strict=True)):
        sides = [passages[bounds[number] : bounds[number + 1]] for bounds, passages in pools]
        yield Example(Text(name, text), *(_texts(corpus, view, side) for side in sides))


def _texts(corpus: Corpus, view: View, positions: Ints) -> tuple[Text, ...]:
    names, texts = corpus.ids(positions), view.take(positions)
    return tuple(Text(name, text) for name, text in zip(names, texts, strict=True))


def _tevatron(example: Example) -> dict[str, object] | None:
    if not example.positives:
        return None

    def passages(side: tuple[Text, ...]) -> list[dict[str, str]]:
        return [{"docid": item.id, "title": "", "text": item.text} for item in side]

    return {
        "query_id": example.query.id, "query": example.query.text,
        "positive_passages": passages(example.positives), "negative_passages": passages(example.negatives),
    }  # fmt: skip


def _sentence_transformers(example: Example) -> dict[str, str] | None:
    """A line of the example's first positive and best negative. Only one of each is written, because every
    line must have the same columns."""
    if not example.positives or not example.negatives:
        return None
    texts = (example.query, example.positives[0], example.negatives[0])
    return dict(zip(("anchor", "positive", "negative"), (item.text for item in texts), strict=True))
