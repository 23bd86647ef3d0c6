"""The step that combines systems, and its use of their retrievers."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.collection.queries import Queries
from harness.contracts import Searcher
from harness.errors import ContractError
from harness.execution.steps import checked, folding
from harness.execution.steps.searching import QUERIES
from harness.execution.steps.task import Outcome, Task, Texts
from harness.store import hits_files
from harness.types import JSON, Hits

if TYPE_CHECKING:
    from harness.types import Ints


def combine(task: Task) -> Outcome:
    merged = combiner(task)
    began = time.perf_counter()
    hits = merged(None) if "tuned" not in task.work else _tuned(task, merged)
    seconds = time.perf_counter() - began
    facts = hits_files.save(task.folder, hits, task.work["inputs"])
    return Outcome(facts, {"queries": len(hits.passages), "combine_seconds": seconds})


def combiner(task: Task) -> Callable[[Any], Hits]:
    """A function that combines the step's inputs, with this value of its tuned parameter (None: there is
    none). What is read and what inputs score further is read and scored once."""
    read, queries, depth = task.corpus(), task.queries(), task.work["depth"]
    inputs = [hits_files.load(task.store.read(step)) for step in hits_files.among(task.work["inputs"])]
    # spreading a document over its passages may bring an excluded one back
    excluded = checked.excluded(read, queries, task.work["unit"])
    extra = max((len(item) for item in excluded), default=0) if excluded else 0
    again = {int(i): _opened_again(task, said) for i, said in task.work.get("within", {}).items()}
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
    """Each query by the value that was found for it."""
    found = task.input("tune").facts["tuning"]
    if found["folds"] is None:
        return merged(found["value"])
    fold_of = folding.folds(task.queries().ids, len(found["folds"]))  # int[Q]
    value_of = np.array(found["folds"])[fold_of]
    parts = {value: merged(value) for value in dict.fromkeys(found["folds"])}
    width = max(part.passages.shape[1] for part in parts.values())
    passages = np.full((len(fold_of), width), -1, np.int64)
    scores = np.full((len(fold_of), width), -np.inf, np.float32)
    for value, part in parts.items():
        rows = value_of == value
        passages[rows, : part.passages.shape[1]] = part.passages[rows]
        scores[rows, : part.passages.shape[1]] = part.scores[rows]
    return Hits(passages, scores, task.work["unit"])


def _opened_again(task: Task, said: JSON) -> tuple[Texts, Searcher]:
    """A retriever of another step over its index."""
    texts = task.texts(said)
    return texts, task.method(said).open(texts, task.store.read(said["index"]).folder)


@dataclasses.dataclass
class _Remembered:
    """`harness.contracts.Rescore` that answers a question it has answered before from memory: trying many
    weights asks the same each time."""

    ask: Callable[[int, Ints], Hits]
    last: dict[int, tuple[Ints, Hits]] = dataclasses.field(default_factory=dict)

    def __call__(self, i: int, positions: Ints) -> Hits:
        if i not in self.last or not np.array_equal(self.last[i][0], positions):
            self.last[i] = (positions.copy(), self.ask(i, positions))
        return self.last[i][1]


def _rescored(
    task: Task, again: Mapping[int, tuple[Texts, Searcher]], queries: Queries, i: int, positions: Ints
) -> Hits:
    """What the i-th input makes of these positions."""
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
    return hits_files.joined(found, texts.unit)
