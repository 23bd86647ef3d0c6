"""`harness run --limit`, `--sample` and `--set`: trials are marked, kept apart, and verified as such."""

import pytest
import yaml
from running import leaderboard, rows

SUITE = {
    "suite": "s",
    "datasets": {"tour": {"tour": {"documents": 40}}},
    "systems": {"bm25": {"retriever": "bm25"}},
    "measures": ["nDCG@10"],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One store for all, so that equal trials are searched once."""
    return tmp_path_factory.mktemp("trial") / "store"


@pytest.fixture
def command(harness, store):
    harness.suite(SUITE)
    return lambda *arguments: harness.command("run", "suite.yaml", "--store", store, *arguments)


def test_a_trial_is_marked_and_lies_apart_from_the_full_run(harness, command, store):
    assert command().code == 0
    full = leaderboard(harness.folder)
    ran = command("--limit", "5", "--sample", "10", "--set", "systems.bm25.retriever.bm25.k1=1.5")
    assert ran.code == 0, ran.err
    assert "a trial: not comparable" in ran.out
    trial = leaderboard(harness.folder / "trial")
    dataset, (row,) = trial["datasets"][0], trial["rows"]
    assert dataset["limited"] == {"queries": 5, "passages": 10}
    assert dataset["counts"]["queries"] == 5
    assert dataset["counts"]["passages"] < full["datasets"][0]["counts"]["passages"]
    assert row["flags"] == ["a trial, limited to 5 queries and 10 passages: not comparable with a full run"]
    assert {dataset["digests"][part] for part in ("corpus", "queries", "judgements")}.isdisjoint(
        full["datasets"][0]["digests"].values()
    )
    assert leaderboard(harness.folder) == full
    page = (harness.folder / "trial" / "README.md").read_text()
    assert "harness run suite.yaml --set systems.bm25.retriever.bm25.k1=1.5 --limit 5 --sample 10" in page
    compared = harness.command("compare", ".", "trial")
    assert compared.code == 2
    assert "compare runs on the same data" in compared.err
    verified = harness.command("verify", "trial", "--store", store)
    assert (verified.code, "1 verified" in verified.out) == (0, True), verified.err


def test_a_trial_does_not_replace_a_full_leaderboard_unless_told_to(harness, command):
    assert command().code == 0
    refused = command("--limit", "5", "--out", ".")
    assert refused.code == 2
    assert (
        "leaderboard.json: is of a run without limits; give the trial a folder with --out DIR" in refused.err
    )
    assert command("--limit", "5", "--out", ".", "--replace").code == 0
    assert leaderboard(harness.folder)["datasets"][0]["limited"] == {"queries": 5}


def test_a_limit_in_the_suite_is_the_same_trial(harness, command):
    assert command("--limit", "5").code == 0
    harness.suite({**SUITE, "datasets": {"tour": {"tour": {"documents": 40}, "limit": 5}}})
    assert command().code == 0
    one, other = rows(harness.folder / "trial")["bm25"], rows(harness.folder)["bm25"]
    assert one["provenance"]["fingerprint"] == other["provenance"]["fingerprint"]
    assert one["measures"] == other["measures"]


def test_published_numbers_do_not_stand_beside_a_trial(harness, command, published):
    assert command("--limit", "5").code == 0
    shown = harness.command("show", "trial", "--beside", published)
    assert shown.code == 2
    assert "s: is a trial, limited on tour; published numbers are of whole collections" in shown.err


@pytest.fixture
def published(harness, store):
    """Any leaderboard: that one of the two is a trial is enough."""
    harness.suite({**SUITE, "systems": {"ql": {"retriever": "ql"}}}, "other.yaml")
    assert harness.command("run", "other.yaml", "--store", store, "--out", "other").code == 0
    harness.suite(yaml.safe_load(yaml.safe_dump(SUITE)))
    return "other"
