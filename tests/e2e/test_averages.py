"""Averages over groups of datasets: recomputed by hand, their intervals by an independent bootstrap."""

from __future__ import annotations

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
    harness = Harness(tmp_path_factory.mktemp("averages"))
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
        ("{Avg.: [en]}", "averages.Avg.: an average is over two or more different datasets"),
        ("{Avg.: [en, en]}", "averages.Avg.: an average is over two or more different datasets"),
        ("[en, zh]", "averages: expected names with lists of datasets"),
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
