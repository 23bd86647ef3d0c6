"""Plots are what they say: Vega-Lite that compiles, the Pareto front, and pictures without a browser."""

import itertools
import math
import random
import re

import pytest
from msgspec import structs

from harness.findings import Finding
from harness.html import labels, plots, vega
from harness.leaderboard.model import Cost, Measure, Tuning, published_row


def row(name, mean, cost):
    measures = {} if mean is None else {"AP": Measure(mean, (mean - 0.1, mean + 0.1), 9)}
    bare = published_row(dataset="d", split="test", system=name, protocol=None, measures=measures)
    return structs.replace(bare, cost=Cost(seconds=cost))


pytestmark = pytest.mark.extras

ROWS = [
    row(name, mean, cost)
    for name, mean, cost in [("slow", 0.5, 9), ("cheap", 0.3, 1), ("dear", 0.4, 8), ("good", 0.5, 4), ("same", 0.3, 1)]
]  # fmt: skip
SPECS = {
    "pareto": plots.filled(plots.pareto("AP", "seconds"), plots.pareto_values(ROWS, "AP")),
    "difference": plots.filled(plots.difference("AP"), [{"share": 0, "difference": 1}, {"share": 100, "difference": -1}]),
    "forest": plots.filled(plots.forest("AP", "a"), [{"system": "b", "difference": 0.1, "low": -0.1, "high": 0.2}]),
    "pairs": plots.filled(plots.pairs("a", "b"), plots.pair_values("qrst", [0, 1, 0, math.nan], [1, 1, 1, 1])),
    "curves": plots.filled(plots.curves("weight", "AP", "system"), [{"x": 0, "y": 1, "series": "a"}]),
    "lying": plots.filled(plots.lying("system", "AP", "level", 2), [{"x": "long", "y": 1, "series": "a"}]),
    "bars": plots.filled(plots.bars("depth", "AP", None), [{"x": "1", "y": 1}]),
    "points": plots.filled(plots.points("length", "AP", None), [{"x": 1, "y": 1}]),
    "heat": plots.filled(plots.heat("slice", "system", "AP"), [{"x": "s", "y": "a", "series": 0.25}]),
}  # fmt: skip


def test_the_front_has_what_nothing_as_cheap_is_as_good_as():
    found = plots.pareto_values(ROWS, "AP")
    assert {point["system"] for point in found if point["front"]} == {"cheap", "good"}


