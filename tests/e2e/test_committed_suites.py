"""The suites that the project ships can be checked and planned by anybody, whatever data and weights are here."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from running import Harness

pytestmark = pytest.mark.extras

LEADERBOARDS = Path(__file__).parents[2] / "leaderboards"
SUITES = sorted(LEADERBOARDS.glob("*/suite.yaml"))
VARIABLES = {name for path in SUITES for name in re.findall(r"\$\{(\w+)", path.read_text(encoding="utf-8"))}


@pytest.fixture(autouse=True)
def no_variables_and_no_network(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if importlib.util.find_spec("huggingface_hub"):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def test_there_are_suites():
    assert len(SUITES) >= 4


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.parent.name)
def test_a_suite_of_ours_passes_the_check_and_the_dry_run(suite: Path, harness: Harness):
    for words in (["check", suite], ["run", suite, "--dry-run"]):
        ran = harness.command(*words, "--store", harness.store)
        assert ran.code == 0, ran.err
        failures = [line for line in ran.out.splitlines() if "fails  " in line]
        assert [line for line in failures if "pip install 'passage-harness[" not in line] == []
        assert "needs: " in ran.out or suite.parent.name == "tour"


def test_the_suite_of_the_dapr_paper_has_its_whole_table(harness: Harness):
    found = harness.command("run", LEADERBOARDS / "dapr/suite.yaml", "--dry-run", "--store", harness.store)
    assert "132 rows" in found.out
    for model in ("facebook/dragon-plus-context-encoder", "colbert-ir/colbertv2.0"):
        assert f"needs: model {model}" in found.out or "pip install 'passage-harness[dense]'" in found.out
