"""The step that searches an index for all queries."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.collection.judgements import excluded_positions
from harness.collection.queries import Queries
from harness.contracts import Counting, Reporting, Searcher, Streaming
from harness.execution import checked, counting, latency, rewrite
from harness.execution.resuming import Rows
from harness.execution.task import Outcome, Task, Texts, reported
from harness.steps.search import Search
from harness.store import hits_files
from harness.store.manifest import Artifact
from harness.types import JSON, Hits, Ints, Rewritten

QUERIES = 1024  # queries of one call to a method that uses all cores: enough to keep the cores busy
FEW = 128  # queries of one call to any other method: few, so that several workers get some
STREAMED = "streamed"  # the folder in which a searcher that streams keeps what a killed run has done


class _Opened(NamedTuple):
    texts: Texts
    queries: Queries
    excluded: list[Ints] | None
    searcher: Searcher
    rewritten: Rewritten


def search(step: Search, task: Task) -> Outcome:
    opened = _opened(step, task)
    rows = Rows(task.folder, opened.texts.unit)
    resumed = rows.done > 0
    while True:
        _search(step, task, opened, rows, len(opened.queries.texts))
        began = time.perf_counter()
        report = _report(opened.searcher)
        if not (resumed and report):
            break
        # report() covers only the queries searched in this process, so all are searched again
        rows, resumed = Rows(task.folder, opened.texts.unit, keep=False), False
        opened = opened._replace(searcher=_searcher(step, task, opened.texts))
    return _finished(step, task, opened, rows.finish(), report, rows.seconds, began)


def blocks(step: Search, task: Task) -> int:
    count = -(-len(task.queries(step.queries).texts) // _queries_of_block(step))
    if count < 2:
        return count
    searcher = task.once(lambda: _opened(step, task)).searcher
    if isinstance(searcher, Streaming):
        return 1
    adds_up = searcher.counts if isinstance(searcher, Counting) else not isinstance(searcher, Reporting)
    if not adds_up:
        task.kept.clear()  # `search` opens the index again, because the time of opening is part of its cost
        return 1
    return count


def part(step: Search, task: Task, start: int, stop: int) -> Outcome:
    opened, size = task.once(lambda: _opened(step, task)), _queries_of_block(step)
    before = counting.counts_of(opened.searcher)
    rows = Rows(task.folder, opened.texts.unit, keep=False, start=start * size)
    _search(step, task, opened, rows, min(stop * size, len(opened.queries.texts)))
    counts = counting.since(before, counting.counts_of(opened.searcher))
    seconds = rows.seconds
    facts = hits_files.save(task.folder, rows.finish(), step.texts.corpus, step.queries)
    return Outcome({**facts, "counts": counts}, {"search_seconds": seconds})


def join(step: Search, task: Task, parts: Sequence[Artifact]) -> Outcome:
    opened, began = task.once(lambda: _opened(step, task)), time.perf_counter()
    hits = hits_files.joined([hits_files.load(part) for part in parts], opened.texts.unit)
    counts = counting.added([part.facts["counts"] for part in parts])
    seconds = sum(part.cost["search_seconds"] for part in parts)
    return _finished(step, task, opened, hits, counts, seconds, began)


def _opened(step: Search, task: Task) -> _Opened:
    texts, queries = task.texts(step.texts), task.queries(step.queries)
    searcher = _searcher(step, task, texts)
    rewritten = rewrite.rewritten_of(task, step.rewritten, queries)
    return _Opened(texts, queries, excluded_positions(texts.corpus, queries, texts.unit), searcher, rewritten)


def _searcher(step: Search, task: Task, texts: Texts) -> Searcher:
    searcher: Searcher = task.built(step.method).open(texts, task.read(step.index).folder)
    return searcher


def _report(searcher: Searcher) -> dict[str, JSON]:
    return dict(searcher.report()) if isinstance(searcher, Reporting) else {}


def _queries_of_block(step: Search) -> int:
    """The number of queries in a block. It depends on the plan alone: if queries exclude passages, the order
    of ties at the end of a ranking depends on the block."""
    return QUERIES if step.method.cores == "all" else FEW


def _search(step: Search, task: Task, opened: _Opened, rows: Rows, stop: int) -> None:
    """Search the queries that are left before the query `stop`, block by block."""
    texts, queries, out, searcher = opened.texts, opened.queries.texts, opened.excluded, opened.searcher
    rewritten = opened.rewritten
    depth, size = step.depth, _queries_of_block(step)
    if isinstance(searcher, Streaming):
        searcher, size = _AllAtOnce(searcher, task.folder / STREAMED), max(1, len(queries))
    for start in range(rows.done, stop, size):
        end = min(start + size, stop)
        excluded = out[start:end] if out else None
        extra = max((len(item) for item in excluded), default=0) if excluded else 0
        began = time.perf_counter()
        hits = rewrite.search(searcher, rewrite.part_of(rewritten, slice(start, end)), depth + extra)
        seconds = time.perf_counter() - began
        hits = checked.of_unit(hits, texts.unit)
        hits = checked.canonical(hits, texts.corpus, depth, end - start, depth + extra, excluded)
        rows.add(hits, seconds, {})
        task.progress(rows.done, len(queries))


class _AllAtOnce(NamedTuple):
    """A searcher that streams, with its folder."""

    streaming: Streaming
    folder: Path

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        assert within is None  # the step searches the whole corpus
        self.folder.mkdir(exist_ok=True)
        return self.streaming.search_all(queries, k, self.folder)


def _finished(
    step: Search,
    task: Task,
    opened: _Opened,
    hits: Hits,
    report: Mapping[str, JSON],
    seconds: float,
    began: float,
) -> Outcome:
    shutil.rmtree(task.folder / STREAMED, ignore_errors=True)
    facts = hits_files.save(task.folder, hits, step.texts.corpus, step.queries) | reported(report)
    sample = _latency(step, task, opened, seconds)
    apart = time.perf_counter() - began
    return Outcome(
        facts,
        {"queries": len(opened.queries.texts), "search_seconds": seconds, **sample, "apart_seconds": apart},
    )


def _latency(step: Search, task: Task, opened: _Opened, worked: float) -> dict[str, JSON]:
    """The part of the cost with the latency, or with the reason why there is none."""
    if isinstance(opened.searcher, Streaming):
        return {"no_latency": "streaming"}
    if task.record_of(step.method).precomputed:
        return {"no_latency": "precomputed"}

    def ask(query: int) -> Hits:
        one = rewrite.part_of(opened.rewritten, slice(query, query + 1))
        return rewrite.search(opened.searcher, one, step.depth)

    return latency.measured(task, len(opened.queries.texts), ask, worked)
