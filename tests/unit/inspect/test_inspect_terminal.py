"""What inspection prints: rankings that fit the terminal, marked texts, and nothing that steers it."""

import pytest
from rich.cells import cell_len
from rich.console import Console

from harness.inspect import terminal
from harness.inspect.marks import Piece
from harness.inspect.query import Hit, Inspected, Positive, QueryView, Ranking


def ranking(system, hits, values=(), positives=()):
    return Ranking(
        system,
        "passage",
        dict(values),
        tuple(Hit(i, id, score, 1) for i, (id, score) in enumerate(hits, 1)),
        1000,
        tuple(Positive(id, 1, None) for id in positives),
        None,
    )


MANY = [
    ranking(
        f"system-{i}+titles",
        [(f"document-{i}-000012345-04", 5.46018), (f"d{i}-东京", 0.0327869)],
        {"nDCG@10": 0.3333, "R(rel=2)@1000": 1.0} if i % 3 else {"document R@100": 0.25},
        [f"positive-{i}-000000000000012345"],
    )
    for i in range(13)
]


@pytest.mark.parametrize("width", [10, 40, 80, 200])
def test_rankings_that_are_too_many_for_a_terminal_stand_below_each_other_and_nothing_is_broken(width):
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        terminal.show_query(console, QueryView("tour", "q", None, (), (), tuple(MANY), True), nothing())
    text = captured.get()
    tables = text.count("rank  ")
    assert {10: tables == 13, 40: tables == 13, 80: tables > 4, 200: 1 < tables < 5}[width]
    assert width < 80 or max(map(cell_len, text.splitlines())) <= width
    whole = [f"●1 document-{i}-000012345-04  5.46018" for i in range(13)]
    whole += [f"●1 d{i}-东京  0.0327869" for i in range(13)]
    whole += [f"system-{i}+titles" for i in range(13)]
    whole += [f"positive-{i}-000000000000012345 not in 1,000" for i in range(13)]
    assert [item for item in whole if text.count(item) != 1] == []
    assert text.count("nDCG@10 0.3333") == 8
    assert text.count("R(rel=2)@1000 1 ") == 8
    assert text.count("document R@100 0.25") == 5


def test_rankings_that_fit_stand_in_one_table():
    assert len(terminal._side_by_side(MANY[:2], 200, judged=True)) == 1
    columns = [terminal._column(each, judged=True) for each in MANY[:2]]
    width = terminal.RANK + sum(terminal.GAP + column.width for column in columns)
    assert len(terminal._side_by_side(MANY[:2], width, judged=True)) == 1
    assert len(terminal._side_by_side(MANY[:2], width - 1, judged=True)) == 2


def test_a_name_that_is_very_long_takes_several_lines():
    console = Console(width=60, highlight=False, color_system=None)
    with console.capture() as captured:
        for table in terminal._side_by_side([ranking("n" * 50, [("a", 1.0)])], 60, judged=True):
            console.print(table)
    assert [line.split()[-1] for line in captured.get().splitlines()[:2]] == ["n" * 44, "n" * 6]


def nothing():
    return Inspected({"name": "tour"}, (), None, (), (), (), {}, ())


def test_control_characters_cannot_steer_a_terminal():
    assert terminal.safe("a\x1b[2J\u202eb\tc\nd") == "a\\x1b[2J\\u202eb c\nd"
    assert terminal.cut("x" * 700).endswith(" [... 100 characters more]")


def test_in_the_terminal_additions_stand_in_brackets():
    assert terminal.marked([Piece("T ", 0), Piece("a b", None)]).plain == "⟦T ⟧a b"
    assert terminal.marked([Piece("a", None)]).plain == "a"
    assert terminal.marked([]).plain == "(empty)"
    long = terminal.marked([Piece("T ", 0), Piece("x" * 700, None)]).plain
    assert long.endswith(" [... 102 characters more]")
