"""`harness inspect` and `harness report` as a user calls them: what they print, and what they refuse."""

import json

import pytest
from running import Harness

SUITE = {
    "suite": "looked-at",
    "datasets": {"toy": "toy"},
    "systems": {
        "plain": {"retriever": "overlap"},
        "loud": {"context": ["shout"], "retriever": "overlap"},
        "whole": {"retriever": "overlap", "unit": "document"},
    },
    "measures": ["nDCG@10", "R@20"],
    "depth": 20,
}


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """A terminal in which no line of these tests is wrapped."""
    monkeypatch.setenv("COLUMNS", "140")


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    harness = Harness(tmp_path_factory.mktemp("looked"), here=True)
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return harness


def inspect(harness: Harness, *arguments: object, code: int = 0) -> str:
    ran = harness.command("inspect", *map(str, arguments), "--store", harness.store)
    assert ran.code == code, ran.out + ran.err
    return ran.out if code == 0 else ran.err


def first_query(harness: Harness) -> str:
    return (harness.out / "per-query" / "toy" / "plain.tsv").read_text().splitlines()[1].split("\t")[0]


def test_a_query_is_shown_across_systems(looked):
    query = first_query(looked)
    text = inspect(looked, looked.out, "--query", query, "--systems", "loud", "whole", "--top", 2)
    assert f"toy · query {query}" in text
    assert "loud" in text
    assert "relevant documents:" in text
    assert "plain" not in text


def test_a_measure_narrows_the_values_of_a_query(looked):
    query = first_query(looked)
    text = inspect(looked, looked.out, "--query", query)
    assert "R@20" in text
    text = inspect(looked, looked.out, "--query", query, "--measure", "nDCG@10")
    assert "nDCG@10" in text
    assert "R@20" not in text


def test_without_the_store_only_ids_are_shown_and_it_says_so(looked, tmp_path):
    ran = looked.command("inspect", looked.out, "--query", first_query(looked), "--store", tmp_path / "empty")
    assert ran.code == 0, ran.err
    assert "not at hand: toy: the store has no corpus" in ran.out
    assert "the judgements are not here: name the store of the run with --store DIR" in ran.out
    assert "not judged" not in ran.out
    assert "no relevant" not in ran.out


def test_differences_and_failures_are_listed(looked):
    assert "nDCG@10: plain is better on" in inspect(looked, looked.out, "--differ", "plain", "loud")
    text = inspect(looked, looked.out, "--failures", "--systems", "whole")
    assert "whole: queries on which document nDCG@10 is 0" in text


def test_a_passage_is_shown_before_and_after_context_from_an_empty_store(looked, tmp_path):
    id = json.loads(inspect_written(looked, tmp_path).splitlines()[0])["id"]
    ran = looked.command("inspect", "suite.yaml", "--passage", id, "--context", "--store", tmp_path / "new")
    assert ran.code == 0, ran.err
    assert ran.out.index("as it was read") < ran.out.index("shout")
    assert "search" not in ran.err  # nothing was retrieved for it
    plain = looked.command("inspect", "suite.yaml", "--passage", id, "--store", tmp_path / "new")
    assert "shout" not in plain.out


def inspect_written(harness: Harness, folder) -> str:
    out = inspect(harness, "suite.yaml", "--write", folder / "composed")
    assert "12" in out or "passages" in out
    (path,) = (folder / "composed" / "toy").iterdir()
    assert path.name == "shout.jsonl"
    return path.read_text()


@pytest.mark.parametrize(("arguments", "says"), [
    (("out", "--query", "nobody"), "--query 'nobody'"),
    (("out", "--query", "q", "--systems", "plian"), "did you mean 'plain'?"),
    (("out", "--query", "q", "--measure", "ndcg@10"), "did you mean 'nDCG@10'?"),
    (("out", "--passage", "p"), "--passage and --write read a suite"),
    (("suite.yaml", "--failures"), "--failures read a leaderboard"),
    (("suite.yaml", "--passage", "nowhere"), "--passage 'nowhere'"),
    (("suite.yaml", "--passage", "p", "--dataset", "x"), "--dataset 'x'"),
    (("nothing.json", "--failures"), "nothing.json: cannot be read"),
])  # fmt: skip
def test_what_cannot_be_shown_is_refused_with_advice(looked, arguments, says):
    assert says in inspect(looked, *arguments, code=2)


@pytest.mark.extras
def test_a_report_and_its_pictures_are_written(looked):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    ran = looked.command(
        "report", looked.out, "--store", looked.store, "--out", looked.folder / "a" / "r.html"
    )
    assert ran.code == 0, ran.err
    assert (looked.folder / "a" / "r.html").read_text().startswith("<!doctype html>")
    readme = (looked.out / "README.md").read_text()
    assert "## Pictures" not in readme
    for _ in range(2):  # the second time they are replaced
        assert looked.command("pictures", looked.out).code == 0
        shown = (looked.out / "README.md").read_text()
        assert shown.count("## Pictures") == 1
        assert "![nDCG@10 against cost on toy](pictures/toy-cost.svg)" in shown
        assert (looked.out / "pictures" / "toy-cost.svg").read_text().startswith("<svg")
    assert looked.run().code == 0  # a run keeps them in the README that it writes
    assert "## Pictures" in (looked.out / "README.md").read_text()


@pytest.mark.extras
def test_a_report_of_a_changed_value_is_refused(looked, tmp_path):
    pytest.importorskip("vl_convert", reason="needs the extra report")
    import shutil

    shutil.copytree(looked.out, tmp_path / "out")
    path = tmp_path / "out" / "per-query" / "toy" / "plain.tsv"
    path.write_text(path.read_text() + "extra\t1.0\t1.0\n")
    ran = looked.command("report", tmp_path / "out", "--store", looked.store)
    assert ran.code == 2
    assert "plain.tsv" in ran.err
    assert not (tmp_path / "out" / "report.html").exists()