def test_queries_of_equal_scores_are_one_point_with_their_number():
    assert SPECS["pairs"]["data"]["values"] == [
        {"x": 0.0, "y": 1.0, "queries": 2, "query": "q"}, {"x": 1.0, "y": 1.0, "queries": 1, "query": "r"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameter", "values", "cells"),
    [
        ("k1, b", ("k1=1, b=0", "k1=1, b=1", "k1=2, b=0", "k1=2, b=1"), [("1", "0"), ("1", "1"), ("2", "0"), ("2", "1")]),
        ("k1, b", ("k1=1, b=0", "k1=2, b=0"), None),
        ("a, b, c", ("a=1, b=0, c=2", "a=2, b=1, c=2"), None),
        ("k1", (0.5, 0.7), None),
    ],
)  # fmt: skip
def test_two_parameters_that_were_tuned_together_are_a_heat_map(parameter, values, cells):
    tuned = Tuning(key="k", on="d/dev", curve=tuple(range(len(values))), folds=None, measure="AP", parameter=parameter,
                   queries=9, slices={}, value=values[0], values=values)  # fmt: skip
    spec = plots.grid(tuned)
    assert (spec and [(cell["x"], cell["y"]) for cell in spec["data"]["values"]]) == cells


@pytest.mark.parametrize(
    ("names", "lies"),
    [(("bm25", "ql"), False), (("acronym", "main-topic", "self-contained"), False),
     (("bm25", "ql", "sdm", "rrf", "bm25+titles", "bm25+coreference"), True), (("x" * 90,), True)],
)  # fmt: skip
def test_bars_lie_where_their_names_would_overlap(names, lies):
    finding = Finding(
        name="f", title="F", kind="bar", columns=("s", "AP"), rows=tuple((name, 1) for name in names), x="s", y="AP"
    )  # fmt: skip
    assert ("step" in str(plots.analysis(finding)["height"])) == lies


def test_a_dozen_series_have_a_dozen_colours():
    assert all(len(set(colours)) >= 12 for colours in vega.PALETTE.values())


def test_a_picture_has_room_for_a_wider_font_than_the_one_that_was_measured():
    pytest.importorskip("vl_convert", reason="needs the extra report")
    inside = float(re.search(r'transform="translate\(([\d.]+),', vega.svg(SPECS["forest"]))[1])
    assert inside >= vega.ROOM


def test_rows_without_the_measure_or_without_a_cost_stay_out():
    rows = [*ROWS, row("x", None, 1), *(row("y", 0.5, cost) for cost in (None, 0, float("inf")))]
    assert len(plots.pareto_values(rows, "AP")) == len(ROWS)


def boxes_of(places, points):
    return [
        (
            place.x,
            place.y - labels.LINE / 2,
            place.x + labels.width_of(point.name, point.front),
            place.y + labels.LINE / 2,
        )
        for place, point in zip(places, points, strict=True)
    ]


def overlap(one, other):
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > 0
        and min(one[3], other[3]) - max(one[1], other[1]) > 0
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("spread", [1.0, 0.2, 0.01, 0.0])
def test_names_are_placed_within_the_frame_without_touching_each_other_or_a_point(seed, spread):
    draw = random.Random(seed)
    points = [
        labels.Point(x, y, y - 30, y + 30, draw.choice(["bm25", "bm25 + titles", "稠密检索"]) * draw.randint(1, 2), i % 3 == 0)
        for i in range(24)
        for x, y in [(300 + 280 * spread * draw.uniform(-1, 1), 250 + 230 * spread * draw.uniform(-1, 1))]
    ]  # fmt: skip
    places = labels.placed(points, 600, 500)
    assert None not in places
    names = boxes_of(places, points)
    assert not any(overlap(one, other) for one, other in itertools.combinations(names, 2))
    assert not any(overlap(box, (p.x - 5, p.y - 5, p.x + 5, p.y + 5)) for box in names for p in points)
    assert all(box[0] >= 0 and box[1] >= 0 and box[2] <= 600 and box[3] <= 500 for box in names)


@pytest.mark.parametrize(
    "points",
    [
        [(10 + i, 0.5 + 0.001 * i, f"a long system name {i}") for i in range(8)],
        [(10 * 3**i, 0.5 + 0.001 * i, f"system {i}" * (8 if i == 1 else 1)) for i in range(7)],
        [(10, 0.5, "one"), (10.1, 0.9, "far above"), (10.2, 0.9001, "just above"), (9000, 0.91, "far right")],
        [(5, 0.5, f"equal {i}") for i in range(20)],
        [(5, 0.5, "alone")],
    ],
    ids=["close", "spread with one long name", "apart in one direction", "all equal", "alone"],
)
def test_every_point_of_the_pareto_picture_has_its_name_and_names_stay_apart(points):
    converter = pytest.importorskip("vl_convert", reason="needs the extra report")
    rows = [row(name, score, cost) for cost, score, name in points]
    spec = plots.filled(plots.pareto("AP", "seconds"), plots.pareto_values(rows, "AP"))
    scene = converter.vegalite_to_scenegraph(
        labels.named(spec, 680), config=vega.theme(False), allowed_base_urls=[]
    )
    names = list(text_items(scene))
    assert len(names) == len(points)
    boxes = [
        (
            x - wide if item["align"] == "right" else x,
            y - 6,
            x if item["align"] == "right" else x + wide,
            y + 6,
        )
        for item in names
        for x, y in [(item["x"] + item["dx"], item["y"] + item["dy"])]
        for wide in [6 * min(len(item["text"]), labels.LETTERS)]
    ]
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    front = {value["system"] for value in spec["data"]["values"] if value["front"]}
    assert {item["text"] for item in names if item["fontWeight"] == 600} == front


def text_items(scene):
    """The texts that marks draw, wherever they are in a scene graph."""
    if isinstance(scene, dict):
        if scene.get("marktype") == "text" and scene.get("role") == "mark":
            yield from scene["items"]
        scene = list(scene.values())
    if isinstance(scene, list):
        for item in scene:
            yield from text_items(item)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("dark", [False, True])
def test_every_plot_is_drawn_as_svg_in_both_looks(name, dark):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    text = vega.svg(SPECS[name], dark)
    assert text.startswith("<svg")
    assert "heat-" not in text
    assert "NaN" not in text


@pytest.mark.parametrize("name", SPECS)
def test_every_plot_is_valid_vega_lite(name):
    altair = pytest.importorskip("altair", reason="needs the extra report")
    altair.Chart.from_dict(vega.coloured(SPECS[name], False))


def test_a_systems_name_stays_text_in_a_picture():
    pytest.importorskip("vl_convert", reason="needs the extra report")
    values = [{"x": "s", "y": "<script>alert(1)</script>", "series": 0.25}]
    text = vega.svg(plots.filled(plots.heat("", "", "AP"), values))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
