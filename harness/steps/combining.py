"""The step that combines systems, and its use of their retrievers."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness import hitsfile, topics
from harness.contracts import Searcher
from harness.errors import ContractError
from harness.steps import checked
from harness.steps.searching import QUERIES
from harness.steps.task import Outcome, Task, Texts
from harness.types import JSON, Hits

if TYPE_CHECKING:
    from harness.types import Ints


def combine(task: Task) -> Outcome:
    read, queries, depth = task.corpus(), task.queries(), task.work["depth"]
    inputs = [hitsfile.load(task.store.read(step)) for step in hitsfile.among(task.work["inputs"])]
    # spreading a document over its passages may bring an excluded one back
    excluded = checked.excluded(read, queries, task.work["unit"])
    extra = max((len(item) for item in excluded), default=0) if excluded else 0
    again = {int(i): _opened_again(task, said) for i, said in task.work.get("within", {}).items()}
    began = time.perf_counter()
    if again:
        rescore = functools.partial(_rescored, task, again, queries)
        hits = task.method().combine(inputs, depth + extra, read.structure(), rescore)
    else:
        hits = task.method().combine(inputs, depth + extra, read.structure())
    seconds = time.perf_counter() - began
    checked.check_unit(hits, task.work["unit"])
    hits = checked.canonical(hits, read, depth, len(queries.texts), depth + extra, excluded)
    facts = hitsfile.save(task.folder, hits, task.work["inputs"])
    return Outcome(facts, {"queries": len(queries.texts), "combine_seconds": seconds})


def _opened_again(task: Task, said: JSON) -> tuple[Texts, Searcher]:
    """A retriever of another step over its index."""
    texts = task.texts(said)
    return texts, task.method(said).open(texts, task.store.read(said["index"]).folder)


def _rescored(
    task: Task, again: Mapping[int, tuple[Texts, Searcher]], queries: topics.Queries, i: int, positions: Ints
) -> Hits:
    """`harness.contracts.Rescore`: what the i-th input makes of these positions."""
    texts, searcher = again[i]
    excluded = checked.excluded(texts.corpus, queries, texts.unit)
    if positions.shape[:1] != (len(queries.texts),):
        raise ContractError(f"positions of the shape {positions.shape} for {len(queries.texts)} queries")
    found, width = [], positions.shape[1]
    for start in range(0, len(queries.texts), QUERIES):
        block = slice(start, start + QUERIES)
        asked, out = queries.texts[block], excluded[block] if excluded else None
        hits = searcher.search(asked, width, positions[block])._replace(unit=texts.unit)
        found.append(checked.canonical(hits, texts.corpus, width, len(asked), width, out))
        task.progress(start + len(asked), len(queries.texts))
    return hitsfile.joined(found, texts.unit)
