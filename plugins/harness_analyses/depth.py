"""Reports the position of the relevant passage in its document, and the systems' scores by position."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding, Ints
from harness.toolkit.scoring import system_means_of_groups


class Depth:
    def __init__(self, params: Any) -> None:
        self.bins = np.array(params.bins)

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        query, depth = depths(data)
        group = np.searchsorted(self.bins, depth, side="right") - 1
        names = [_name(self.bins, i) for i in range(len(self.bins))]
        counts = np.bincount(group, minlength=len(names)).tolist()
        size = max(1, len(depth))
        mean, spread = (float(depth.mean()), float(depth.std())) if len(depth) else (0.0, 0.0)
        yield Finding(
            name="depth",
            title="Depth of the relevant passage",
            kind="bar",
            columns=("depth", "share", "relevant passages"),
            rows=tuple(
                (name, round(n / size, 6), n) for name, n in zip(names, counts, strict=True) if n or size == 1
            ),
            x="depth",
            y="share",
            says=f"The place of each relevant passage in its document, from 1: mean {mean:.1f} ± {spread:.1f}"
            " over all judgements above 0 (DAPR, figure 4 and table 1).",
        )
        first = np.full(len(data.queries.ids), np.iinfo(np.int64).max)
        np.minimum.at(first, query, depth)
        column = data.columns[0]
        of = np.searchsorted(self.bins, first, side="right") - 1
        has_positive = first < np.iinfo(np.int64).max
        groups = {name: has_positive & (of == i) for i, name in enumerate(names)}
        yield Finding(
            name="scores-by-depth",
            title=f"{column.label} by depth of the first relevant passage",
            kind="line",
            columns=("system", "depth", column.label, "queries"),
            rows=tuple(system_means_of_groups(data, groups)),
            x="depth",
            y=column.label,
            series="system",
            says="Queries are grouped by the earliest place of a relevant passage in its document.",
        )


def depths(data: AnalysisInput) -> tuple[Ints, Ints]:
    """The query, and the depth from 1, of each judgement above 0 whose passage is in the corpus: two
    int64[J]."""
    judged, corpus = data.judged, data.corpus
    kept = (judged.grade > 0) & (judged.passage < corpus.passages)
    passage = judged.passage[kept]
    return judged.query[kept].astype(np.int64), passage - corpus.first[corpus.document_of[passage]] + 1


def _name(bins: Ints, i: int) -> str:
    first = int(bins[i])
    if i + 1 == len(bins):
        return f"{first}+"
    last = int(bins[i + 1]) - 1
    return str(first) if last == first else f"{first}-{last}"
