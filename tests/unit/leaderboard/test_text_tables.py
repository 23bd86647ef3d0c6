"""What the table and the README of a leaderboard say of tuned values."""

import csv
import io
from pathlib import Path

import pytest
from msgspec import structs

from harness.leaderboard import board_file, readme, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import (
    Board,
    Column,
    Cost,
    Dataset,
    Environment,
    Measure,
    SuiteFacts,
    Tuning,
    published_row,
)


def tuning(**changes):
    given = {"on": "tour/dev", "value": 0.7, "folds": None, "values": (0.7,), "curve": (0.5,)} | changes
    return Tuning(
        key="0", parameter="weight", measure="nDCG@10", queries=2, slices={}, **given,
    )  # fmt: skip


def board(*tunings):
    """A leaderboard with a system for each list of what was tuned."""
    measures = {"nDCG@10": Measure(0.5, (0.4, 0.6), 2)}
    rows = []
    for i, tuned in enumerate(tunings):
        row = published_row(dataset="tour", split="test", system=f"s{i}", protocol=None, measures=measures)
        rows.append(structs.replace(row, origin="run", tuning=tuple(tuned)))
    dataset = Dataset(
        name="tour", split="test", plugin=None, params={}, language=None, query_language=None, licence=None,
        citation=None, url=None, counts={}, digests={},
    )  # fmt: skip
    data = Board(
        schema=board_file.SCHEMA,
        name="x",
        description="",
        suite=SuiteFacts(digest="0", depth=10, seed=0, protocol=None, measures=("nDCG@10",)),
        datasets=(dataset,),
        columns=(Column("nDCG@10", "nDCG@10", "passage", ""),),
        rows=tuple(rows),
        environment=Environment(),
    )
    return Leaderboard(data, Path("nowhere"))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (tuning(), "weight = 0.7 on tour/dev by nDCG@10"),
        (tuning(value=None, on="3 folds", folds=(0.6, 0.5, 0.6)), "weight = 0.6, 0.5, 0.6 on 3 folds by nDCG@10"),
        (tuning(value=None, on="3 folds", folds=(0.4, 0.4, 0.4)), "weight = 0.4 on 3 folds by nDCG@10"),
        (tuning(values=(0.6, 0.7), curve=(0.5, 0.4)), "weight = 0.7 on tour/dev by nDCG@10"),
        (tuning(learned=({"shift": 0.1},)), "weight learned for each query (fixed: weight = 0.7) on tour/dev by nDCG@10"),
        (
            tuning(values=(0.6, 0.7), curve=(0.0, 0.0)),
            "weight = 0.7 on tour/dev by nDCG@10, where all 2 values score 0",
        ),
    ],
)  # fmt: skip
def test_a_tuned_value_stands_under_the_table_and_in_the_readme(found, said):
    made = board([found], [])
    assert text_tables.render(made, "table").endswith(f"\n\ntuned: tour / s0: {said}\n")
    assert f"- Tuned: tour / s0: {said}." in readme.page(made, "harness run x").splitlines()


def test_a_value_that_several_systems_use_is_told_once():
    assert text_tables.tuned(board([tuning()], [], [tuning()])) == [
        "tour / s0, tour / s2: weight = 0.7 on tour/dev by nDCG@10"
    ]


def test_where_nothing_is_tuned_nothing_is_said():
    made = board([], [])
    assert text_tables.tuned(made) == []
    assert "uned:" not in text_tables.render(made, "table") + readme.page(made, "harness run x")


def test_a_column_in_which_all_tie_has_no_star():
    made = board([], [])
    assert "0.5000" in text_tables.render(made, "table")
    assert "*" not in text_tables.render(made, "table")
    alone = board([])
    assert "0.5000*" in text_tables.render(alone, "table")


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), (" +a", "' +a"), ("-2-3", "'-2-3"), ("\uff1dA1", "'\uff1dA1"),
        ("-0.25", "-0.25"), ("+1e-05", "+1e-05"), ("a=b", "a=b"), ("\x1b[2J", "\\x1b[2J"), (-0.5, -0.5), (None, None),
    ],
)  # fmt: skip
def test_a_text_in_csv_is_no_formula_and_numbers_stay_numbers(cell, shown):
    assert text_tables.harmless(cell) == shown
    assert list(csv.reader(io.StringIO(text_tables.of_records([{"a": cell}], "csv"))))[1:] == [
        ["" if shown is None else str(shown)]
    ]


def test_what_a_person_wrote_gives_a_page_no_html_link_or_image():
    hostile = "![a](http://x) <img src=x> [b]: //y\n\n<!-- `<code>` www.z.org `` ] [c][d] https://e\x1b"
    made = board([])
    text = readme.page(Leaderboard(structs.replace(made.data, description=hostile), made.folder), "x")
    assert r"![a\](http:\//x) \<img src=x\> [b\]: //y" in text
    assert r"\<!-- `<code>` www\.z.org \`\` ] [c\][d] https:\//e\\x1b" in text
    assert "[" not in text_tables.escaped("[a](b)").replace("[a\\](b)", "")


def test_a_flag_is_told_once_below_the_table_with_the_first_rows_that_have_it():
    made = board([], [], [], [], [])
    flagged = tuple(
        structs.replace(row, flags=("a grid, scored on test\nin two lines",)) for row in made.rows
    )
    made = Leaderboard(structs.replace(made.data, rows=flagged), made.folder)
    line = "note: tour / s0, tour / s1, tour / s2 and 2 more rows: a grid, scored on test\n    in two lines\n"
    assert text_tables.render(made, "table").endswith(line)
    assert "- tour / s0: a grid, scored on test in two lines.\n" in readme.page(made, "harness run x")


def test_the_cost_of_a_row_names_what_training_and_tuning_took(tmp_path):
    made = board([], [], [])
    spent = (
        Cost(seconds=3.71),
        Cost(seconds=3.0, training_seconds=21.04),
        Cost(seconds=1.0, tuning_seconds=2),
    )
    rows = [structs.replace(row, cost=cost) for row, cost in zip(made.rows, spent, strict=True)]
    costed = Leaderboard(structs.replace(made.data, rows=tuple(rows)), tmp_path)
    (table,) = text_tables.tables(costed)
    assert [line[-1] for line in table.rows] == ["3.7 s", "3.0 s + 21.0 s training", "1.0 s + 2.0 s tuning"]
    page = readme.page(costed, "x")
    assert "7.7 s on" in page
    assert "without training and tuning" in page
