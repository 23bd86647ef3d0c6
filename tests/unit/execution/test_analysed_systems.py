"""The systems of an analysis, as its step opens them."""

from __future__ import annotations

from typing import Any

import pytest
from harness.execution.steps import analysing

from harness.types import JSON, Hits


class Step:
    """A step with its systems. `opened` has the texts that were opened, in order."""

    def __init__(self, systems: list[JSON]) -> None:
        self.work = {"systems": systems}
        self.store = self
        self.opened: list[JSON] = []

    def texts(self, work: JSON) -> Any:
        self.opened.append(work["texts"])
        return [work["texts"]]

    def read(self, step: str) -> str:
        return step


def system(name: str, unit: str) -> JSON:
    texts = {"corpus": "corpus-0", "stages": [], "unit": unit, "language": "en"}
    return {
        "name": name, "unit": unit, "hits": f"search-{name}", "texts": texts, "context": [], "retriever": None,
        "telling": [], "combine": None,
    }  # fmt: skip


def test_systems_that_read_the_same_texts_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """One view of a large corpus takes much memory, and a grid may have hundreds of systems."""
    monkeypatch.setattr(analysing.hits_files, "load", lambda artifact: artifact)
    step: Any = Step([system("a", "passage"), system("b", "document"), system("c", "passage")])
    first, second, third = analysing._system_runs(step)
    hits: list[Hits] = [run.hits for run in (first, second, third)]
    assert hits == ["search-a", "search-b", "search-c"]
    assert first.texts is third.texts
    assert [each["unit"] for each in step.opened] == ["passage", "document"]
