"""Lucene on SciFact: Anserini's published values, and the embedded engine beside it."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from harness import api
from harness.scoring.run_files import read_run

pytestmark = pytest.mark.real
SUITE = Path(__file__).parents[2] / "leaderboards" / "scifact-lexical" / "suite.yaml"
PAIRS = {  # the embedded engine with Lucene's lengths -> Lucene
    "bm25-lucene-lengths": "lucene-bm25",
    "ql-lucene-lengths": "lucene-ql",
    "ql-jm-lucene-lengths": "lucene-ql-jm",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Where the suite's run files are, and its means: system -> measure -> mean."""
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    if any(importlib.util.find_spec(name) is None for name in ("jnius", "pyserini")):
        pytest.skip("the extra 'lucene' is not installed")
    folder = tmp_path_factory.mktemp("scifact")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HARNESS_SCIFACT", str(Path(os.environ["HARNESS_REAL_DATA"], "scifact")))
        leaderboard = api.run(SUITE, out=folder / "out", store=folder / "store", quiet=True)
    assert [row.error for row in leaderboard.rows if row.status != "ok"] == []
    means = {
        row.system: {name: measure.mean for name, measure in row.measures.items()} for row in leaderboard.rows
    }
    return folder / "out" / "runs" / "scifact", means


def test_bm25_has_the_published_values_of_anserinis_flat_index(ran):
    _, means = ran
    assert {name: round(value, 4) for name, value in means["lucene-bm25"].items()} == {
        "nDCG@10": 0.6789,
        "R@100": 0.9253,
        "R@1000": 0.9767,
        "RR@10": 0.6457,
    }


def test_a_title_field_has_the_published_values_of_anserinis_multifield_index(ran):
    _, means = ran
    found = [round(means["lucene-bm25-fields"][name], 4) for name in ("nDCG@10", "R@100", "R@1000")]
    assert found == [0.6647, 0.9076, 0.9800]


@pytest.mark.parametrize(("embedded", "lucene"), PAIRS.items())
def test_both_engines_have_the_same_values_with_lucenes_lengths(ran, embedded, lucene):
    _, means = ran
    assert means[embedded] == pytest.approx(means[lucene], abs=0.001)


@pytest.mark.parametrize(("embedded", "lucene"), PAIRS.items())
def test_the_first_hundred_are_the_same_in_the_same_order(ran, embedded, lucene):
    folder, _ = ran
    ours, theirs = (table(folder / f"{system}.run.gz") for system in (embedded, lucene))
    assert ours.keys() == theirs.keys()
    for query in ours:
        check_order(ours[query], theirs[query], depth=100)


def table(path):
    """Query -> passage -> score, best first."""
    run = read_run(path)
    ids = np.array(run.passage_ids, object)
    return {
        query: dict(zip(ids[row[row >= 0]].tolist(), scores[row >= 0].tolist(), strict=True))
        for query, row, scores in zip(run.query_ids, run.hits.passages, run.hits.scores, strict=True)
    }


def check_order(ours, theirs, depth):
    """Of two rankings the first `depth` are the same passages, in the same order wherever two scores differ by
    more than 1e-5; at the end there may be another one of an equal score."""
    first, second = list(ours)[:depth], list(theirs)[:depth]
    for passage in set(first) ^ set(second):
        assert theirs[passage] == equal(theirs[second[-1]])
    for a, b in zip(first, second, strict=True):
        assert ours[a] == equal(theirs[b])
        assert a == b or theirs[a] == equal(theirs[b])


def equal(score):
    """Sums of query likelihood reach hundreds, where a float32 has fewer digits behind the point."""
    return pytest.approx(score, abs=1e-5, rel=3e-7)
