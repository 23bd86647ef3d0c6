"""The plots of reports and READMEs as Vega-Lite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from harness.findings import Cell, Finding
from harness.html.labels import EDGE, HEIGHT
from harness.html.vega import LABEL
from harness.leaderboard.model import Row, Tuning
from harness.types import JSON

if TYPE_CHECKING:
    from harness.compare import Compared

_WRITTEN = orjson.loads(Path(__file__).with_suffix(".json").read_bytes())
CROWDED = 80  # the most characters below bars that stand, if every name were as long as the longest


def filled(spec: JSON, values: Sequence[Mapping[str, Cell]]) -> dict[str, JSON]:
    """The plot with its data."""
    return {**spec, "data": {"values": list(values)}}


def pareto(score: str, cost: str) -> dict[str, JSON]:
    """A plot of effectiveness against cost. Data: `system`, `cost` (above 0), `score`, `low`, `high`, and
    `front`: whether no system of the same or lower cost scores as high."""
    return _written("pareto", score=score, cost=cost, edge=EDGE, height=HEIGHT, label=LABEL)


def difference(score: str) -> dict[str, JSON]:
    """A plot of the difference of two systems on every query, sorted. Data: `share` of the queries, 0 to 100,
    and `difference`."""
    return _written("difference", title=f"difference of {score}")


def forest(score: str, baseline: str) -> dict[str, JSON]:
    """A plot of differences from a baseline, with intervals. Data: `system`, `difference`, `low`, `high`."""
    return _written("forest", title=f"{score}, difference from {baseline}", label=LABEL)


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
    return _written("pairs", first=first, second=second)


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
    return _written("heat", x=x or None, y=y or None, value=value)


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


def _written(name: str, **values: JSON) -> dict[str, JSON]:
    """The plot `name` of `plots.json`, where `$value` stands for one of `values`."""

    def put(item: JSON) -> JSON:
        if isinstance(item, dict):
            return {key: put(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [put(inner) for inner in item]
        return values[item[1:]] if isinstance(item, str) and item.startswith("$") else item

    return {**_spec(None), **put(_WRITTEN[name])}


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
