"""`harness show` sorted, cut, over all datasets, and marked against a baseline."""

import csv
import io

import numpy as np
import orjson
import pytest
from made_boards import board, values

from harness.cli import main
from harness.leaderboard import board_file, overall, selection


@pytest.fixture
def shown(tmp_path):
    """Three systems in two columns, with means as their values have them; `d` is far above `base`."""
    systems = {
        "base": {"nDCG@10": values(1), "R@100": values(2)},
        "d": {"nDCG@10": values(1) + 0.3, "R@100": values(2) - 0.001},
        "failed": None,
        "same": {"nDCG@10": values(1)[::-1], "R@100": values(3)},
    }
    folder = board(tmp_path, systems)
    content = orjson.loads((folder / "leaderboard.json").read_bytes())
    for row in content["rows"]:
        for label in row["measures"]:
            row["measures"][label]["mean"] = round(float(np.mean(systems[row["system"]][label])), 6)
    (folder / "leaderboard.json").write_bytes(orjson.dumps(content))
    return folder


def two_datasets(folder, second):
    """The leaderboard with a second dataset, whose means are given."""
    content = orjson.loads((folder / "leaderboard.json").read_bytes())
    content["datasets"].append({**content["datasets"][0], "name": "e"})
    for row in list(content["rows"]):
        if row["system"] in second:
            measures = {
                label: {**measure, "mean": second[row["system"]]}
                for label, measure in row["measures"].items()
            }
            content["rows"].append({**row, "dataset": "e", "measures": measures})
    (folder / "leaderboard.json").write_bytes(orjson.dumps(content))
    return board_file.read(folder)


def systems_of(text):
    return [line.split()[0] for line in text.splitlines() if line.startswith("  ") and "---" not in line][1:]


def test_the_best_by_a_measure_comes_first_and_failed_rows_last(shown, capsys):
    assert main(["show", str(shown), "--sort", "nDCG@10"]) == 0
    assert systems_of(capsys.readouterr().out) == ["d", "base", "same", "failed"]
    assert main(["show", str(shown), "--sort", "R@100", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    scored = [float(row["R@100"]) for row in rows if row["R@100"]]
    assert scored == sorted(scored, reverse=True)


def test_only_the_measures_and_datasets_that_match_are_shown(shown, capsys):
    two_datasets(shown, {"base": 0.1})
    assert main(["show", str(shown), "--measure", "R@*", "--dataset", "e"]) == 0
    text = capsys.readouterr().out
    assert "nDCG@10" not in text
    assert "R@100" in text
    assert systems_of(text) == ["base"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--sort", "ndcg@10"], "--sort ndcg@10: matches no measure; did you mean 'nDCG@10'?"),
        (["--measure", "RR"], "--measure RR: matches no measure"),
        (["--dataset", "x"], "--dataset x: matches no dataset"),
        (["--baseline", "x"], "--baseline x: there is no such system"),
        (["--overall"], "--overall: needs a measure that two datasets have"),
        (["--overall", "--sort", "R@100"], "--overall: is sorted by each measure's mean"),
        (["--baseline", "base", "--format", "csv"], "--baseline: marks tables only"),
    ],
)
def test_what_cannot_be_shown_is_refused(shown, capsys, options, problem):
    assert main(["show", str(shown), *options]) == 2
    assert problem in capsys.readouterr().err


def test_marks_say_what_is_significantly_different_from_the_baseline(shown, capsys):
    assert main(["show", str(shown), "--baseline", "base", "--measure", "nDCG@10"]) == 0
    text = capsys.readouterr().out
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert " = " in lines["base"]
    assert "* † " in lines["d"]
    assert not set("†=‡") & set(lines["same"])
    assert (
        "† and ‡ mark what is significantly better and worse than base (=); paired randomisation test" in text
    )


def test_ranks_and_means_are_over_the_systems_that_have_every_dataset(shown):
    found = overall.overall(two_datasets(shown, {"base": 0.2, "same": 0.1}), "nDCG@10")
    means = {line.system: line.means for line in found}
    assert [line.system for line in found] == ["base", "same", "d"]
    assert found[0].mean == pytest.approx((means["base"]["d"] + 0.2) / 2)
    assert (found[0].ranks, found[0].rank) == ({"d": 1, "e": 1}, 1.0)  # `base` and `same` tie on d
    assert (found[1].ranks, found[1].rank) == ({"d": 1, "e": 2}, 1.5)
    assert (found[2].mean, found[2].rank, found[2].ranks) == (None, None, {})


def test_the_overall_table_has_ranks_in_brackets(shown, capsys):
    two_datasets(shown, {"base": 0.2, "same": 0.1, "d": 0.1})
    assert main(["show", str(shown), "--overall", "--measure", "nDCG@10"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("nDCG@10 over 2 datasets (ranks in brackets)\n")
    assert "0.1000 (2)" in text
    assert "0.2000 (1)" in text


def test_a_selection_of_everything_keeps_the_rows(shown):
    made = board_file.read(shown)
    assert selection.selected(made).data.rows == made.data.rows
