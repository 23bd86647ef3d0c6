"""Plots in notebooks: intervals by default, interactive without a network, and four kinds."""

from pathlib import Path

import pytest

from harness import api
from harness.errors import HarnessError

pytestmark = pytest.mark.extras
pytest.importorskip("vl_convert", reason="needs the extra report")
LEADERBOARDS = Path(__file__).parents[3] / "leaderboards"


@pytest.fixture(scope="module")
def board():
    return api.read_leaderboard(LEADERBOARDS / "neural-en")


def values(picture):
    return picture.spec["data"]["values"]


def test_a_plot_shows_intervals_and_names_all_systems(board):
    drawn = board.plot()
    assert {item["system"] for item in values(drawn)} == {"bm25", "minilm", "bge-small-en", "bm25 reranked"}
    assert all(item["low"] < item["score"] < item["high"] and "dx" in item for item in values(drawn))
    assert all(name in drawn.svg for name in ("bm25", "minilm", "bge-small-en", "bm25 reranked"))


def test_a_cell_shows_a_page_that_runs_in_a_frame_and_fetches_nothing(board):
    shown = board.plot()._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert 'sandbox="allow-scripts"' in shown["text/html"]
    assert "default-src &#x27;none&#x27;" in shown["text/html"]
    assert shown["text/plain"] == "<Picture of 4 points; `.svg` is the drawing>"


def test_differences_are_those_of_compare_whichever_system_comes_first(board):
    drawn = board.plot(kind="differences", baseline="bm25", dataset="xquad-en")
    compared = board.compare(baseline="bm25", measures=["nDCG@10"], datasets=["xquad-en"]).data.comparisons
    assert len(values(drawn)) == len(compared) == 3
    means = {row.system: row.measures["nDCG@10"].mean for row in board.rows_of("xquad-en")}
    for item in values(drawn):
        assert item["difference"] == pytest.approx(means[item["system"]] - means["bm25"], abs=1e-5)
        assert item["low"] < item["difference"] < item["high"]


def test_two_systems_are_drawn_query_by_query(board):
    drawn = board.plot(kind="queries", systems=["bm25", "minilm"])
    assert sum(item["queries"] for item in values(drawn)) == 300


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kind": "differences"}, "needs a baseline"),
        ({"kind": "queries", "systems": ["bm25"]}, "needs systems="),
        ({"kind": "queries", "systems": ["bm25", "nope"]}, "two systems of scifact: bm25, minilm"),
        ({"kind": "tuning"}, "has tuned values"),
        ({"kind": "pie"}, "no kind 'pie'"),
        ({"dataset": "nope"}, "nope"),
    ],
)
def test_what_cannot_be_drawn_is_refused(board, options, problem):
    with pytest.raises(HarnessError, match=problem):
        board.plot(**options)
