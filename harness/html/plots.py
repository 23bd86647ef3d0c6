"""The plots of reports and READMEs as Vega-Lite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.findings import Cell, Finding
from harness.html.vega import LABEL
from harness.leaderboard.model import Row
from harness.types import JSON

LINE, LETTER = 15, 7  # pixels of a line of names, and of a letter at most
HEIGHT, EDGE = 300, 24  # pixels of the Pareto picture, and between its points and its frame
CROWDED, LONG = 10, 16  # the most bars side by side, and the most characters of their names


def filled(spec: JSON, values: Sequence[Mapping[str, Cell]]) -> dict[str, JSON]:
    """The plot with its data."""
    return {**spec, "data": {"values": list(values)}}


def pareto(score: str, cost: str) -> dict[str, JSON]:
    """A plot of effectiveness against cost. Data: `system`, `cost` (above 0), `score`, `low`, `high`, and
    `front`: whether no system of the same or lower cost scores as high."""
    scale = {"type": "log", "nice": False, "padding": EDGE}
    x = {"field": "cost", "type": "quantitative", "title": cost, "scale": scale}
    upright = {"zero": False, "nice": False, "padding": EDGE}
    y = {"field": "score", "type": "quantitative", "title": score, "scale": upright}
    low = {**y, "field": "low"}
    front = [{"filter": "datum.front"}]
    tooltip = [
        {"field": "system", "type": "nominal", "title": "system"},
        {"field": "score", "type": "quantitative", "title": score, "format": ".4f"},
        {"field": "cost", "type": "quantitative", "title": cost, "format": ",.4~g"},
    ]
    strong = {"condition": {"test": "datum.front", "value": 1}, "value": 0.45}
    rise = {"expr": "-8 - datum.lift"}
    name = {"type": "text", "align": "left", "dx": 8, "dy": rise, "limit": LABEL}
    pointer = {"type": "rule", "x2Offset": 8, "y2Offset": rise}
    lifted_alone = {"condition": {"test": "datum.lift > 0", "value": 0.35}, "value": 0}
    ends = {"x2": {"field": "cost"}, "y2": {"field": "score"}, "opacity": lifted_alone}
    return _spec(
        HEIGHT,
        transform=[
            {
                "joinaggregate": [
                    {"op": "min", "field": "cost", "as": "cheapest"},
                    {"op": "max", "field": "cost", "as": "dearest"},
                    {"op": "min", "field": "low", "as": "lowest"},
                    {"op": "max", "field": "high", "as": "highest"},
                ]
            }
        ],
        encoding={"x": x, "y": y},
        layer=[
            {"transform": front, "mark": {"type": "line", "interpolate": "step-after", "opacity": 0.5}},
            {"mark": {"type": "rule", "opacity": 0.35}, "encoding": {"y": low, "y2": {"field": "high"}}},
            {
                "mark": {"type": "point", "filled": True, "size": 80},
                "encoding": {"opacity": strong, "tooltip": tooltip},
            },
            {"transform": [*front, *_lifted()], "mark": pointer, "encoding": ends},
            {
                "transform": [*front, *_lifted()],
                "mark": name,
                "encoding": {"text": {"field": "system", "type": "nominal"}},
            },
        ],
    )


def _lifted() -> list[JSON]:
    """Transforms that compute, for each point of the front, by how many pixels its name is lifted, so that no
    two names overlap. The names are handled from the cheapest system on. A name that begins before an earlier
    name ends is put at least one line above it. There the picture is empty, because no cheaper system is
    better."""
    across = f"log(datum.cost / datum.cheapest) / log(datum.dearest / datum.cheapest) * (width - {2 * EDGE})"
    down = f"(datum.highest - datum.score) / (datum.highest - datum.lowest) * {HEIGHT - 2 * EDGE}"
    order = [{"field": "cost", "order": "ascending"}]

    def window(op: str, field: str, name: str) -> JSON:
        return {"window": [{"op": op, "field": field, "as": name}], "sort": order}

    return [
        {"calculate": f"datum.dearest > datum.cheapest ? {across} : 0", "as": "x"},
        {"calculate": f"datum.highest > datum.lowest ? {down} : 0", "as": "y"},
        {"calculate": f"datum.x + min({LABEL}, {LETTER} * length(datum.system)) + {LETTER}", "as": "end"},
        window("max", "end", "ends"),
        window("lag", "ends", "before"),
        {"calculate": "datum.before !== null && datum.before <= datum.x ? 1 : 0", "as": "free"},
        window("sum", "free", "group"),  # names of a group stand above each other
        {**window("row_number", "x", "line"), "groupby": ["group"]},
        {"calculate": f"datum.y + {LINE} * datum.line", "as": "base"},
        {**window("min", "base", "least"), "groupby": ["group"]},
        {"calculate": "datum.base - datum.least", "as": "lift"},
    ]


def difference(score: str) -> dict[str, JSON]:
    """A plot of the difference of two systems on every query, sorted. Data: `share` of the queries, 0 to 100,
    and `difference`."""
    x = {"field": "share", "type": "quantitative", "title": "queries, sorted by the difference (%)",
         "scale": {"domain": [0, 100], "nice": False}, "axis": {"grid": False, "tickCount": 10}}  # fmt: skip
    y = {"field": "difference", "type": "quantitative", "title": f"difference of {score}"}
    area = {"type": "area", "interpolate": "step-after", "line": False, "opacity": 0.75}
    return _spec(
        240,
        encoding={"x": x, "y": y},
        layer=[
            {
                "transform": [{"calculate": "max(datum.difference, 0)", "as": "difference"}],
                "mark": area,
            },
            {
                "transform": [{"calculate": "min(datum.difference, 0)", "as": "difference"}],
                "mark": {**area, "color": "#c8702a"},
            },
            {"mark": "rule", "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": 0}}},
        ],
    )


def curves(x: str, y: str, series: str | None, kind: str = "quantitative") -> dict[str, JSON]:
    """A line plot over a number, such as the score over the weight of a fusion, or over words in the order of
    the data (`nominal`). Data: `x`, `y`, `series`."""
    encoding = {**_axes(x, y, kind), **_colour(series)}
    return _spec(280, mark={"type": "line", "point": {"size": 40}, "tooltip": True}, encoding=encoding)


def bars(x: str, y: str, series: str | None) -> dict[str, JSON]:
    """A plot of bars side by side. Data: `x` (a word), `y`, `series`."""
    encoding = {**_axes(x, y, "nominal"), **_colour(series)}
    encoding["y"]["scale"] = {"zero": True}
    if series is not None:
        encoding["xOffset"] = {"field": "series", "sort": None}
    return _spec(280, mark={"type": "bar", "tooltip": True}, encoding=encoding)


def lying(x: str, y: str, series: str | None, kinds: int) -> dict[str, JSON]:
    """The plot of `bars` with horizontal bars, for many bars or long names."""
    upright = bars(x, y, series)
    encoding = dict(upright["encoding"])
    encoding["x"], encoding["y"] = encoding["y"], {**encoding["x"], "axis": {"labelLimit": LABEL}}
    if "xOffset" in encoding:
        encoding["yOffset"] = encoding.pop("xOffset")
    return {**upright, "encoding": encoding, "height": {"step": 18 if kinds < 2 else 9}}


def points(x: str, y: str, series: str | None) -> dict[str, JSON]:
    """A scatter plot. Data: `x`, `y`, `series`."""
    encoding = {**_axes(x, y, "quantitative"), **_colour(series)}
    return _spec(280, mark={"type": "point", "filled": True, "tooltip": True}, encoding=encoding)


def heat(x: str, y: str, value: str) -> dict[str, JSON]:
    """A heat map with the number in each field, such as systems by slices. Data: `x`, `y`, `series`."""
    bright = {"op": "max", "field": "series", "as": "most"}, {"op": "min", "field": "series", "as": "least"}
    colour = {"field": "series", "type": "quantitative", "title": value, "legend": None,
              "scale": {"interpolate": "rgb"}}  # fmt: skip
    head = {"labelAngle": 0, "orient": "top", "labelLimit": 120}
    return {
        **_spec(None),
        "transform": [{"joinaggregate": list(bright)}],
        "encoding": {
            "x": {"field": "x", "type": "nominal", "title": x or None, "sort": None, "axis": head},
            "y": {"field": "y", "type": "nominal", "title": y or None, "sort": None},
        },
        "layer": [
            {
                "mark": {"type": "rect", "tooltip": True, "cornerRadius": 2},
                "encoding": {"color": colour},
            },
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "text": {"field": "series", "type": "quantitative", "format": ".3~f"},
                    "color": {
                        "condition": {
                            "test": "datum.series - datum.least > 0.55 * (datum.most - datum.least)",
                            "value": "heat-strong",
                        },
                        "value": "heat-weak",
                    },
                },
            },
        ],
        "height": {"step": 24},
    }


def analysis(finding: Finding) -> dict[str, JSON] | None:
    """The plot of an analysis with its data; None for a table. Headings are never used as field names,
    because Vega reads field names as expressions."""
    if finding.kind == "table" or finding.x is None or finding.y is None:
        return None
    values = [
        {name: row[finding.columns.index(column)] for name, column in _drawn(finding)} for row in finding.rows
    ]
    if finding.kind == "heat":
        return filled(heat(finding.x, finding.y, finding.series or ""), values)
    titles = (finding.x, finding.y, finding.series)
    if finding.kind == "bar":
        names = {str(item["x"]) for item in values}
        if len(names) > CROWDED or max(map(len, names), default=0) > LONG:
            return filled(lying(*titles, len({item.get("series") for item in values})), values)
        return filled(bars(*titles), values)
    if finding.kind == "point":
        return filled(points(*titles), values)
    words = any(isinstance(item["x"], str) for item in values)
    return filled(curves(*titles, "nominal" if words else "quantitative"), values)


def pareto_values(rows: Sequence[Row], label: str, cost: str = "seconds") -> list[dict[str, Cell]]:
    """The data of `pareto` from rows of one dataset, without rows that lack the measure or the cost."""
    systems: list[dict[str, Any]] = []
    for row in rows:
        value, spent = row.measures.get(label), getattr(row.cost, cost)
        if value is not None and isinstance(spent, int | float) and spent > 0 and math.isfinite(spent):
            low, high = value.ci95 or (value.mean, value.mean)
            systems.append(
                {"system": row.system, "cost": spent, "score": value.mean, "low": low, "high": high}
            )
    best = -math.inf
    for point in sorted(systems, key=lambda point: (point["cost"], -point["score"])):
        point["front"] = point["score"] > best
        best = max(best, point["score"])
    return systems


def _spec(height: int | None, **rest: JSON) -> dict[str, JSON]:
    size = {} if height is None else {"height": height}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": []},
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        **size,
        **rest,
    }


def _axes(x: str, y: str, kind: str) -> dict[str, JSON]:
    across = (
        {"scale": {"zero": False}} if kind == "quantitative" else {"sort": None, "axis": {"labelAngle": 0}}
    )
    return {
        "x": {"field": "x", "type": kind, "title": x, **across},
        "y": {"field": "y", "type": "quantitative", "title": y, "scale": {"zero": False}},
    }


def _colour(series: str | None) -> dict[str, JSON]:
    if series is None:
        return {}
    return {"color": {"field": "series", "type": "nominal", "title": series, "sort": None}}


def _drawn(finding: Finding) -> list[tuple[str, str]]:
    pairs = (("x", finding.x), ("y", finding.y), ("series", finding.series))
    return [(name, column) for name, column in pairs if column is not None]
