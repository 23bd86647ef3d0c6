"""Plots are what they say: Vega-Lite that compiles, the Pareto front, and pictures without a browser."""

import itertools

import pytest
from msgspec import structs

from harness.html import plots, vega
from harness.leaderboard.model import Cost, Measure, published_row


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
    "curves": plots.filled(plots.curves("weight", "AP", "system"), [{"x": 0, "y": 1, "series": "a"}]),
    "lying": plots.filled(plots.lying("system", "AP", "level", 2), [{"x": "long", "y": 1, "series": "a"}]),
    "bars": plots.filled(plots.bars("depth", "AP", None), [{"x": "1", "y": 1}]),
    "points": plots.filled(plots.points("length", "AP", None), [{"x": 1, "y": 1}]),
    "heat": plots.filled(plots.heat("slice", "system", "AP"), [{"x": "s", "y": "a", "series": 0.25}]),
}  # fmt: skip


def test_the_front_has_what_nothing_as_cheap_is_as_good_as():
    found = plots.pareto_values(ROWS, "AP")
    assert {point["system"] for point in found if point["front"]} == {"cheap", "good"}


def test_rows_without_the_measure_or_without_a_cost_stay_out():
    rows = [*ROWS, row("x", None, 1), *(row("y", 0.5, cost) for cost in (None, 0, float("inf")))]
    assert len(plots.pareto_values(rows, "AP")) == len(ROWS)


@pytest.mark.parametrize(
    "points",
    [
        [(10 + i, 0.5 + 0.001 * i, f"a long system name {i}") for i in range(8)],
        [(10 * 3**i, 0.5 + 0.001 * i, f"system {i}" * (8 if i == 1 else 1)) for i in range(7)],
        [
            (10, 0.5, "first"),
            (10.1, 0.9, "far above"),
            (10.2, 0.9001, "just above"),
            (9000, 0.91, "far right"),
        ],
    ],
    ids=["close", "spread with one long name", "apart in one direction"],
)
def test_no_name_covers_another_in_the_pareto_picture(points):
    converter = pytest.importorskip("vl_convert", reason="needs the extra report")
    values = [
        {
            "system": name,
            "cost": cost,
            "score": score,
            "low": score - 0.01,
            "high": score + 0.01,
            "front": True,
        }
        for cost, score, name in points
    ]
    spec = {**plots.filled(plots.pareto("AP", "seconds"), values), "width": 680}
    scene = converter.vegalite_to_scenegraph(spec, config=vega.theme(False), allowed_base_urls=[])
    names = list(text_items(scene))
    assert len(names) == len(points)
    boxes = [
        (x, x + 6 * len(item["text"]), y - 6, y + 6)
        for item in names
        for x, y in [(item["x"] + item["dx"], item["y"] + item["dy"])]
    ]
    for (left, right, top, bottom), (left2, right2, top2, bottom2) in itertools.combinations(boxes, 2):
        assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    assert names[0]["dy"] == -8  # the cheapest is not moved


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
