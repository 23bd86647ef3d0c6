"""The step that re-ranks the head of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from harness.collection.queries import Queries
from harness.contracts import Scorer
from harness.execution import checked, counting, latency
from harness.execution.resuming import Rows
from harness.execution.task import Outcome, Task, Texts, reported
from harness.steps.rerank import Rerank
from harness.store import hits_files
from harness.store.manifest import Artifact
from harness.types import JSON, Floats, Hits, Ints

PAIRS = 2048  # about as many pairs are scored in one call: enough to sort by length, and seconds at most


class _Opened(NamedTuple):
    texts: Texts
    queries: Queries
    hits: Hits
    head: Ints  # int64[Q, n]: the hits that are re-ranked
    scorer: Scorer


def rerank(step: Rerank, task: Task) -> Outcome:
    opened = _opened(step, task)
    rows = Rows(task.folder, opened.hits.unit)
    _score(step, task, opened, rows, len(opened.queries.texts))
    counts, seconds = rows.counts, rows.seconds
    counts.update(counting.counts_of(opened.scorer))
    return _finished(step, task, opened, rows.finish(), counts, seconds)


def blocks(step: Rerank, task: Task) -> int:
    return -(-len(task.queries(step.queries).texts) // _queries_of_block(step, task.hits(step.below)))


def part(step: Rerank, task: Task, start: int, stop: int) -> Outcome:
    opened = task.once(lambda: _opened(step, task))
    size, before = _queries_of_block(step, opened.hits), counting.counts_of(opened.scorer)
    rows = Rows(task.folder, opened.hits.unit, keep=False, start=start * size)
    _score(step, task, opened, rows, min(stop * size, len(opened.queries.texts)))
    counts = counting.since(before, counting.counts_of(opened.scorer))
    seconds = rows.seconds
    facts = hits_files.save(task.folder, rows.finish(), step.texts.corpus, step.queries)
    return Outcome({**facts, "counts": counts}, {"rerank_seconds": seconds})


def join(step: Rerank, task: Task, parts: Sequence[Artifact]) -> Outcome:
    opened = task.once(lambda: _opened(step, task))
    scored = hits_files.joined([hits_files.load(part) for part in parts], opened.hits.unit)
    seconds = sum(part.cost["rerank_seconds"] for part in parts)
    counts = counting.added([part.facts["counts"] for part in parts])
    return _finished(step, task, opened, scored, counts, seconds)


def _opened(step: Rerank, task: Task) -> _Opened:
    texts, queries, hits = task.texts(step.texts), task.queries(step.queries), task.hits(step.below)
    folder = None if step.index is None else task.read(step.index).folder
    scorer: Scorer = task.built(step.method).open(texts, folder)
    return _Opened(texts, queries, hits, hits.passages[:, : step.depth], scorer)


def _queries_of_block(step: Rerank, hits: Hits) -> int:
    depth: int = min(step.depth, hits.passages.shape[1])
    return max(1, PAIRS // max(1, depth))


def _score(step: Rerank, task: Task, opened: _Opened, rows: Rows, stop: int) -> None:
    """Score the queries that are left before the query `stop`, block by block. Progress is shown in pairs,
    also within a block if the method calls `texts.progress` with the pairs that it has scored."""
    size = _queries_of_block(step, opened.hits)
    pairs = np.cumsum((opened.head >= 0).sum(axis=1)).tolist()
    total = pairs[-1] if pairs else 0

    def show(before: int, done: int, _: int | None = None) -> None:
        task.progress(before + done, total, "pairs")

    for start in range(rows.done, stop, size):
        opened.texts.report_to(partial(show, pairs[start - 1] if start else 0))
        opened.texts.progress(0)
        end = min(start + size, stop)
        queries, candidates = opened.queries.texts[start:end], opened.head[start:end]
        began = time.perf_counter()
        scores = checked.scores(opened.scorer.score(queries, candidates), candidates)
        spent = time.perf_counter() - began
        rows.add(Hits(candidates, scores, opened.hits.unit), spent, counting.counts_of(opened.scorer))
        show(0, pairs[end - 1])


def _finished(
    step: Rerank, task: Task, opened: _Opened, scored: Hits, counts: Mapping[str, JSON], seconds: float
) -> Outcome:
    head, queries = opened.head, opened.queries.texts
    width = head.shape[1]
    reranked = checked.canonical(scored, opened.texts.corpus, width, len(head), width, None)
    if step.tail == "keep":
        reranked = hits_files.with_tail(reranked, opened.hits)
    facts = hits_files.save(task.folder, reranked, step.texts.corpus, step.queries) | reported(counts)
    pairs = int((head >= 0).sum())

    def ask(query: int) -> Floats:
        return opened.scorer.score(queries[query : query + 1], head[query : query + 1])

    sample = latency.measured(task, len(head), ask, seconds)
    return Outcome(facts, {"queries": len(head), "pairs": pairs, "rerank_seconds": seconds, **sample})
