"""Recipes with several seeds: their means with both spreads, and comparisons over seeds and queries."""

import made_boards
import numpy as np
import orjson
import pytest

from harness.compare import Settings, compare, load
from harness.compare.text import render
from harness.leaderboard import board_file, means
from harness.scoring import seeds


def seeded_board(folder, lifts, **alone):
    """Rows of recipes with one lift for each seed, and of systems without seeds."""
    systems = {
        f"{recipe},seed={number}": {"m": made_boards.values(7, lift)}
        for recipe, each in lifts.items()
        for number, lift in enumerate(each)
    }
    systems |= {name: {"m": made_boards.values(7, lift)} for name, lift in alone.items()}
    made_boards.board(folder, systems)
    path = folder / "leaderboard.json"
    content = orjson.loads(path.read_bytes())
    for row in content["rows"]:
        if "," in row["system"]:
            row["recipe"] = row["system"].partition(",")[0]
    path.write_bytes(orjson.dumps(content))
    return path


def test_the_variance_is_that_over_queries_and_that_over_seeds():
    """Against a slow transcription."""
    rng = np.random.default_rng(0)
    first, second = rng.random((3, 20)), rng.random((4, 20))
    spread = seeds.difference(first, second)
    each = [first[:, q].mean() - second[:, q].mean() for q in range(20)]
    middle = sum(each) / 20
    over_queries = sum((x - middle) ** 2 for x in each) / 19 / 20
    over_seeds = []
    for values in (first, second):
        means = [row.mean() for row in values]
        centre = sum(means) / len(means)
        over_seeds.append(sum((x - centre) ** 2 for x in means) / (len(means) - 1) / len(means))
    parts = [over_queries, *over_seeds]
    assert spread.value == pytest.approx(middle)
    assert spread.variances == pytest.approx(parts)
    freedom = sum(parts) ** 2 / sum(v**2 / f for v, f in zip(parts, (19, 2, 3), strict=True))
    assert spread.freedom == pytest.approx(freedom)


def test_one_seed_each_is_the_paired_t_test_over_queries():
    from scipy import stats

    rng = np.random.default_rng(1)
    first, second = rng.random((1, 30)), rng.random((1, 30))
    assert seeds.difference(first, second).p == pytest.approx(stats.ttest_rel(first[0], second[0]).pvalue)


def test_a_recipe_has_one_line_with_both_spreads(tmp_path):
    path = seeded_board(tmp_path, {"de": (0.0, 0.1, 0.2)}, bm25=0.05)
    board = means.with_seeds(board_file.read(path))
    (finding,) = board.data.analyses
    (row,) = finding.rows
    numbers = dict(zip(finding.columns, row, strict=True))
    base = made_boards.values(7).mean()
    assert numbers["system"] == "de"
    assert numbers["seeds"] == 3
    assert numbers["mean"] == pytest.approx(base + 0.1, abs=1e-6)
    assert numbers["over seeds (sd)"] == pytest.approx(0.1, abs=1e-6)
    assert numbers["low"] < base + 0.1 - 2.5 * 0.1 / 3**0.5  # wider than queries alone make it
    (table,) = means.seed_tables(board)
    assert table.rows[0][0] == "de (3 seeds)"
    assert "± 0.1000" in table.rows[0][1]
    assert means.with_seeds(board).data == board.data  # made again, not twice


def test_a_recipe_of_which_a_seed_failed_has_no_line(tmp_path):
    path = seeded_board(tmp_path, {"de": (0.0, 0.1)})
    content = orjson.loads(path.read_bytes())
    content["rows"][0] |= {"status": "failed", "error": "no", "measures": {}, "files": {}}
    path.write_bytes(orjson.dumps(content))
    assert list(means.seed_findings(board_file.read(path))) == []


def test_a_difference_that_seeds_make_is_called_their_luck(tmp_path):
    """Queries alone tell the recipes apart with certainty; the seeds of one recipe differ as much."""
    lucky = seeded_board(tmp_path, {"a": (0.0, 0.08, 0.2), "b": (0.02, 0.06, 0.01)}, bm25=0.3)
    compared = compare(load([lucky]), Settings())
    by_pair = {(item.first, item.second): item for item in compared.recipes}
    assert set(by_pair) == {("a", "b"), ("a", "bm25"), ("b", "bm25")}
    assert by_pair["a", "b"].seeds == (3, 3)
    assert by_pair["a", "b"].corrected > 0.05
    assert by_pair["b", "bm25"].corrected < 0.05
    text = render(compared, "table")
    assert "within the luck of seeds" in text
    assert "more than luck" in text
    assert len(orjson.loads(render(compared, "json"))["recipes"]) == 3


def test_a_baseline_stands_second(tmp_path):
    path = seeded_board(tmp_path, {"a": (0.0, 0.1), "b": (0.2, 0.3)}, bm25=0.3)
    compared = compare(load([path]), Settings("baseline", "bm25"))
    assert [(item.first, item.second) for item in compared.recipes] == [("a", "bm25"), ("b", "bm25")]


def test_a_leaderboard_without_seeds_is_compared_as_ever(tmp_path):
    made_boards.board(tmp_path, {"a": {"m": made_boards.values(1)}, "b": {"m": made_boards.values(2)}})
    compared = compare(load([tmp_path / "leaderboard.json"]), Settings())
    assert compared.recipes == ()
    assert "over seeds" not in render(compared, "table").lower()
