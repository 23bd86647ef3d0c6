"""The suites that the project ships can be checked and planned by anybody, whatever data and weights are here."""

import importlib.util
import re
from pathlib import Path

import pytest
from running import Harness

import rehearsed
from harness import catalogue, suite

pytestmark = pytest.mark.extras

LEADERBOARDS, SUITES = rehearsed.LEADERBOARDS, rehearsed.SUITES
VARIABLES = {name for path in SUITES for name in re.findall(r"\$\{(\w+)", path.read_text(encoding="utf-8"))}


@pytest.fixture(autouse=True)
def no_variables_and_no_network(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if importlib.util.find_spec("huggingface_hub"):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_there_are_suites():
    assert len(SUITES) >= 4


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_a_suite_of_ours_passes_the_check_and_the_dry_run(path: Path, harness: Harness):
    for words in (["check", path], ["run", path, "--dry-run"]):
        ran = harness.command(*words, "--store", harness.store)
        assert ran.code == 0, ran.err
        failures = [line for line in ran.out.splitlines() if "fails  " in line]
        assert [line for line in failures if "pip install 'passage-harness[" not in line] == []
        assert "needs: " in ran.out or path.parent.name == "tour"


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_every_row_of_a_suite_of_ours_was_rehearsed(path: Path):
    rehearsal, rows = rehearsed.record()[path.parent.name], rehearsed.planned(path)
    assert rehearsal["digest"] == rehearsed.digest(rows), (
        "run test_rehearsed_suites.py, then tools/rehearsed.py --write"
    )


def test_the_suite_of_the_dapr_paper_has_the_rows_of_table_3_without_coreference():
    loaded = suite.load(LEADERBOARDS / "dapr/suite.yaml", catalogue.load())
    names = {system.name for system in loaded.systems}
    kinds = ("", " x documents", " hierarchical", " titles", " keyphrases")
    rows = {name + kind for name in ("dragon+", "spladev2", "colbertv2") for kind in kinds}
    assert {"bm25", *rows} <= names
    datasets = {spec.name for spec in loaded.datasets}
    assert datasets == {"msmarco", "natural-questions", "conditionalqa", "genomics", "miracl", "nq-hard"}


def test_the_dry_run_of_the_dapr_paper_names_the_models_that_it_needs(harness: Harness):
    ran = harness.command("run", LEADERBOARDS / "dapr/suite.yaml", "--dry-run", "--store", harness.store)
    for model in ("facebook/dragon-plus-context-encoder", "colbert-ir/colbertv2.0"):
        assert f"needs: model {model}" in ran.out or "pip install 'passage-harness[dense]'" in ran.out
