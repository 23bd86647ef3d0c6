"""The plots of reports and READMEs as Vega-Lite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.findings import Cell, Finding
from harness.html.labels import EDGE, HEIGHT
from harness.html.vega import LABEL
from harness.leaderboard.model import Row, Tuning
from harness.types import JSON

if TYPE_CHECKING:
    from harness.compare import Compared

CROWDED = 80  # the most characters below bars that stand, if every name were as long as the longest


def filled(spec: JSON, values: Sequence[Mapping[str, Cell]]) -> dict[str, JSON]:
    """The plot with its data."""
    return {**spec, "data": {"values": list(values)}}


def pareto(score: str, cost: str) -> dict[str, JSON]:
    """A plot of effectiveness against cost. Data: `system`, `cost` (above 0), `score`, `low`, `high`, and
    `front`: whether no system of the same or lower cost scores as high."""
    scale = {"type": "log", "nice": False, "padding": EDGE}
    x = {"field": "cost", "type": "quantitative", "title": cost, "scale": scale, "axis": {"grid": False}}
    upright = {"zero": False, "nice": False, "padding": EDGE}
    y = {"field": "score", "type": "quantitative", "title": score, "scale": upright}
    low = {**y, "field": "low"}
    front = [{"filter": "datum.front"}]
    tooltip = [
        {"field": "system", "type": "nominal", "title": "system"},
        {"field": "score", "type": "quantitative", "title": score, "format": ".4f"},
        {"field": "low", "type": "quantitative", "title": "low", "format": ".4f"},
        {"field": "high", "type": "quantitative", "title": "high", "format": ".4f"},
        {"field": "cost", "type": "quantitative", "title": cost, "format": ",.4~g"},
    ]
    strong = {"condition": {"test": "datum.front", "value": 1}, "value": 0.45}
    shown, far = (
        {"condition": {"test": f"isValid(datum.{field})", "value": value}, "value": 0}
        for field, value in (("dx", 1), ("joint", 0.35))
    )
    name = {"type": "text", "align": {"expr": "datum.align || 'left'"}, "baseline": "middle", "limit": LABEL}
    name |= {key: {"expr": f"datum.{key} || 0"} for key in ("dx", "dy")}
    name |= {"fontWeight": {"expr": "datum.front ? 600 : 400"}}
    offset = {
        f"{axis}2Offset": {"expr": f"datum.{field} || 0"} for axis, field in (("x", "joint"), ("y", "dy"))
    }
    return _spec(
        HEIGHT,
        usermeta={"named": EDGE, "zoom": ["x", "y"]},
        encoding={"x": x, "y": y},
        layer=[
            {"transform": front, "mark": {"type": "line", "interpolate": "step-after", "opacity": 0.5}},
            {"mark": {"type": "rule", "opacity": 0.35}, "encoding": {"y": low, "y2": {"field": "high"}}},
            {
                "mark": {"type": "point", "filled": True, "size": 80},
                "encoding": {"opacity": strong, "tooltip": tooltip},
            },
            {
                "mark": {"type": "rule", **offset},
                "encoding": {"x2": {"field": "cost"}, "y2": {"field": "score"}, "opacity": far},
            },
            {"mark": name, "encoding": {"text": {"field": "system", "type": "nominal"}, "opacity": shown}},
        ],
    )


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
            {"transform": [{"calculate": "max(datum.difference, 0)", "as": "difference"}], "mark": area},
            {
                "transform": [{"calculate": "min(datum.difference, 0)", "as": "difference"}],
                "mark": {**area, "color": "#c8702a"},
            },
            {"mark": "rule", "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": 0}}},
        ],
    )


def forest(score: str, baseline: str) -> dict[str, JSON]:
    """A plot of differences from a baseline, with intervals. Data: `system`, `difference`, `low`, `high`."""
    title = f"{score}, difference from {baseline}"
    scale = {"zero": True, "padding": 12}
    x = {"field": "difference", "type": "quantitative", "title": title, "scale": scale}
    numbers = [
        {"field": end, "type": "quantitative", "format": "+.4f"} for end in ("difference", "low", "high")
    ]
    tooltip = [{"field": "system", "type": "nominal"}, *numbers]
    apart = {"condition": {"test": "datum.low > 0 || datum.high < 0", "value": 1}, "value": 0.45}
    names = {"field": "system", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": LABEL}}
    each = {"y": names, "opacity": apart, "tooltip": tooltip}
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    return _spec(
        240,
        usermeta={"zoom": ["x"]},
        layer=[
            {
                "mark": {"type": "rule", "strokeDash": [4, 3]},
                "encoding": {"x": {"datum": 0, "type": "quantitative"}},
            },
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {**each, **ends}},
            {"mark": {"type": "point", "filled": True, "size": 80}, "encoding": {**each, "x": x}},
        ],
    )


def forest_of(compared: Compared, score: str, baseline: str) -> dict[str, JSON]:
    """The plot of `forest`, from the comparisons with a baseline on one dataset in one measure."""
    values: list[dict[str, Any]] = []
    for pair in compared.comparisons:
        sign, system = (-1, pair.second) if pair.first == baseline else (1, pair.first)
        low, high = sorted(sign * end for end in pair.interval)
        values.append({"system": system, "difference": sign * pair.difference, "low": low, "high": high})
    values.sort(key=lambda item: -item["difference"])
    return {**filled(forest(score, baseline), values), "height": 24 * len(values)}


def pairs(first: str, second: str) -> dict[str, JSON]:
    """A plot of two systems query by query. Data: `x` and `y`, the scores of both systems, `queries`, how
    many have these scores, and `query`, the id of one of them. Above the line, the second is better."""
    scale = {"zero": False, "nice": False, "padding": 14}
    axis = {"tickCount": 6}
    axes = {name: {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
            for name, title in (("x", first), ("y", second))}  # fmt: skip
    ends = [{"field": name, "op": op, "as": f"{op}_{name}"} for name in ("x", "y") for op in ("min", "max")]
    line = [
        {"aggregate": ends},
        {"calculate": "[min(datum.min_x, datum.min_y), max(datum.max_x, datum.max_y)]", "as": "at"},
        {"flatten": ["at"]},
    ]
    at = {"field": "at", "type": "quantitative"}
    size = {
        "field": "queries",
        "type": "quantitative",
        "scale": {"range": [24, 700], "zero": True},
        "legend": None,
    }
    tooltip = [
        {"field": field, "type": "nominal" if field == "query" else "quantitative", "title": title}
        for field, title in (("query", "query"), ("queries", "queries"), ("x", first), ("y", second))
    ]
    return _spec(
        360,
        usermeta={"zoom": ["x", "y"]},
        layer=[
            {"transform": line, "mark": {"type": "line", "strokeDash": [4, 3], "opacity": 0.5},
             "encoding": {"x": {**axes["x"], **at}, "y": {**axes["y"], **at}}},
            {"mark": {"type": "point", "filled": True, "opacity": 0.5},
             "encoding": {**axes, "size": size, "tooltip": tooltip}},
        ],
    )  # fmt: skip


def pair_values(ids: Sequence[str], first: Sequence[float], second: Sequence[float]) -> list[dict[str, Cell]]:
    """The data of `pairs`; queries without a score of both systems are left out."""
    points: dict[tuple[float, float], list[str]] = {}
    for query, x, y in zip(ids, first, second, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            points.setdefault((float(x), float(y)), []).append(query)
    return [{"x": x, "y": y, "queries": len(names), "query": names[0]} for (x, y), names in points.items()]


def grid(tuned: Tuning) -> dict[str, JSON] | None:
    """The heat map of two parameters that were tuned together; None if it is not a grid of two."""
    cells: list[dict[str, Cell]] = []
    names = tuned.parameter.split(", ")
    for value, score in zip(tuned.values, tuned.curve, strict=True):
        words = [part.partition("=")[::2] for part in str(value).split(", ")]
        if len(names) != 2 or [name for name, _ in words] != names:
            return None
        cells.append({"x": words[0][1], "y": words[1][1], "series": score})
    if any(len({cell[axis] for cell in cells}) < 2 for axis in ("x", "y")):
        return None
    return filled(heat(names[0], names[1], tuned.measure), cells)


def tuned(rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The title and the plot of tuned parameters: a heat map for each system that tuned two parameters
    together, and for each parameter that was tuned alone its curves, with a line for each system."""
    lines: dict[tuple[str, str, str], list[dict[str, Cell]]] = {}
    for row in rows:
        for item in row.tuning or ():
            if (spec := grid(item)) is not None:
                yield f"{item.measure} of {row.system} over {item.parameter}, tuned on {item.on}", spec
            if any(isinstance(value, str) for value in item.values):  # several parameters share no axis
                continue
            points = lines.setdefault((item.parameter, item.measure, item.on), [])
            points += [
                {"x": x, "y": y, "series": row.system} for x, y in zip(item.values, item.curve, strict=True)
            ]
    for (parameter, measure, on), points in lines.items():
        yield (
            f"{measure} over {parameter}, tuned on {on}",
            filled(curves(parameter, measure, "system"), points),
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


def points(x: str, y: str, series: str | None, spread: bool = False) -> dict[str, JSON]:
    """A scatter plot. Data: `x`, `y`, `series`; with `spread`, the ends `low` and `high` of
    intervals, and `x` above 0."""
    encoding = {**_axes(x, y, "quantitative"), **_colour(series)}
    if spread:  # of sizes, which differ by factors
        encoding["x"]["scale"] = {"type": "log", "nice": False, "padding": EDGE}
    ends = {"y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    rules = [{"mark": {"type": "rule", "opacity": 0.35}, "encoding": ends}] if spread else []
    mark = {"type": "point", "filled": True, "tooltip": True}
    return _spec(280, encoding=encoding, layer=[*rules, {"mark": mark}])


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
            {"mark": {"type": "rect", "tooltip": True, "cornerRadius": 2}, "encoding": {"color": colour}},
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
        if len(names) * max(map(len, names), default=0) > CROWDED:
            return filled(lying(*titles, len({item.get("series") for item in values})), values)
        return filled(bars(*titles), values)
    if finding.kind == "point":
        numbers = [item["x"] for item in values if isinstance(item["x"], int | float)]
        spread = {"low", "high"} <= {*finding.columns} and min(numbers, default=0) > 0
        for value, row in zip(values, finding.rows, strict=True) if spread else ():
            value |= {end: row[finding.columns.index(end)] for end in ("low", "high")}
        return filled(points(*titles, spread), values)
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
