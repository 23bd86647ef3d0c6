"""`harness score`: runs that were made elsewhere stand on a leaderboard like any other."""

import gzip
import os
import shutil
from pathlib import Path

import pytest
from running import Harness, leaderboard, rows, small_collection

SUITE = """
suite: small
datasets: {tiny: {files: {path: data, split: test, language: en, exclude_self: true}}}
systems: {bm25: {retriever: bm25}}
measures: [nDCG@10, R@20, MicroR@5, document R@20]
depth: 20
"""
JUDGED = [("q0", "p1", 1), ("q0", "p4", 2), ("q1", "p2", 1), ("q2", "p3", 1), ("q2", "p0", 0)]
MEASURES = ("--measures", "nDCG@10", "R@20", "MicroR@5")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A suite's leaderboard, its run as a stranger would have it, and the judgements in TREC's form."""
    harness = Harness(tmp_path_factory.mktemp("score"), here=True)
    small_collection(harness.folder / "data", JUDGED)
    trec = "".join(f"{query} 0 {passage} {grade}\n" for query, passage, grade in JUDGED)
    (harness.folder / "tiny.qrels").write_text(trec, encoding="utf-8")
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    packed = (harness.out / "runs" / "tiny" / "bm25.run.gz").read_bytes()
    (harness.folder / "theirs.run").write_bytes(gzip.decompress(packed))
    return harness


@pytest.fixture
def copy(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "copy")
    return Harness(tmp_path / "copy", here=True)


def score(harness, *options, run="theirs.run", out="scored"):
    return harness.command("score", "--run", run, "--store", harness.store, "--out", out, *options)


def on_qrels(harness, *options, **named):
    return score(harness, "--qrels", "tiny.qrels", *MEASURES, *options, **named)


def test_judgements_and_a_run_give_the_numbers_that_the_suite_gives(copy):
    ran = on_qrels(copy)
    assert ran.code == 0, ran.err
    assert "theirs (imported)" in ran.out
    found, suite = rows(copy.folder / "scored")["theirs"], rows(copy.out)["bm25"]
    assert found["origin"] == "imported"
    for label, value in found["measures"].items():
        assert value == suite["measures"][label]
    values = (copy.folder / "scored" / "per-query" / "tiny" / "theirs.tsv").read_text().splitlines()
    assert values[0].split("\t") == ["query", "nDCG@10", "R@20", "MicroR@5 numerator", "MicroR@5 denominator"]
    page = (copy.folder / "scored" / "README.md").read_text()
    assert "harness score --run theirs.run --qrels tiny.qrels --measures nDCG@10" in page
    assert "cost" not in page
    assert str(copy.folder) not in page


def test_it_is_verified_with_nothing_else_and_a_changed_judgement_is_named(copy):
    assert on_qrels(copy).code == 0
    shutil.move(copy.folder / "scored", copy.folder / "elsewhere")
    (copy.folder / "tiny.qrels").unlink()
    ran = copy.command("verify", "elsewhere", "--store", "empty")
    assert ran.code == 0, ran.out + ran.err
    assert "verified   tiny / theirs" in ran.out
    path = copy.folder / "elsewhere" / "qrels" / "tiny.qrels"
    path.write_text(path.read_text().replace("q0 0 p1 1", "q0 0 p1 0"), encoding="utf-8")
    ran = copy.command("verify", "elsewhere", "--store", "empty")
    assert ran.code == 1
    assert "qrels/tiny.qrels: its SHA-256 is" in ran.out
    assert "wrong: tiny: the judgements here are" in ran.out
    assert "query q0: nDCG@10 is" in ran.out
    path.unlink()
    ran = copy.command("verify", "elsewhere", "--store", "empty")
    assert ran.code == 2
    assert "unchecked  tiny / theirs" in ran.out


def test_it_is_compared_with_the_suite_on_the_same_judgements(copy):
    assert on_qrels(copy).code == 0
    ran = copy.command("compare", copy.out, "scored", "--measure", "nDCG@10")
    assert ran.code == 0, ran.err
    assert "all 2 systems have the same values" in ran.out
    text = (copy.folder / "tiny.qrels").read_text()
    (copy.folder / "tiny.qrels").write_text(text.replace("q1 0 p2 1", "q1 0 p2 2"))
    assert on_qrels(copy).code == 0
    ran = copy.command("compare", copy.out, "scored")
    assert ran.code == 2
    assert "is other data than in" in ran.err


def test_it_is_inspected_with_its_grades_and_no_text(copy):
    assert on_qrels(copy).code == 0
    ran = copy.command("inspect", "scored", "--query", "q0", "--store", "empty")
    assert ran.code == 0, ran.err
    assert "p4" in ran.out
    assert "relevant passages:" in ran.out


def test_a_run_joins_the_leaderboard_of_a_suite(copy):
    ran = score(copy, "--suite", "suite.yaml")
    assert ran.code == 0, ran.err
    found, suite = rows(copy.folder / "scored")["theirs"], rows(copy.out)["bm25"]
    assert found["measures"] == suite["measures"]
    assert "document R@20" in found["measures"]
    ran = copy.command("merge", copy.out, "scored", "--out", "both")
    assert ran.code == 0, ran.err
    assert sorted(rows(copy.folder / "both")) == ["bm25", "theirs"]
    ran = copy.command("verify", "both", "--store", copy.store, "--suite", "suite.yaml")
    assert ran.code == 0, ran.out + ran.err
    assert "2 verified" in ran.out


def test_what_was_scored_on_a_suite_is_verified_without_being_told_where_it_is(copy):
    ran = score(copy, "--suite", "suite.yaml")
    assert ran.code == 0, ran.err
    for store in ((), ("--store", "elsewhere")):  # with another store the data are read again
        ran = copy.command("verify", "scored", *store)
        assert ran.code == 0, ran.out + ran.err
        assert "1 verified" in ran.out


def test_the_suites_exclusions_hold_for_a_foreign_run_too(copy):
    queries = copy.folder / "data" / "queries.jsonl"
    queries.write_text(queries.read_text().replace('"q1"', '"p2"'), encoding="utf-8")
    judged = copy.folder / "data" / "qrels" / "test.tsv"
    judged.write_text(judged.read_text().replace("q1\tp2", "p2\tp0"), encoding="utf-8")
    (copy.folder / "own.run").write_text("p2 Q0 p2 1 9 x\np2 Q0 p0 2 8 x\n", encoding="utf-8")
    ran = score(copy, "--suite", "suite.yaml", run="own.run")
    assert ran.code == 0, ran.err
    with gzip.open(copy.folder / "scored" / "runs" / "tiny" / "own.run.gz", "rt") as file:
        assert file.read() == "p2 Q0 p0 1 8.0 own\n"
    facts = rows(copy.folder / "scored")["own"]["reported"][0]["facts"]
    assert facts["results beyond the depth or excluded, left out"] == 1


def test_merging_what_knows_judgements_alone_with_a_suite_is_refused(copy):
    (copy.folder / "suite.yaml").write_text(SUITE.replace(", document R@20", ""))
    assert copy.run().code == 0
    assert on_qrels(copy, "--depth", "20").code == 0
    ran = copy.command("merge", copy.out, "scored", "--out", "both")
    assert ran.code == 2
    assert "tiny: scored knows its judgements alone" in ran.err
    assert not (copy.folder / "both").exists()


def test_two_leaderboards_of_the_same_judgements_are_merged_and_verified(copy):
    assert on_qrels(copy).code == 0
    (copy.folder / "other.run").write_text("q0 Q0 new 1 2.0 t\nq0 Q0 p1 2 1.0 t\n", encoding="utf-8")
    assert on_qrels(copy, run="other.run", out="second").code == 0
    ran = copy.command("merge", "scored", "second", "--out", "both")
    assert ran.code == 0, ran.err
    ran = copy.command("verify", "both", "--store", "empty")
    assert ran.code == 0, ran.out
    assert "2 verified" in ran.out


def test_a_suites_own_leaderboard_is_not_written_over(copy):
    before = leaderboard(copy.out)
    ran = score(copy, "--suite", "suite.yaml", out="out")
    assert ran.code == 2
    assert "holds a leaderboard with other rows than imported ones" in ran.err
    assert leaderboard(copy.out) == before


def test_queries_without_judgements_and_deep_results_are_left_out_and_counted(copy):
    lines = [f"q0 Q0 p{rank} {rank} {-rank} t\n" for rank in range(30)] + ["q7 Q0 p1 1 1 t\n"]
    (copy.folder / "deep.run").write_text("".join(lines), encoding="utf-8")
    ran = on_qrels(copy, "--depth", "20", run="deep.run")
    assert ran.code == 0, ran.err
    row = rows(copy.folder / "scored")["deep"]
    assert row["reported"][0]["facts"] == {
        "file": "deep.run",
        "form": "trec",
        "ordered by": "score",
        "tag": "t",
        "queries of the file": 2,
        "queries that the dataset lacks, left out": 1,
        "results beyond the depth or excluded, left out": 10,
    }
    assert row["scored"]["queries"] == 3
    assert row["scored"]["unanswered"] == 2
    assert "note: tiny / deep: 2 of its queries have no hits: each scores 0" in ran.out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--qrels", "tiny.qrels", "--measures", "nDGC@10"), "--measures: "),
        (("--qrels", "tiny.qrels", "--measures", "document R@5"), "'document R@5' is of documents"),
        (("--qrels", "tiny.qrels", "--protocol", "dapr"), "--protocol: 'document nDCG@10' is of documents"),
        (("--qrels", "tiny.qrels", "--measures", "R@100", "--depth", "20"), "set depth: 100 or more"),
        (("--qrels", "nowhere"), "nowhere: there is no such file"),
        (("--qrels", "tiny.qrels", "--dataset", "a/b"), "--dataset 'a/b': cannot name a file"),
        (("--suite", "suite.yaml", "--measures", "R@5"), "--measures: is what the suite says"),
        (
            ("--suite", "suite.yaml", "--dataset", "big"),
            "has no dataset 'big'; name one with --dataset: tiny",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(copy, options, told):
    ran = score(copy, *options)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert not (copy.folder / "scored").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x Q0 p1 1 1 t\n", "strange.run: none of its queries is one of the dataset"),
        ("q0 Q0 px 1 1 t\n", "strange.run: the corpus has no passage 'px'"),
    ],
)
def test_a_run_of_other_ids_is_refused(copy, line, told):
    (copy.folder / "strange.run").write_text(line, encoding="utf-8")
    ran = score(copy, "--suite", "suite.yaml", run="strange.run")
    assert ran.code == 2
    assert told in ran.err


@pytest.mark.real
def test_the_three_runs_of_dl_hard_give_the_authors_means_a_comparison_and_a_report(tmp_path):
    data = os.environ.get("HARNESS_REAL_DATA")
    if data is None or not Path(data, "dl-hard").is_dir():
        pytest.skip("HARNESS_REAL_DATA names no folder that holds dl-hard")
    folder, harness = Path(data, "dl-hard"), Harness(tmp_path, here=True)
    names = {  # ours, at the authors' relevance level -> trec_eval's
        "nDCG@10": "ndcg_cut_10",
        "RR(rel=2)": "recip_rank",
        "R(rel=2)@100": "recall_100",
        "AP(rel=2)": "map",
        "P(rel=2)@10": "P_10",
        "nDCG@1000": "ndcg_cut_1000",
    }
    runs = sorted(folder.glob("*.run.gz"))
    ran = harness.command(
        "score", "--run", *runs, "--qrels", folder / "passage.qrels", "--measures", *names, "--out", "scored"
    )
    assert ran.code == 0, ran.err
    by_system = rows(tmp_path / "scored")
    assert sorted(by_system) == ["bm25", "bm25+bert-zs", "bm25+t5-zs"]
    for system, row in by_system.items():
        means, values = published(folder / f"{system}.eval.gz")
        for label, name in names.items():
            assert f"{row['measures'][label]['mean']:.4f}" == means[name], (system, label)
        lines = (tmp_path / "scored" / row["files"]["per_query"]["path"]).read_text().splitlines()
        heads = lines[0].split("\t")
        assert heads[1:] == list(names)
        for line in lines[1:]:
            query, *cells = line.split("\t")
            for label, cell in zip(names, cells, strict=True):
                assert f"{float(cell):.4f}" == values[query, names[label]], (system, query, label)
    assert harness.command("verify", "scored").code == 0
    ran = harness.command("compare", "scored", "--baseline", "bm25", "--measure", "nDCG@10")
    assert ran.code == 0, ran.err
    assert "bm25+t5-zs - bm25" in ran.out
    pytest.importorskip("vl_convert", reason="the report needs the extra 'report'")
    ran = harness.command("report", "scored")
    assert ran.code == 0, ran.err
    assert "bm25+t5-zs" in (tmp_path / "scored" / "report.html").read_text(encoding="utf-8")


def published(path):
    """What trec_eval printed: name -> mean, and (query, name) -> value, as text."""
    means, values = {}, {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        name, query, value = line.split()
        if query == "all":
            means[name] = value
        else:
            values[query, name] = value
    return means, values
