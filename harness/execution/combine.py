"""The step that combines systems. It can ask their retrievers for further scores."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.judgements import excluded_positions
from harness.collection.queries import Queries
from harness.contracts import LearningFuser, Searcher, TermSearcher
from harness.errors import ContractError
from harness.execution import checked, folding, latency, rewrite
from harness.execution.search import QUERIES
from harness.execution.task import Outcome, Task, Texts
from harness.steps.combine import Combine, Mixing, Pick
from harness.steps.texts import IndexedRetriever
from harness.store import hits_files
from harness.types import Asked, Hits, Ints, Rewritten, Unit

ALL = slice(None)
REMEMBERED = 1 << 24  # scores that are remembered at most, of 12 bytes each


def combine(step: Combine, task: Task) -> Outcome:
    merged, values_of = _merged(step, task), _values(step, task, step.learned is not None)
    ids = task.queries(step.queries).ids
    began = time.perf_counter()
    hits = _with_values(values_of(ALL), merged, step.unit)
    seconds = time.perf_counter() - began
    checked.check_only_found(hits, [task.hits(ref) for ref in step.hits], task.corpus(step.corpus))
    facts = hits_files.save(task.folder, hits, step.corpus, step.queries)

    def ask(query: int) -> Hits:
        rows = slice(query, query + 1)
        return merged(values_of(rows)[0], rows)

    sample = latency.measured(task, len(ids), ask, seconds)
    return Outcome(facts, {"queries": len(hits.passages), "combine_seconds": seconds, **sample})


def fixed(step: Combine, task: Task) -> Hits:
    """The hits if each query had the value that is best for all, in the place of one learned for it."""
    return _with_values(_values(step, task, False)(ALL), _merged(step, task), step.unit)


def _merged(step: Combine, task: Task) -> Callable[..., Hits]:
    return combiner(step, task, None if step.tuned is None else step.tuned.parameter)


def _with_values(value_of: Any, merged: Callable[..., Hits], unit: Unit) -> Hits:
    values = dict.fromkeys(value_of.tolist() or [None])
    return _by_query(value_of, {value: merged(value) for value in values}, unit)


def _values(step: Combine, task: Task, learned: bool) -> Callable[[slice], Any]:
    """A function that gives the value of the tuned parameter for each query of some rows: object[q]."""
    tuning: dict[str, Any] = {"value": None, "folds": None}
    if step.tuned is not None:
        tuning = task.read(step.tuned.choice).facts["tuning"]
    folds = tuning["folds"] or [tuning["value"]]
    fold_of = folding.folds(task.queries(step.queries).ids, len(folds))  # int64[Q]
    if not learned:
        return lambda rows: np.array(folds, object)[fold_of[rows]]
    method, features = learner(step, task)
    values = np.array(tuning["values"])

    def nearest(rows: slice) -> Any:
        seen = features(rows)
        predicted = np.stack([method.predict(seen, model) for model in tuning["learned"]])
        if not np.isfinite(predicted).all():
            raise ContractError("its `predict` must give a finite number for each query")
        wanted = predicted[fold_of[rows], np.arange(len(seen))]
        return values[np.abs(wanted[:, None] - values).argmin(axis=1)].astype(object)

    return nearest


def learner(step: Mixing[Any], task: Task) -> tuple[LearningFuser, Callable[[slice], NDArray[np.float64]]]:
    """The combiner that learns, and a function that gives the features of the queries of some rows."""
    method, planned = task.built(step.method), step.learned
    if not isinstance(method, LearningFuser):
        raise ContractError("its record says that it learns, but it is no harness.contracts.LearningFuser")
    inputs, structure = [task.hits(ref) for ref in step.hits], task.corpus(step.corpus).structure()
    queries, idf = task.queries(step.queries), None
    if planned is not None and planned.terms is not None:
        idf = _idf(_opened_again(task, planned.terms, queries).searcher, queries.texts)

    def features(rows: slice) -> NDArray[np.float64]:
        some = [each._replace(passages=each.passages[rows], scores=each.scores[rows]) for each in inputs]
        return method.features(some, structure, Asked(queries.texts[rows], idf and idf[rows]))

    return method, features


def _idf(searcher: Searcher, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """ln(1 + N / n) of each term of each text, where n of the N texts of the index have the term; 0 if none
    has."""
    if not isinstance(searcher, TermSearcher):
        raise ContractError("a retriever says that it takes terms, but its searcher is no TermSearcher")
    terms = searcher.terms(texts)
    known = searcher.statistics([term for each in terms for term in each])
    idf = np.where(known.texts > 0, np.log1p(known.all_texts / np.maximum(known.texts, 1)), 0.0)
    return np.split(idf, np.cumsum([len(each) for each in terms]))[:-1]


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
