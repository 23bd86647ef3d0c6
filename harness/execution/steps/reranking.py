"""The step that re-ranks the head of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from harness.collection.queries import Queries
from harness.contracts import Scorer
from harness.execution.steps import checked, counting
from harness.execution.steps.resuming import Rows
from harness.execution.steps.task import Outcome, Task, Texts, reported
from harness.store import hits_files
from harness.store.manifest import Artifact
from harness.types import JSON, Hits

if TYPE_CHECKING:
    from harness.types import Ints

PAIRS = 2048  # about as many pairs are scored in one call: enough to sort by length, and seconds at most


class _Opened(NamedTuple):
    texts: Texts
    queries: Queries
    hits: Hits
    head: Ints  # int64[Q, n]: the hits that are re-ranked
    scorer: Scorer


def rerank(task: Task) -> Outcome:
    opened = _opened(task)
    rows = Rows(task.folder, opened.hits.unit)
    task.progress(rows.done, len(opened.queries.texts))
    _score(task, opened, rows, len(opened.queries.texts))
    counts, seconds = rows.counts, rows.seconds
    counts.update(counting.counts_of(opened.scorer))
    return _finished(task, opened.hits, opened.texts, rows.finish(), counts, seconds)


def rerank_blocks(task: Task) -> int:
    return -(-len(task.queries().texts) // _queries_of_block(task, _run(task)))


def rerank_part(task: Task, start: int, stop: int) -> Outcome:
    opened = task.once(lambda: _opened(task))
    size, before = _queries_of_block(task, opened.hits), counting.counts_of(opened.scorer)
    rows = Rows(task.folder, opened.hits.unit, keep=False, start=start * size)
    _score(task, opened, rows, min(stop * size, len(opened.queries.texts)))
    counts = counting.since(before, counting.counts_of(opened.scorer))
    seconds = rows.seconds
    facts = hits_files.save(task.folder, rows.finish(), task.work["inputs"])
    return Outcome({**facts, "counts": counts}, {"rerank_seconds": seconds})


def rerank_join(task: Task, parts: Sequence[Artifact]) -> Outcome:
    hits = _run(task)
    scored = hits_files.joined([hits_files.load(part) for part in parts], hits.unit)
    seconds = sum(part.cost["rerank_seconds"] for part in parts)
    counts = counting.added([part.facts["counts"] for part in parts])
    return _finished(task, hits, task.texts(), scored, counts, seconds)


def _run(task: Task) -> Hits:
    return hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))


def _opened(task: Task) -> _Opened:
    texts, queries, hits = task.texts(), task.queries(), _run(task)
    folder = task.input("index").folder if task.work["indexed"] else None
    scorer: Scorer = task.method().open(texts, folder)
    return _Opened(texts, queries, hits, hits.passages[:, : task.work["depth"]], scorer)


def _queries_of_block(task: Task, hits: Hits) -> int:
    depth: int = min(task.work["depth"], hits.passages.shape[1])
    return max(1, PAIRS // max(1, depth))


def _score(task: Task, opened: _Opened, rows: Rows, stop: int) -> None:
    """Score the queries that are left before the query `stop`, block by block."""
    step = _queries_of_block(task, opened.hits)
    for start in range(rows.done, stop, step):
        end = min(start + step, stop)
        queries, candidates = opened.queries.texts[start:end], opened.head[start:end]
        began = time.perf_counter()
        scores = checked.scores(opened.scorer.score(queries, candidates), candidates)
        spent = time.perf_counter() - began
        rows.add(Hits(candidates, scores, opened.hits.unit), spent, counting.counts_of(opened.scorer))
        task.progress(rows.done, len(opened.queries.texts))


def _finished(
    task: Task, hits: Hits, texts: Texts, scored: Hits, counts: Mapping[str, JSON], seconds: float
) -> Outcome:
    head = hits.passages[:, : task.work["depth"]]
    width = head.shape[1]
    reranked = checked.canonical(scored, texts.corpus, width, len(head), width, None)
    if task.work["tail"] == "keep":
        reranked = hits_files.with_tail(reranked, hits)
    facts = hits_files.save(task.folder, reranked, task.work["inputs"]) | reported(counts)
    pairs = int((head >= 0).sum())
    return Outcome(facts, {"queries": len(head), "pairs": pairs, "rerank_seconds": seconds})
