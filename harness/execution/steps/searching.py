"""The steps that index texts and search them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.collection.queries import Queries
from harness.contracts import Counting, Divisible, Reporting, Searcher
from harness.execution.steps import checked, counting, rewriting
from harness.execution.steps.resuming import Rows
from harness.execution.steps.task import Outcome, Task, Texts, reported
from harness.plan.kinds import of_kind
from harness.store import hits_files
from harness.store.manifest import Artifact
from harness.types import JSON, Hits, IndexPart, Rewritten

if TYPE_CHECKING:
    from harness.types import Ints

QUERIES = 1024  # queries of one call to a method that uses all cores: enough to keep the cores busy
FEW = 128  # queries of one call to any other method: few, so that several workers get some
SAMPLE = 50  # queries that are searched one at a time to measure the latency
SAMPLE_SECONDS = 5.0


def index(task: Task) -> Outcome:
    texts = task.texts()
    task.progress(0, len(texts))
    report = task.method().index(texts, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})


def index_blocks(task: Task) -> int:
    method = task.once(task.method)
    return -(-len(task.texts()) // method.block) if isinstance(method, Divisible) else 1


def index_part(task: Task, start: int, stop: int) -> Outcome:
    texts, method = task.texts(), task.once(task.method)
    begin, end = start * method.block, min(stop * method.block, len(texts))
    method.index_part(texts, task.folder, begin, end)
    return Outcome({"texts": [begin, end]}, {})


def index_join(task: Task, parts: Sequence[Artifact]) -> Outcome:
    texts, method = task.texts(), task.once(task.method)
    ranges = []
    for part in parts:
        start, stop = part.facts["texts"]
        ranges.append(IndexPart(start, stop, part.folder))
    report = method.join(texts, ranges, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})


class _Opened(NamedTuple):
    texts: Texts
    queries: Queries
    excluded: list[Ints] | None
    searcher: Searcher
    rewritten: Rewritten


def search(task: Task) -> Outcome:
    opened = _opened(task)
    rows = Rows(task.folder, opened.texts.unit)
    resumed = rows.done > 0
    while True:
        _search(task, opened, rows, len(opened.queries.texts))
        began = time.perf_counter()
        report = _report(opened.searcher)
        if not (resumed and report):
            break
        # report() covers only the queries searched in this process, so all are searched again
        rows, resumed = Rows(task.folder, opened.texts.unit, keep=False), False
        opened = opened._replace(searcher=_searcher(task, opened.texts))
    return _finished(task, opened, rows.finish(), report, rows.seconds, began)


def search_blocks(task: Task) -> int:
    blocks = -(-len(task.queries().texts) // _queries_of_block(task))
    if blocks < 2:
        return blocks
    searcher = task.once(lambda: _opened(task)).searcher
    adds_up = searcher.counts if isinstance(searcher, Counting) else not isinstance(searcher, Reporting)
    if not adds_up:
        task.kept.clear()  # `search` opens the index again, because the time of opening is part of its cost
        return 1
    return blocks


def search_part(task: Task, start: int, stop: int) -> Outcome:
    opened, size = task.once(lambda: _opened(task)), _queries_of_block(task)
    before = counting.counts_of(opened.searcher)
    rows = Rows(task.folder, opened.texts.unit, keep=False, start=start * size)
    _search(task, opened, rows, min(stop * size, len(opened.queries.texts)))
    counts = counting.since(before, counting.counts_of(opened.searcher))
    seconds = rows.seconds
    facts = hits_files.save(task.folder, rows.finish(), task.work["inputs"])
    return Outcome({**facts, "counts": counts}, {"search_seconds": seconds})


def search_join(task: Task, parts: Sequence[Artifact]) -> Outcome:
    opened, began = task.once(lambda: _opened(task)), time.perf_counter()
    hits = hits_files.joined([hits_files.load(part) for part in parts], opened.texts.unit)
    counts = counting.added([part.facts["counts"] for part in parts])
    seconds = sum(part.cost["search_seconds"] for part in parts)
    return _finished(task, opened, hits, counts, seconds, began)


def _opened(task: Task) -> _Opened:
    texts, queries = task.texts(), task.queries()
    searcher = _searcher(task, texts)
    rewrites = of_kind("rewrite", task.work["inputs"])
    rewritten = rewriting.rewritten_of(task, rewrites[0] if rewrites else None, queries)
    return _Opened(texts, queries, checked.excluded(texts.corpus, queries, texts.unit), searcher, rewritten)


def _searcher(task: Task, texts: Texts) -> Searcher:
    searcher: Searcher = task.method().open(texts, task.input("index").folder)
    return searcher


def _report(searcher: Searcher) -> dict[str, JSON]:
    return dict(searcher.report()) if isinstance(searcher, Reporting) else {}


def _queries_of_block(task: Task) -> int:
    """The number of queries in a block. It depends on the plan alone: if queries exclude passages, the order
    of ties at the end of a ranking depends on the block."""
    return QUERIES if task.work["method"]["cores"] == "all" else FEW


def _search(task: Task, opened: _Opened, rows: Rows, stop: int) -> None:
    """Search the queries that are left before the query `stop`, block by block."""
    texts, queries, out, searcher = opened.texts, opened.queries.texts, opened.excluded, opened.searcher
    rewritten = opened.rewritten
    depth, size = task.work["depth"], _queries_of_block(task)
    for start in range(rows.done, stop, size):
        end = min(start + size, stop)
        excluded = out[start:end] if out else None
        extra = max((len(item) for item in excluded), default=0) if excluded else 0
        began = time.perf_counter()
        hits = rewriting.search(searcher, rewriting.part_of(rewritten, slice(start, end)), depth + extra)
        seconds = time.perf_counter() - began
        hits = checked.of_unit(hits, texts.unit)
        hits = checked.canonical(hits, texts.corpus, depth, end - start, depth + extra, excluded)
        rows.add(hits, seconds, {})
        task.progress(rows.done, len(queries))


def _finished(
    task: Task, opened: _Opened, hits: Hits, report: Mapping[str, JSON], seconds: float, began: float
) -> Outcome:
    facts = hits_files.save(task.folder, hits, task.work["inputs"]) | reported(report)
    sample = _latency(opened.searcher, opened.rewritten, len(opened.queries.texts), task.work["depth"])
    apart = time.perf_counter() - began
    cost = {"queries": len(opened.queries.texts), "search_seconds": seconds, "apart_seconds": apart}
    return Outcome(facts, {**cost, **sample})


def _latency(searcher: Searcher, rewritten: Rewritten, queries: int, depth: int) -> dict[str, JSON]:
    """The percentiles of the latency over a seeded sample of queries. The queries are searched one at a time,
    after the method has been used."""
    if not queries:
        return {}
    order = np.random.default_rng(0).permutation(queries)[:SAMPLE]
    taken: list[float] = []
    began = time.perf_counter()
    for i in order.tolist():
        start = time.perf_counter()
        rewriting.search(searcher, rewriting.part_of(rewritten, slice(i, i + 1)), depth)
        taken.append((time.perf_counter() - start) * 1000)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    p50, p95 = np.percentile(taken, [50, 95]).tolist()
    return {"latency_ms": {"p50": p50, "p95": p95, "queries": len(taken)}}
