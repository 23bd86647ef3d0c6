"""The sample of queries that each stage of a system is asked one at a time."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.execution import latency
from harness.store.responses import Responses


@pytest.fixture
def task(tmp_path: Path) -> Any:
    return SimpleNamespace(store=SimpleNamespace(responses=tmp_path), whole="rerank-0")


@pytest.mark.parametrize(
    ("spent", "worked", "times"), [(0.05, 10.0, 50), (1.0, 10.0, 5), (4.0, 1000.0, 5), (30.0, 10.0, 1)]
)
def test_a_slow_stage_is_asked_few_queries(
    task: Any, monkeypatch: pytest.MonkeyPatch, spent: float, worked: float, times: int
) -> None:
    now, asked = [0.0], []
    monkeypatch.setattr(latency.time, "perf_counter", lambda: now[0])

    def ask(query: int) -> None:
        now[0] += spent
        asked.append(query)

    cost = latency.measured(task, 1000, ask, worked)
    assert cost["query_ms"] == pytest.approx([1000 * spent] * times)
    assert cost["apart_seconds"] == pytest.approx(sum([spent] * (times + 1)))
    assert asked[0] == asked[1]  # what is loaded at the first query is not counted
    assert len(set(asked)) == times


def test_a_slow_stage_has_the_first_queries_of_the_sample(task: Any) -> None:
    many: list[int] = []
    few: list[int] = []
    latency.measured(task, 7, many.append, 1.0)
    latency.measured(task, 7, few.append, 100.0)
    assert many == few
    assert sorted(many[1:]) == list(range(7))
    assert latency.measured(task, 0, many.append, 0.0)["query_ms"] == []


def test_a_stage_that_asks_a_service_has_no_latency(task: Any, tmp_path: Path) -> None:
    responses = Responses(tmp_path)
    responses.count("rerank-0", "kept")
    responses.close()
    assert latency.measured(task, 7, lambda query: 1 / 0, 1.0) == {"no_latency": "service"}
