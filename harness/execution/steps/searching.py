"""The steps that index texts and search them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from harness.contracts import Reporting, Searcher
from harness.execution.steps import checked
from harness.execution.steps.resuming import Rows
from harness.execution.steps.task import Outcome, Task, reported
from harness.store import hits_files
from harness.types import JSON

QUERIES = 1024  # searched in one call
SAMPLE = 50  # queries searched one at a time, for latency
SAMPLE_SECONDS = 5.0


def index(task: Task) -> Outcome:
    texts = task.texts()
    task.progress(0, len(texts))
    report = task.method().index(texts, task.folder)
    return Outcome({"texts": len(texts), **reported(report)}, {})


def search(task: Task) -> Outcome:
    texts, queries, depth = task.texts(), task.queries(), task.work["depth"]
    searcher: Searcher = task.method().open(texts, task.input("index").folder)
    excluded = checked.excluded(texts.corpus, queries, texts.unit)
    rows = Rows(task.folder, texts.unit)
    resumed = rows.done > 0
    while True:
        for start in range(rows.done, len(queries.texts), QUERIES):
            asked = queries.texts[start : start + QUERIES]
            out = excluded[start : start + QUERIES] if excluded else None
            extra = max((len(item) for item in out), default=0) if out else 0
            began = time.perf_counter()
            hits = searcher.search(asked, depth + extra)
            seconds = time.perf_counter() - began
            hits = checked.of_unit(hits, texts.unit)
            hits = checked.canonical(hits, texts.corpus, depth, len(asked), depth + extra, out)
            rows.add(hits, seconds, {})
            task.progress(rows.done, len(queries.texts))
        began = time.perf_counter()
        report = dict(searcher.report()) if isinstance(searcher, Reporting) else {}
        if not (resumed and report):
            break
        # report() covers only the queries searched in this process, so all are searched again
        rows, resumed = Rows(task.folder, texts.unit, keep=False), False
        searcher = task.method().open(texts, task.input("index").folder)
    seconds = rows.seconds
    facts = hits_files.save(task.folder, rows.finish(), task.work["inputs"]) | reported(report)
    sample = _latency(searcher, queries.texts, depth)
    apart = time.perf_counter() - began
    cost = {"queries": len(queries.texts), "search_seconds": seconds, "apart_seconds": apart}
    return Outcome(facts, {**cost, **sample})


def _latency(searcher: Searcher, queries: Sequence[str], depth: int) -> dict[str, JSON]:
    """Percentiles over a seeded sample of queries, searched one at a time, once the method is warm."""
    if not queries:
        return {}
    order = np.random.default_rng(0).permutation(len(queries))[:SAMPLE]
    taken: list[float] = []
    began = time.perf_counter()
    for i in order.tolist():
        start = time.perf_counter()
        searcher.search([queries[i]], depth)
        taken.append((time.perf_counter() - start) * 1000)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    p50, p95 = np.percentile(taken, [50, 95]).tolist()
    return {"latency_ms": {"p50": p50, "p95": p95, "queries": len(taken)}}
