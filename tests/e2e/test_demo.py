"""The demo gives the leaderboard that the repository holds, and shows what it was made to show."""

from pathlib import Path

import orjson
import pytest
from running import Harness, leaderboard

pytestmark = pytest.mark.extras

TOUR = Path(__file__).parents[2] / "leaderboards" / "tour"


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    harness = Harness(tmp_path_factory.mktemp("tour"))
    ran = harness.run(TOUR / "suite.yaml")
    assert ran.code == 0, ran.err
    assert "leaderboard: " in ran.out
    return harness


def test_its_numbers_are_those_of_the_committed_leaderboard(toured):
    ours, theirs = leaderboard(toured.out), orjson.loads((TOUR / "leaderboard.json").read_bytes())
    assert ours["suite"] == theirs["suite"]
    for mine, committed in zip(ours["datasets"], theirs["datasets"], strict=True):
        del mine["digests"], committed["digests"]  # they change with the sources of an editable install
        assert mine == committed
    for mine, committed in zip(ours["rows"], theirs["rows"], strict=True):
        assert (mine["dataset"], mine["system"]) == (committed["dataset"], committed["system"])
        for label, value in committed["measures"].items():
            assert mine["measures"][label]["mean"] == pytest.approx(value["mean"], abs=1e-5), mine["system"]


@pytest.mark.parametrize("dataset", ["tour-en", "tour-zh"])
def test_it_shows_what_documents_bring(toured, dataset):
    rows = {row["system"]: row for row in leaderboard(toured.out)["rows"] if row["dataset"] == dataset}

    def score(system: str, part: str | None = None, label: str = "nDCG@10") -> float:
        found = rows[system]["slices"][part] if part else rows[system]
        return found["measures"][label]["mean"]

    assert score("bm25", "self-contained") > 0.9
    for hard in ("acronym", "coreference", "main-topic", "multi-hop"):
        assert score("bm25", hard) < 0.2
        assert score("convex", hard, "document nDCG@10") > 0.9  # it finds the document, not the passage
        assert score("convex", hard) < 0.5
    assert score("bm25+titles", "main-topic") > score("bm25", "main-topic") + 0.3
    assert score("convex") > score("bm25") + 0.1
    assert score("convex+titles") == max(score(system) for system in rows if system != "documents")
