"""Scores each system at passage and document level: a system may find the document and miss its passage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.plugin import AnalysisInput, Column, Finding
from harness.toolkit.scoring import mean


class Levels:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        measure = data.columns[0].measure
        columns = (Column(measure), Column(measure, "document"))
        rows = []
        for system in data.systems:
            scores = data.scores(system.hits, columns)
            rows += [(system.name, scored.column.unit, mean(scored)) for scored in scores.columns]
        yield Finding(
            name="levels",
            title=f"{measure} at passage and document level",
            kind="bar",
            columns=("system", "level", measure),
            rows=tuple(rows),
            x="system",
            y=measure,
            series="level",
            says="A document is ranked by its best passage (MaxP) and is as relevant as the best of its "
            "passages (DAPR, table 4).",
        )
