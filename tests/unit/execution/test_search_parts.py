"""A search that workers share: when it is cut, what is opened for that, and the counts of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from step_samples import METHOD, changed

from harness import steps
from harness.collection import corpus
from harness.collection.composed_texts import View
from harness.collection.queries import Queries
from harness.errors import ContractError
from harness.execution import counting, search
from harness.execution.search import FEW
from harness.execution.task import Task
from harness.types import JSON, Document, Hits, Passage

QUERIES = FEW + 3  # of two blocks
STEP = changed(steps.Search, method=METHOD, depth=5)


class First:
    """A searcher that finds the first passage, and counts long queries once it has read one."""

    counts = True

    def __init__(self) -> None:
        self.long: Counter[str] = Counter()

    def search(self, queries: Sequence[str], k: int, within: object = None) -> Hits:
        self.long.update("long queries" for query in queries if len(query) > 3)
        return Hits(np.zeros((len(queries), 1), np.int64), np.ones((len(queries), 1), np.float32))

    def report(self) -> Mapping[str, JSON]:
        return self.long


class Measuring(First):
    """A searcher whose report does not add up."""

    counts = False


class Streaming(First):
    """A searcher without an index, which keeps a file for a killed run."""

    def search_all(self, queries: Sequence[str], k: int, folder: Path) -> Hits:
        (folder / "kept").touch()
        return self.search(queries, k)


class Searching(Task):
    """A step that searches one passage. `opened` has the searchers that were opened."""

    def prepare(self, searcher: type[First], queries: int) -> Searching:
        self.opened: list[First] = []
        self._searcher, self._queries = searcher, queries
        return self

    def texts(self, texts: object) -> Any:
        return View(corpus.Corpus(self.folder.parent / "corpus"))

    def queries(self, ref: object) -> Queries:
        nothing: list[list[str]] = [[]] * self._queries
        names = [f"q{i}" for i in range(self._queries)]
        return Queries(names, names, nothing, nothing, nothing)

    def read(self, ref: object) -> Any:
        return SimpleNamespace(folder=self.folder)

    def record_of(self, method: object) -> Any:
        return SimpleNamespace(precomputed=False)

    def built(self, method: object, **changed: JSON) -> Any:
        def opened(texts: object, folder: Path) -> First:
            self.opened.append(self._searcher())
            return self.opened[-1]

        return SimpleNamespace(open=opened)


class Passages:
    def documents(self) -> Any:
        yield Document("d", "", (Passage("d-0", "a text"),))


@pytest.fixture
def task(tmp_path: Path) -> Searching:
    for name in ("corpus", "step"):
        (tmp_path / name).mkdir()
    corpus.write(Passages(), tmp_path / "corpus", lambda *counts: None)  # type: ignore[arg-type]
    store: Any = SimpleNamespace(responses=tmp_path)
    return Searching(STEP, tmp_path / "step", store, None, lambda *counts: None, whole="search-0")  # type: ignore[arg-type]


def test_an_index_is_opened_once_for_a_search_of_one_block(task: Searching) -> None:
    task.prepare(First, FEW)
    assert search.blocks(STEP, task) == 1
    assert not task.opened
    search.search(STEP, task)
    assert len(task.opened) == 1


def test_an_index_is_not_held_twice_for_a_search_whose_report_does_not_add_up(task: Searching) -> None:
    task.prepare(Measuring, QUERIES)
    assert search.blocks(STEP, task) == 1
    assert len(task.opened) == 1
    assert not task.kept
    search.search(STEP, task)
    assert len(task.opened) == 2


def test_a_searcher_that_reads_all_texts_gets_all_queries_at_once_and_keeps_nothing(task: Searching) -> None:
    task.prepare(Streaming, QUERIES)
    assert search.blocks(STEP, task) == 1
    outcome = search.search(STEP, task)
    assert outcome.facts["reported"] == {"long queries": QUERIES - 100}
    assert outcome.cost["no_latency"] == "streaming"
    assert not (task.folder / search.STREAMED).exists()


def test_parts_of_a_search_have_counts_that_begin_with_a_later_query(task: Searching) -> None:
    task.prepare(First, QUERIES)
    assert search.blocks(STEP, task) == 2
    outcomes = [search.part(STEP, task, block, block + 1) for block in range(2)]
    counts = [outcome.facts["counts"] for outcome in outcomes]
    assert len(task.opened) == 1
    assert counts == [{"long queries": FEW - 100}, {"long queries": QUERIES - FEW}]
    assert counting.added(counts) == {"long queries": QUERIES - 100}


@pytest.mark.parametrize("value", [0.5, True, "12", None])
def test_counts_are_whole_numbers(value: object) -> None:
    reporting = SimpleNamespace(report=lambda: {"pairs cut": value})
    with pytest.raises(ContractError, match="it reports counts, but 'pairs cut' is"):
        counting.counts_of(reporting)
    numbers = SimpleNamespace(report=lambda: {"pairs cut": np.int64(3)})
    assert counting.counts_of(numbers) == {"pairs cut": 3}
