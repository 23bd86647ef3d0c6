"""Averages over groups of datasets: recomputed by hand, their intervals by an independent bootstrap."""

import csv

import numpy as np
import orjson
import pytest
from msgspec import structs
from running import Harness

from harness.leaderboard import board_file, model, published, text_tables
from harness.leaderboard.board_file import Leaderboard

SUITE = """
suite: groups
datasets:
  en: {tour: {language: en, documents: 30}}
  zh: {tour: {language: zh, documents: 20}}
systems:
  bm25: {retriever: bm25}
  titled: {context: [titles], retriever: bm25}
measures: [nDCG@10, MicroR@5]
averages: {Avg.: [en, zh]}
depth: 20
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    harness = Harness(tmp_path_factory.mktemp("averages"), here=True)
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    assert "Avg. (the mean of en, zh)" in ran.out
    return harness


def per_query(harness, dataset, system):
    with (harness.out / "per-query" / dataset / f"{system}.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def ratio_parts(lines, label):
    if label in lines[0]:
        return np.array([[float(line[label]), 1.0] for line in lines])
    return np.array(
        [[float(line[f"{label} {part}"]) for part in ("numerator", "denominator")] for line in lines]
    )


@pytest.mark.parametrize("label", ["nDCG@10", "MicroR@5"])
def test_an_average_and_its_interval_are_those_of_an_independent_computation(made, label):
    data = orjson.loads((made.out / "leaderboard.json").read_bytes())
    (average,) = data["averages"]
    assert (average["name"], average["datasets"]) == ("Avg.", ["en", "zh"])
    chance = np.random.default_rng(7)
    for row in average["rows"]:
        measure = row["measures"][label]
        parts = [ratio_parts(per_query(made, name, row["system"]), label) for name in ("en", "zh")]
        by_hand = np.mean([part[:, 0].sum() / part[:, 1].sum() for part in parts])
        assert measure["mean"] == pytest.approx(by_hand, abs=2e-6)
        assert measure["queries"] == sum(map(len, parts))
        means = np.zeros(4000)
        for part in parts:
            drawn = part[chance.integers(len(part), size=(4000, len(part)))].sum(axis=1)
            means += drawn[:, 0] / drawn[:, 1] / len(parts)
        low, high = np.quantile(means, (0.025, 0.975))
        assert measure["ci95"] == pytest.approx([low, high], abs=0.1 * (high - low))


@pytest.mark.parametrize("label", ["nDCG@10", "MicroR@5"])
def test_a_difference_of_averages_its_interval_and_its_p_are_those_of_an_independent_computation(made, label):
    ran = made.command("compare", made.out, "--baseline", "bm25", "--measure", label, "--format", "json")
    assert ran.code == 0, ran.err
    (pair,) = orjson.loads(ran.out)["averages"]
    assert (pair["average"], pair["first"], pair["second"]) == ("Avg.", "titled", "bm25")
    parts = [
        [ratio_parts(per_query(made, name, system), label) for system in ("titled", "bm25")]
        for name in ("en", "zh")
    ]
    means = np.array([[part[:, 0].sum() / part[:, 1].sum() for part in pairs] for pairs in parts])
    assert pair["difference"] == pytest.approx((means[:, 0] - means[:, 1]).mean(), abs=1e-6)
    assert pair["means"] == pytest.approx(means.mean(axis=0).tolist(), abs=1e-6)
    chance = np.random.default_rng(3)
    drawn = np.zeros(4000)
    flipped = np.zeros(4000)
    for titled, plain in parts:
        places = chance.integers(len(plain), size=(4000, len(plain)))
        above, below = (part[places].sum(axis=1) for part in (titled, plain))
        drawn += (above[:, 0] / above[:, 1] - below[:, 0] / below[:, 1]) / 2
        # in both measures the denominators of two systems are the same, so a sign may stand for an exchange
        shares = (titled[:, 0] - plain[:, 0]) / plain[:, 1].sum()
        flipped += (chance.choice([-1, 1], size=(4000, len(plain))) @ shares) / 2
    low, high = np.quantile(drawn, (0.025, 0.975))
    assert pair["interval"] == pytest.approx([low, high], abs=0.1 * (high - low))
    p = (1 + np.count_nonzero(np.abs(flipped) >= abs(pair["difference"]) - 1e-12)) / 4001
    assert pair["p"] == pytest.approx(p, abs=0.01)
    assert pair["corrected"] == pair["p"]  # of one pair


def test_filters_that_leave_out_a_dataset_leave_out_its_average(made):
    ran = made.command("compare", made.out, "--dataset", "en", "--format", "json")
    assert orjson.loads(ran.out)["averages"] == []
    ran = made.command("compare", made.out)
    assert "Avg. (the mean of en, zh): nDCG@10, differences" in ran.out


def test_a_system_that_failed_on_a_dataset_has_no_average_and_merging_computes_it_again(made, tmp_path):
    for name in ("en", "zh"):
        ran = made.command(
            "run", "suite.yaml", "--only", f"{name}/*", "--store", made.store, "--out", tmp_path / name
        )
        assert ran.code == 0, ran.err
        assert orjson.loads((tmp_path / name / "leaderboard.json").read_bytes())["averages"][0]["rows"] == []
    ran = made.command("merge", tmp_path / "en", tmp_path / "zh", "--out", tmp_path / "both")
    assert ran.code == 0, ran.err
    merged, whole = (
        orjson.loads((folder / "leaderboard.json").read_bytes()) for folder in (tmp_path / "both", made.out)
    )
    assert merged["averages"] == whole["averages"]


@pytest.mark.parametrize(
    ("averages", "what"),
    [
        ("{Avg.: [en, fr]}", "averages.Avg.: 'fr' is no scored dataset of the suite"),
        ("{en: [en, zh]}", "averages.en: 'en' is the name of a dataset"),
        ("{Avg.: [en]}", "suite.yaml:10: averages.Avg.: expected"),
        ("{Avg.: [en, en]}", "suite.yaml:10: averages.Avg.: expected"),
        ("[en, zh]", "suite.yaml:10: averages: expected"),
    ],
)
def test_a_group_that_is_none_is_refused(harness, averages, what):
    harness.suite(SUITE.replace("{Avg.: [en, zh]}", averages))
    ran = harness.command("check", "suite.yaml")
    assert ran.code == 2
    assert what in ran.err


def test_a_papers_average_stands_beside_the_suites(made):
    board = board_file.read(made.out)
    measure = model.Measure(0.5, None, None)
    row = model.published_row(
        dataset="Avg.", split="test", system="theirs", protocol=None, measures={"nDCG@10": measure}
    )
    paper = Leaderboard(structs.replace(board.data, name="paper", rows=(row,)), board.folder)
    together = published.beside(board, [paper])
    (average,) = together.data.averages
    assert [line.system for line in average.rows] == ["bm25", "titled", "theirs"]
    assert together.data.rows == board.data.rows
    assert "theirs (published)" in text_tables.render(together, "table")
