"""The committed suites together: every protocol is used by one, and none needs a variable to be read."""

import re
from pathlib import Path

import pytest
import yaml

from harness import catalogue, suite

LEADERBOARDS = Path(__file__).parents[3] / "leaderboards"
SUITES = sorted(LEADERBOARDS.glob("*/suite.yaml"))
# what each paper's suites are; the tables that they hold stand in the suites' first lines
PAPERS = {
    "DuReader-retrieval": (
        "dureader-retrieval",
        "dureader-out-of-domain",
        "dureader-cross-lingual",
        "dureader-transfer",
        "dureader-similar",
    ),
    "T2Ranking": ("t2ranking-queries", "t2ranking-retrieval", "t2ranking-reranking"),
    "RocketQAv2": ("rocketqav2-msmarco", "rocketqav2-nq", "rocketqav2-ablations", "training-zh-joint"),
    "DAPR": ("dapr", "dapr-coreference", "dapr-keyphrases", "dapr-own-context"),
    "survey": ("survey",),
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for path in SUITES:
        for name in re.findall(r"\$\{(\w+)", path.read_text(encoding="utf-8")):
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.parent.name)
def test_a_suite_is_read_without_any_variable(path):
    assert suite.load(path, catalogue.load()).name == path.parent.name


def test_every_protocol_that_ships_is_used_by_a_suite():
    used = {yaml.safe_load(path.read_text(encoding="utf-8")).get("protocol") for path in SUITES}
    assert set(catalogue.load().names("protocols")) <= used


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_the_suites_of_a_paper_name_it(paper):
    for name in PAPERS[paper]:
        assert paper.lower() in (LEADERBOARDS / name / "suite.yaml").read_text(encoding="utf-8").lower()
