"""The data of the report page: rows, dataset cards, curves, plots, and packed per-query values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import to_builtins

from harness.html import packing, plots, reproduction, vega
from harness.leaderboard import per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import AverageRow, Cost, Measure, Row
from harness.types import JSON

Tested = tuple[str, str]  # (system, origin): a published row may have the name of a tested one
Tiers = Mapping[tuple[str, str], Mapping[Tested, str]]  # (dataset, column) -> the letters of each tested row
COSTS = {
    "seconds": "seconds of work",
    "search_latency_ms.p50": "median latency of a query (ms)",
    "bytes": "bytes on disk",
    "peak_mb": "peak memory (MB)",
}


class Queries(NamedTuple):
    """The per-query values of one dataset's primary measure, for every row."""

    ids: list[str]
    values: Any  # float64[rows, Q], NaN if a row has no value


class Content(NamedTuple):
    """The data of the page: `board` is read at once, and each packed chunk when it is needed."""

    board: dict[str, JSON]
    chunks: dict[str, str]
    queries: list[Queries]  # one for each dataset


def content(board: Leaderboard, tiers: Tiers, suite: str | None) -> Content:
    """The data of the page without texts. `suite` is the text of the suite file, if it is known."""
    data = board.data
    order = {item.name: i for i, item in enumerate(data.datasets)}
    rows = [row for row in board.rows if row.dataset in order]
    groups = [[row for row in rows if row.dataset == name] for name in order]
    primary = [_primary(board.columns, group) for group in groups]
    queries = [queries_of(board, group, label) for group, label in zip(groups, primary, strict=True)]
    chunks: dict[str, str] = {}
    for i, (dataset, group) in enumerate(zip(data.datasets, groups, strict=True)):
        chunks[f"ids-{i}"] = packing.packed_json(queries[i].ids)
        chunks[f"rows-{i}"] = packing.packed_json([reproduction.of_row(board, row, dataset) for row in group])
    left = packing.BUDGET - sum(map(len, chunks.values()))
    coded = packing.fitting([item.values for item in queries], left)
    datasets = []
    for i, (dataset, (values, text)) in enumerate(zip(data.datasets, coded, strict=True)):
        chunks[f"values-{i}"] = text
        slices = {name: item.queries for row in groups[i] for name, item in row.slices.items()}
        datasets.append(
            {
                "card": to_builtins(dataset),
                "queries": len(queries[i].ids),
                "primary": primary[i],
                "slices": slices,
                "values": {
                    "width": values.width, "palette": values.palette, "low": values.low, "step": values.step,
                },
            }
        )  # fmt: skip
    analyses = data.analyses or ()
    shown = {
        "name": data.name,
        "description": data.description,
        "suite": to_builtins(data.suite),
        "suiteText": suite,
        "environment": to_builtins(data.environment),
        "columns": to_builtins(data.columns),
        "datasets": datasets,
        "rows": [_row(row, order[row.dataset], tiers) for row in rows],
        "averages": [
            {"name": item.name, "datasets": item.datasets, "rows": [_average_row(row) for row in item.rows]}
            for item in data.averages or ()
        ],
        "analyses": [{**asdict(item), "spec": plots.analysis(item)} for item in analyses],
        "costs": COSTS,
        "specs": {
            "pareto": plots.pareto("", ""),
            "difference": plots.difference(""),
            "forest": plots.forest("", ""),
            "pairs": plots.pairs("", ""),
            "curves": plots.curves("", "", "system"),
            "heat": plots.heat("", "", ""),
        },
        "themes": {"light": vega.theme(False), "dark": vega.theme(True)},
    }
    return Content(shown, chunks, queries)


def queries_of(board: Leaderboard, rows: list[Row], label: str | None) -> Queries:
    """The values of a column for the queries of all these rows, NaN if a row has no value."""
    ids: pa.StringArray = pa.array([], pa.string())
    lines: list[tuple[Any, Any]] = []
    for row in rows:
        read = per_query.read(board, row) if label in row.measures else None
        values = read.values(label) if read is not None and label is not None else None
        if read is None or values is None:
            lines.append((None, None))
            continue
        if not read.queries.equals(ids):
            new = read.queries.filter(pc.invert(pc.is_in(read.queries, value_set=ids)))
            ids = pa.concat_arrays([ids, new])
        at = None if read.queries.equals(ids) else pc.index_in(read.queries, value_set=ids).to_numpy()
        lines.append((at, values))
    table = np.full((len(rows), len(ids)), np.nan)
    for i, (at, values) in enumerate(lines):
        if values is not None:
            table[i, slice(len(values)) if at is None else at] = values
    return Queries(ids.to_pylist(), table)


def _primary(columns: list[str], rows: list[Row]) -> str | None:
    """The first column that at least half of the scored rows have. If a few systems rank documents, it is
    thus still a column of passages."""
    scored = [row for row in rows if row.measures]
    labels = (label for label in columns if 2 * sum(label in row.measures for row in scored) >= len(scored))
    return next(labels, None) if scored else None


def _average_row(row: AverageRow) -> dict[str, JSON]:
    measures = {
        label: [item.mean, *(item.ci95 or (None, None)), item.queries, *_digits(item)]
        for label, item in row.measures.items()
    }
    return {"system": row.system, "origin": row.origin, "measures": measures, "tiers": {}}


def _row(row: Row, dataset: int, tiers: Tiers) -> dict[str, JSON]:
    measures = {
        label: [item.mean, *(item.ci95 or (None, None)), item.queries, *_digits(item)]
        for label, item in row.measures.items()
    }
    letters = {label: tiers.get((row.dataset, label), {}).get((row.system, row.origin)) for label in measures}
    slices = {
        name: {label: measure.mean for label, measure in item.measures.items()}
        for name, item in row.slices.items()
    }
    return {
        "dataset": dataset,
        "system": row.system,
        "unit": row.unit,
        "origin": row.origin,
        "status": row.status,
        "error": row.error,
        "flags": row.notes,
        "measures": measures,
        "tiers": {label: letter for label, letter in letters.items() if letter},
        "slices": slices,
        "scored": to_builtins(row.scored),
        "limits": {label: asdict(limits) for label, limits in (row.limits or {}).items()},
        "reported": to_builtins(row.reported or ()),
        "tuning": to_builtins(row.tuning or ()),
        "cost": _costs(row.cost),
    }


def _digits(measure: Measure) -> list[int]:
    """The number of digits that a paper prints; empty for a number that is not published."""
    return [source.digits for source in (measure.sources or ())[:1]]


def _costs(cost: Cost) -> dict[str, JSON]:
    """Every part of the cost as one number under one name."""
    costs: dict[str, JSON] = to_builtins(cost)
    costs.pop("contexts", None)
    for name, value in costs.pop("search_latency_ms", {}).items():
        costs[f"search_latency_ms.{name}"] = value
    for name, spent in (cost.contexts or {}).items():
        costs[f"context {name}.seconds"] = spent.seconds
        costs[f"context {name}.words a second"] = spent.words_per_second
    return costs
