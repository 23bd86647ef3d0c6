"""Each system on each slice of the queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.findings import Finding
from harness.scoring.analysis_input import AnalysisInput
from harness.scoring.score import mean


class Slices:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        names = sorted({name for names in data.queries.slices for name in names})
        if not names:
            return
        column = data.columns[0]
        rows = []
        for system in data.systems:
            if system.unit != column.unit:
                continue
            scores = data.scores(system.hits, (column,))
            scored = scores.columns[0]
            for name in names:
                chosen = np.array([name in data.queries.slices[i] for i in scores.queries.tolist()])
                if chosen.any():
                    rows.append((name, system.name, mean(scored, chosen), int(chosen.sum())))
        yield Finding(
            name="slices",
            title=f"{column.label} by slice",
            kind="bar",
            columns=("slice", "system", column.label, "queries"),
            rows=tuple(rows),
            x="slice",
            y=column.label,
            series="system",
            says="The mean over the queries of each slice (DAPR, figure 3).",
        )
