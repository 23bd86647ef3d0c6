"""The step that combines systems. It can ask their retrievers for further scores."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from harness.collection.judgements import excluded_positions
from harness.collection.queries import Queries
from harness.contracts import Searcher
from harness.errors import ContractError
from harness.execution import checked, folding, latency, rewrite
from harness.execution.search import QUERIES
from harness.execution.task import Outcome, Task, Texts
from harness.steps.combine import Combine, Mixing, Pick
from harness.steps.texts import IndexedRetriever
from harness.store import hits_files
from harness.types import Hits, Ints, Rewritten, Unit

ALL = slice(None)
REMEMBERED = 1 << 24  # scores that are remembered at most, of 12 bytes each


def combine(step: Combine, task: Task) -> Outcome:
    tuned, ids = step.tuned, task.queries(step.queries).ids
    merged = combiner(step, task, None if tuned is None else tuned.parameter)
    tuning = {"value": None, "folds": None} if tuned is None else task.read(tuned.choice).facts["tuning"]
    folds = tuning["folds"] or [tuning["value"]]
    value_of = np.array(folds, object)[folding.folds(ids, len(folds))]  # object[Q]
    began = time.perf_counter()
    hits = _by_query(value_of, {value: merged(value) for value in dict.fromkeys(folds)}, step.unit)
    seconds = time.perf_counter() - began
    checked.check_only_found(hits, [task.hits(ref) for ref in step.hits], task.corpus(step.corpus))
    facts = hits_files.save(task.folder, hits, step.corpus, step.queries)

    def ask(query: int) -> Hits:
        return merged(value_of[query], slice(query, query + 1))

    sample = latency.measured(task, len(ids), ask, seconds)
    return Outcome(facts, {"queries": len(hits.passages), "combine_seconds": seconds, **sample})


def combiner(step: Mixing[Any], task: Task, parameter: str | None) -> Callable[..., Hits]:
    """A function that combines the step's inputs. Its arguments are the value of `parameter` (None: the one
    that the method has) and, if only some queries are wanted, their rows. The inputs are read once, and
    further scores of retrievers for all queries are computed once."""
    read, queries, depth = task.corpus(step.corpus), task.queries(step.queries), step.depth
    inputs = [task.hits(ref) for ref in step.hits]
    # a combiner that spreads a document over its passages may bring an excluded passage back
    excluded = excluded_positions(read, queries, step.unit)
    extra = max((len(item) for item in excluded), default=0) if excluded else 0
    again = {item.input: _opened_again(task, item.searcher, queries) for item in step.within}
    ask = functools.partial(_rescored, task, again, queries)
    rescore = _Remembered(ask)
    structure = read.structure()

    @functools.cache
    def built(value: Any) -> Any:
        return task.built(step.method, **({} if value is None or parameter is None else {parameter: value}))

    def merged(value: Any, rows: slice = ALL) -> Hits:
        some = [each._replace(passages=each.passages[rows], scores=each.scores[rows]) for each in inputs]

        def rescore_some(number: int, positions: Ints, first: int = 0) -> Hits:
            return ask(number, positions, rows.start + first)

        more = () if not again else (rescore if rows == ALL else rescore_some,)
        hits = built(value).combine(some, depth + extra, structure, *more)
        checked.check_unit(hits, step.unit)
        without = excluded[rows] if excluded else None
        return checked.canonical(hits, read, depth, len(queries.texts[rows]), depth + extra, without)

    return merged


def pick(step: Pick, task: Task) -> Outcome:
    """The hits of each query from the trial that was best on the queries of the other folds."""
    began = time.perf_counter()
    of_fold = task.read(step.choice).facts["trials"]
    fold_of = folding.folds(task.queries(step.queries).ids, len(of_fold))  # int[Q]
    parts = {i: task.hits(step.trials[i]) for i in dict.fromkeys(of_fold)}
    hits = _by_query(np.array(of_fold)[fold_of], parts, step.unit)
    facts = hits_files.save(task.folder, hits, step.corpus, step.queries)
    cost = {"queries": len(hits.passages), "combine_seconds": time.perf_counter() - began}
    return Outcome(facts, {**cost, "no_latency": "folds"})  # no system has all these trials as its stages


def _by_query(value_of: Any, parts: Mapping[Any, Hits], unit: Unit) -> Hits:
    """The hits of each query from the one of `parts` that `value_of` names for that query."""
    if len(parts) == 1:
        return next(iter(parts.values()))
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
    excluded: Any  # as `excluded_positions` returns it
    rewritten: Rewritten


def _opened_again(task: Task, planned: IndexedRetriever, queries: Queries) -> _Opened:
    texts = task.texts(planned.texts)
    searcher = task.built(planned.method).open(texts, task.read(planned.index).folder)
    rewritten = rewrite.rewritten_of(task, planned.rewritten, queries)
    return _Opened(texts, searcher, excluded_positions(texts.corpus, queries, texts.unit), rewritten)


@dataclasses.dataclass
class _Remembered:
    """A `harness.contracts.Rescore` that remembers its answers: many weights ask for the same scores."""

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
        hits = rewrite.search(searcher, rewrite.part_of(rewritten, block), width, rows)
        hits = checked.of_unit(hits, texts.unit)
        without = excluded[block] if excluded else None
        parts.append(checked.canonical(hits, texts.corpus, width, len(rows), width, without))
        task.progress(block.stop, len(queries.texts))
    return hits_files.joined(parts, texts.unit)
