"""Plots are what they say: Vega-Lite that compiles, the Pareto front, and pictures without a browser."""

import pytest
from msgspec import structs

from harness.html import plots
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


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("dark", [False, True])
def test_every_plot_is_drawn_as_svg_in_both_looks(name, dark):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    text = plots.svg(SPECS[name], dark)
    assert text.startswith("<svg")
    assert "heat-" not in text
    assert "NaN" not in text


@pytest.mark.parametrize("name", SPECS)
def test_every_plot_is_valid_vega_lite(name):
    altair = pytest.importorskip("altair", reason="needs the extra report")
    altair.Chart.from_dict(plots.coloured(SPECS[name], False))


def test_a_systems_name_stays_text_in_a_picture():
    pytest.importorskip("vl_convert", reason="needs the extra report")
    values = [{"x": "s", "y": "<script>alert(1)</script>", "series": 0.25}]
    text = plots.svg(plots.filled(plots.heat("", "", "AP"), values))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
