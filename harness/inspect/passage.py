"""A passage before and after each stage of context, and files of whole composed datasets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from harness.collection.composed_texts import View
from harness.collection.context_additions import Additions
from harness.collection.corpus import Corpus
from harness.errors import Problems
from harness.execution.engine import Engine, limits_of, missing_needs
from harness.execution.progress import Reporter
from harness.execution.workers import LocalWorkers
from harness.inspect import marks
from harness.inspect.marks import Piece
from harness.plan.graph import Collection, Plan
from harness.problems import shown_path
from harness.steps import Index, Rerank, Rewrite, Search
from harness.store import disk
from harness.store.artifacts import Store

WRITTEN_AT_ONCE = 4096  # how many passages are written at once


class Stage(NamedTuple):
    """One stage of a chain: its name with parameters, and the passage after it. Its additions are marked."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return marks.text_of(self.pieces)


class Chain(NamedTuple):
    """The stages of one context of a suite: their step ids and their names."""

    steps: tuple[str, ...]
    names: tuple[str, ...]


def chains(planned: Plan, collection: Collection) -> list[Chain]:
    """The contexts with which the suite's systems read this dataset, each once, in the order of the plan."""
    by_steps: dict[tuple[str, ...], Chain] = {}
    for step in planned.steps.values():
        if isinstance(step.record, Index | Search | Rerank | Rewrite) and step.record.texts.stages:
            texts = step.record.texts
            stages = tuple(stage.step for stage in texts.stages)
            if collection.parts is not None and texts.corpus == collection.parts.corpus:
                names = tuple(planned.steps[stage].subject for stage in stages)
                by_steps.setdefault(stages, Chain(stages, names))
    return list(by_steps.values())


def make(planned: Plan, store: Store, steps: Sequence[str], reporter: Reporter) -> None:
    """Executes those of the steps that are not in the store, with what they need. These are steps of a corpus
    and its context, not of retrieval."""
    lacking = missing_needs(planned.steps, store, steps)
    if lacking:
        where = shown_path(planned.suite.path)
        raise Problems(f"{where}: needs: {need}" for need in dict.fromkeys(lacking))
    ancestors = planned.ancestors(steps)
    reporter.planned(len(ancestors), sum(store.has(step) for step in ancestors))
    workers = LocalWorkers(store, 1)
    engine = Engine(planned.steps, store, workers, reporter, limits_of(planned.suite))
    failures = engine.run(list(steps)).failures
    if failures:
        raise Problems(
            f"{planned.steps[step].label}: {failure.reason}; mend it first"
            for step, failure in failures.items()
        )


def position(corpus: Corpus, passage: str) -> int | None:
    place = int(corpus.positions([passage])[0])
    return None if place < 0 else place


def stages(store: Store, corpus: Corpus, chain: Chain, at: int) -> list[Stage]:
    """The passage at a position before any context, followed by the passage after each stage of the chain."""
    opened = [Additions(store.read(step).folder) for step in chain.steps]
    positions = np.array([at], np.int64)
    names = ("as it was read", *chain.names)
    read = (marks.split(View(corpus, opened[:count]), positions)[0] for count in range(len(names)))
    return [
        Stage(name, marks.only(pieces, count - 1))
        for count, (name, pieces) in enumerate(zip(names, read, strict=True))
    ]


def write(store: Store, corpus: Corpus, chain: Chain, path: Path) -> int:
    """Writes every composed passage of the dataset as JSON lines, and returns the number of passages."""
    view = View(corpus, [Additions(store.read(step).folder) for step in chain.steps])
    path.parent.mkdir(parents=True, exist_ok=True)
    with disk.replacing(path) as beside, beside.open("wb") as out:
        for line in _lines(corpus, view):
            out.write(line)
    return corpus.passages


def _lines(corpus: Corpus, view: View) -> Iterator[bytes]:
    for low in range(0, corpus.passages, WRITTEN_AT_ONCE):
        positions = np.arange(low, min(low + WRITTEN_AT_ONCE, corpus.passages))
        documents = corpus.document_ids(corpus.document_of[positions])
        columns = (corpus.ids(positions), documents, view.take(positions), corpus.texts(positions))
        for id, document, text, read in zip(*columns, strict=True):
            record = {"id": id, "document": document, "text": text, "read": read}
            yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def file_names(contexts: Sequence[Chain]) -> list[str]:
    """A file name for each chain, made of its methods. Chains with the same methods have their key too."""
    plain = ["+".join(_slug(name.partition(" ")[0]) for name in chain.names) for chain in contexts]
    keys = [chain.steps[-1].partition("-")[2][:8] for chain in contexts]
    return [
        f"{name}{f'-{key}' if plain.count(name) > 1 else ''}.jsonl"
        for name, key in zip(plain, keys, strict=True)
    ]


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)
