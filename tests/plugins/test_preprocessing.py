"""What context costs, as DAPR's table 6 has it: from the measured cost of committed rows."""

from pathlib import Path

import pytest

from harness import cli as command
from harness.leaderboard import board_file
from harness_tables import preprocessing

BOARD = Path(__file__).parents[2] / "leaderboards" / "dapr-conditionalqa"


def lines(words):
    board = board_file.read(BOARD)
    first = preprocessing.tables(board, words)[0]
    return board, {line[:2]: line[2:] for line in first.rows}


def test_a_context_has_its_measured_speed_the_projected_hours_and_the_score():
    board, rows = lines(1.8e9)
    (row,) = [row for row in board.rows_of("condqa-all") if row.system == "minilm+keyphrases"]
    spent = row.cost.contexts["keyphrases"]
    speed, hours, score = rows["minilm+keyphrases", "keyphrases"]
    assert speed == f"{spent.words_per_second:,.1f}"
    assert float(hours) == pytest.approx(1.8e9 / spent.words_per_second / 3600, rel=1e-3)
    assert score == f"{row.measures['nDCG@10'].mean:.4f}"


def test_a_retriever_without_context_has_its_score_alone_and_composites_are_left_out():
    _, rows = lines(None)
    assert rows["minilm", ""][:2] == ("", "")
    assert {system for system, _ in rows} & {"minilm x documents", "minilm rrf documents"} == set()


def test_a_row_with_two_contexts_has_two_lines_and_its_own_hours_are_those_that_passed():
    board, rows = lines(None)
    (row,) = [row for row in board.rows_of("condqa-all") if row.system == "minilm+titles+coreference"]
    for context, spent in row.cost.contexts.items():
        hours = rows["minilm+titles+coreference", context][1]
        assert float(hours) == pytest.approx(spent.seconds / 3600, rel=1e-3)
    assert len(row.cost.contexts) == 2


def test_the_command_prints_it_and_refuses_a_leaderboard_without_context(capsys):
    assert command.main(["preprocessing", str(BOARD), "--words", "1.8e9"]) == 0
    assert "hours for 1,800,000,000 words" in capsys.readouterr().out
    assert command.main(["preprocessing", str(BOARD.parent / "neural-en")]) == 2
    assert "neural-en: no row has the cost of a context" in capsys.readouterr().err
