"""A search that workers share: when it is cut, what is opened for that, and the counts of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness.execution.steps import counting, searching
from harness.execution.steps.searching import FEW
from harness.execution.steps.task import Task

from harness.collection import corpus
from harness.collection.composed_texts import View
from harness.collection.queries import Queries
from harness.errors import ContractError
from harness.types import JSON, Document, Hits, Passage

QUERIES = FEW + 3  # of two blocks
INPUTS = ["index-0", "queries-0", "corpus-0"]


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


class Search(Task):
    """A step that searches one passage. `opened` has the searchers that were opened."""

    def prepare(self, searcher: type[First], queries: int) -> Search:
        self.opened: list[First] = []
        self._searcher, self._queries = searcher, queries
        return self

    def texts(self, work: JSON = None) -> Any:
        return View(corpus.Corpus(self.folder.parent / "corpus"))

    def queries(self) -> Queries:
        nothing: list[list[str]] = [[]] * self._queries
        names = [f"q{i}" for i in range(self._queries)]
        return Queries(names, names, nothing, nothing, nothing)

    def input(self, kind: str) -> Any:
        return SimpleNamespace(folder=self.folder)

    def method(self, work: JSON = None, changed: object = None) -> Any:
        def opened(texts: object, folder: Path) -> First:
            self.opened.append(self._searcher())
            return self.opened[-1]

        return SimpleNamespace(open=opened)


class Passages:
    def documents(self) -> Any:
        yield Document("d", "", (Passage("d-0", "a text"),))


@pytest.fixture
def task(tmp_path: Path) -> Search:
    for name in ("corpus", "step"):
        (tmp_path / name).mkdir()
    corpus.write(Passages(), tmp_path / "corpus", lambda *counts: None)  # type: ignore[arg-type]
    work = {"inputs": INPUTS, "depth": 5, "method": {"cores": "one"}}
    return Search("search", work, tmp_path / "step", None, None, lambda *counts: None, whole="search-0")  # type: ignore[arg-type]


def test_an_index_is_opened_once_for_a_search_of_one_block(task: Search) -> None:
    task.prepare(First, FEW)
    assert searching.search_blocks(task) == 1
    assert not task.opened
    searching.search(task)
    assert len(task.opened) == 1


def test_an_index_is_not_held_twice_for_a_search_whose_report_does_not_add_up(task: Search) -> None:
    task.prepare(Measuring, QUERIES)
    assert searching.search_blocks(task) == 1
    assert len(task.opened) == 1
    assert not task.kept
    searching.search(task)
    assert len(task.opened) == 2


def test_parts_of_a_search_have_counts_that_begin_with_a_later_query(task: Search) -> None:
    task.prepare(First, QUERIES)
    assert searching.search_blocks(task) == 2
    outcomes = [searching.search_part(task, block, block + 1) for block in range(2)]
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
