"""What the table and the README of a leaderboard say of tuned values."""

from pathlib import Path

import pytest

from harness.leaderboard import text_tables
from harness.leaderboard.board_file import Leaderboard


def tuning(**changes):
    return {
        "on": "tour/dev",
        "parameter": "weight",
        "measure": "nDCG@10",
        "value": 0.7,
        "folds": None,
    } | changes


def board(*tunings):
    """A leaderboard with a system for each list of what was tuned."""
    shown = {"mean": 0.5, "ci95": [0.4, 0.6], "queries": 2}
    rows = [
        {
            "dataset": "tour", "system": f"s{i}", "origin": "run", "status": "ok", "flags": [], "slices": {},
            "limits": {}, "reported": [], "cost": {}, "measures": {"nDCG@10": shown}, "tuning": found,
        }
        for i, found in enumerate(tunings)
    ]  # fmt: skip
    data = {
        "name": "x",
        "description": "",
        "datasets": [{"name": "tour", "split": "test", "counts": {}}],
        "columns": [{"label": "nDCG@10"}],
        "rows": rows,
    }
    return Leaderboard(data, Path("nowhere"))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (tuning(), "weight = 0.7 on tour/dev by nDCG@10"),
        (tuning(value=None, on="3 folds", folds=[0.6, 0.5, 0.6]), "weight = 0.6, 0.5, 0.6 on 3 folds by nDCG@10"),
        (tuning(value=None, on="3 folds", folds=[0.4, 0.4, 0.4]), "weight = 0.4 on 3 folds by nDCG@10"),
    ],
)  # fmt: skip
def test_a_tuned_value_stands_under_the_table_and_in_the_readme(found, said):
    made = board([found], [])
    assert text_tables.render(made, "table").endswith(f"\n\ntuned: tour / s0: {said}\n")
    assert f"- Tuned: tour / s0: {said}." in text_tables.readme(made, "harness run x").splitlines()


def test_a_value_that_several_systems_use_is_told_once():
    assert text_tables.tuned(board([tuning()], [], [tuning()])) == [
        "tour / s0, tour / s2: weight = 0.7 on tour/dev by nDCG@10"
    ]


def test_where_nothing_is_tuned_nothing_is_said():
    made = board([], [])
    assert text_tables.tuned(made) == []
    assert "uned:" not in text_tables.render(made, "table") + text_tables.readme(made, "harness run x")
