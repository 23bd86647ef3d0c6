"""The step that re-ranks the head of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping

from harness.contracts import Reporting, Scorer
from harness.errors import ContractError
from harness.execution.steps import checked
from harness.execution.steps.resuming import Rows
from harness.execution.steps.task import Outcome, Task, reported
from harness.store import hits_files
from harness.types import JSON, Hits

PAIRS = 2048  # scored by a re-ranker in one call, about: enough to sort by length, and seconds at most


def rerank(task: Task) -> Outcome:
    texts, queries = task.texts(), task.queries()
    hits = hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))
    depth = task.work["depth"]
    folder = task.input("index").folder if task.work["indexed"] else None
    scorer: Scorer = task.method().open(texts, folder)
    head = hits.passages[:, :depth]
    step = max(1, PAIRS // max(1, head.shape[1]))
    rows = Rows(task.folder, hits.unit)
    task.progress(rows.done, len(queries.texts))
    for start in range(rows.done, len(queries.texts), step):
        asked, candidates = queries.texts[start : start + step], head[start : start + step]
        began = time.perf_counter()
        scores = checked.scores(scorer.score(asked, candidates), candidates)
        rows.add(Hits(candidates, scores, hits.unit), time.perf_counter() - began, _counts(scorer))
        task.progress(rows.done, len(queries.texts))
    counts, seconds, width = rows.counts, rows.seconds, head.shape[1]
    counts.update(_counts(scorer))
    scored = rows.finish()
    reranked = checked.canonical(scored, texts.corpus, width, len(head), width, None)
    if task.work["tail"] == "keep":
        reranked = hits_files.with_tail(reranked, hits)
    facts = hits_files.save(task.folder, reranked, task.work["inputs"]) | reported(counts)
    pairs = int((head >= 0).sum())
    return Outcome(facts, {"queries": len(queries.texts), "pairs": pairs, "rerank_seconds": seconds})


def _counts(scorer: Scorer) -> Mapping[str, JSON]:
    """What a scorer has told so far: whole numbers, so that the parts of a resumed step add up."""
    counts = scorer.report() if isinstance(scorer, Reporting) else {}
    for name, value in counts.items():
        if type(value) is not int:
            raise ContractError(f"a scorer reports counts, but '{name}' is {value!r}")
    return counts
