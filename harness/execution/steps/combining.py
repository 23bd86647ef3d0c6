"""The step that combines systems. It can ask their retrievers for further scores."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.collection.queries import Queries
from harness.contracts import Searcher
from harness.errors import ContractError
from harness.execution.steps import checked, folding, rewriting
from harness.execution.steps.searching import QUERIES
from harness.execution.steps.task import Outcome, Task, Texts
from harness.store import hits_files
from harness.types import JSON, Hits, Rewritten, Unit

if TYPE_CHECKING:
    from harness.types import Ints

REMEMBERED = 1 << 24  # scores that are remembered at most, of 12 bytes each


def combine(task: Task) -> Outcome:
    if "picked" in task.work:
        return _picked(task)
    merged = combiner(task)
    began = time.perf_counter()
    hits = merged(None) if "tuned" not in task.work else _tuned(task, merged)
    seconds = time.perf_counter() - began
    checked.check_only_found(hits, inputs_of(task), task.corpus())
    facts = hits_files.save(task.folder, hits, task.work["inputs"])
    return Outcome(facts, {"queries": len(hits.passages), "combine_seconds": seconds})


def inputs_of(task: Task) -> list[Hits]:
    return [hits_files.load(task.store.read(step)) for step in hits_files.among(task.work["inputs"])]


def combiner(task: Task) -> Callable[[Any], Hits]:
    """A function that combines the step's inputs. Its argument is the value of the tuned parameter (None: no
    parameter is tuned). The inputs are read once, and further scores of retrievers are computed once."""
    read, queries, depth = task.corpus(), task.queries(), task.work["depth"]
    inputs = inputs_of(task)
    # a combiner that spreads a document over its passages may bring an excluded passage back
    excluded = checked.excluded(read, queries, task.work["unit"])
    extra = max((len(item) for item in excluded), default=0) if excluded else 0
    again = {int(i): _opened_again(task, work, queries) for i, work in task.work.get("within", {}).items()}
    rescore = _Remembered(functools.partial(_rescored, task, again, queries))
    structure = read.structure()

    def merged(value: Any) -> Hits:
        method = task.method(changed={} if value is None else {_parameter(task): value})
        more = (rescore,) if again else ()
        hits = method.combine(inputs, depth + extra, structure, *more)
        checked.check_unit(hits, task.work["unit"])
        return checked.canonical(hits, read, depth, len(queries.texts), depth + extra, excluded)

    return merged


def _parameter(task: Task) -> str:
    return str(task.work["tuned"] if task.kind == "combine" else task.work["parameter"])


def _tuned(task: Task, merged: Callable[[Any], Hits]) -> Hits:
    """The hits of each query, combined with the value that was found for that query."""
    tuning = task.input("tune").facts["tuning"]
    if tuning["folds"] is None:
        return merged(tuning["value"])
    fold_of = folding.folds(task.queries().ids, len(tuning["folds"]))  # int[Q]
    parts = {value: merged(value) for value in dict.fromkeys(tuning["folds"])}
    return _by_query(np.array(tuning["folds"])[fold_of], parts, task.work["unit"])


def _picked(task: Task) -> Outcome:
    """The hits of each query from the trial that was best on the queries of the other folds."""
    began = time.perf_counter()
    of_fold = task.input("tune").facts["trials"]
    fold_of = folding.folds(task.queries().ids, len(of_fold))  # int[Q]
    picked = task.work["picked"]
    parts = {i: hits_files.load(task.store.read(picked[i])) for i in dict.fromkeys(of_fold)}
    hits = _by_query(np.array(of_fold)[fold_of], parts, task.work["unit"])
    facts = hits_files.save(task.folder, hits, task.work["inputs"])
    return Outcome(facts, {"queries": len(hits.passages), "combine_seconds": time.perf_counter() - began})


def _by_query(value_of: Any, parts: Mapping[Any, Hits], unit: Unit) -> Hits:
    """The hits of each query from the one of `parts` that `value_of` names for that query."""
    width = max(part.passages.shape[1] for part in parts.values())
    passages = np.full((len(value_of), width), -1, np.int64)
    scores = np.full((len(value_of), width), -np.inf, np.float32)
    for value, part in parts.items():
        rows = value_of == value
        passages[rows, : part.passages.shape[1]] = part.passages[rows]
        scores[rows, : part.passages.shape[1]] = part.scores[rows]
    return Hits(passages, scores, unit)


class _Opened(NamedTuple):
    """The retriever of another step, opened on its index, with the queries that it is asked."""

    texts: Texts
    searcher: Searcher
    excluded: Any  # as `checked.excluded` returns it
    rewritten: Rewritten


def _opened_again(task: Task, work: JSON, queries: Queries) -> _Opened:
    texts = task.texts(work)
    searcher = task.method(work).open(texts, task.store.read(work["index"]).folder)
    rewritten = rewriting.rewritten_of(task, work.get("queries"), queries)
    return _Opened(texts, searcher, checked.excluded(texts.corpus, queries, texts.unit), rewritten)


@dataclasses.dataclass
class _Remembered:
    """A `harness.contracts.Rescore` that remembers its answers, because a trial of many weights asks for the
    same scores each time."""

    ask: Callable[[int, Ints, int], Hits]
    room: int = REMEMBERED  # scores that it may still remember
    answers: dict[tuple[int, int, bytes], Hits] = dataclasses.field(default_factory=dict)

    def __call__(self, number: int, positions: Ints, first: int = 0) -> Hits:
        key = (number, first, hashlib.sha256(repr(positions.shape).encode() + positions.tobytes()).digest())
        if key in self.answers:
            return self.answers[key]
        hits = self.ask(number, positions, first)
        if hits.passages.size <= self.room:
            self.room -= hits.passages.size
            self.answers[key] = hits
        return hits


def _rescored(
    task: Task, again: Mapping[int, _Opened], queries: Queries, number: int, positions: Ints, first: int
) -> Hits:
    texts, searcher, excluded, rewritten = again[number]
    last, (count, width) = first + len(positions), positions.shape
    if not 0 <= first <= last <= len(queries.texts):
        raise ContractError(
            f"positions of the queries {first} to {last - 1} were asked for; there are {len(queries.texts)}"
        )
    parts = []
    for start in range(0, count, QUERIES):
        rows = positions[start : start + QUERIES]
        block = slice(first + start, first + start + len(rows))
        hits = rewriting.search(searcher, rewriting.part_of(rewritten, block), width, rows)
        hits = checked.of_unit(hits, texts.unit)
        without = excluded[block] if excluded else None
        parts.append(checked.canonical(hits, texts.corpus, width, len(rows), width, without))
        task.progress(block.stop, len(queries.texts))
    return hits_files.joined(parts, texts.unit)
