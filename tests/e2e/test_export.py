"""`harness export`: what it writes is read again by whoever reads such files."""

import csv
import gzip
import re
import shutil
from pathlib import Path

import orjson
import pytest
import yaml
from running import Harness, rows

from harness.collection import qrels_files
from harness.errors import HarnessError
from harness.scoring import run_files
from take_in import take_in

SUITE = """
suite: small
datasets: {tour: {tour: {documents: 20}}}
systems:
  bm25: {context: [titles], retriever: bm25}
  whole: {retriever: bm25, unit: document}
  both: {of: [bm25, whole], combine: {convex: {weight: 0.5}}, rerank: {sdm: {}, depth: 5}}
measures: [nDCG@10, R@20, RR, MicroR@5]
depth: 20
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    harness = Harness(tmp_path_factory.mktemp("export"), here=True)
    harness.suite(SUITE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return harness


def export(harness, form, out):
    return harness.command("export", harness.out, "--form", form, "--out", out, "--store", harness.store)


def test_runs_and_judgements_score_as_they_did(made, tmp_path):
    ran = export(made, "trec", tmp_path / "trec")
    assert ran.code == 0, ran.err
    folder = tmp_path / "trec" / "tour"
    packed = (made.out / "runs" / "tour" / "both.run.gz").read_bytes()
    assert (folder / "both.run").read_bytes() == gzip.decompress(packed)
    assert run_files.read_run(folder / "whole.run").tag == "whole"
    assert list(qrels_files.read_qrels(folder / "qrels"))
    ran = made.command(
        "score", "--run", folder / "both.run", "--qrels", folder / "qrels", "--measures", "nDCG@10", "R@20", "RR",
        "--out", tmp_path / "again",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    again, before = rows(tmp_path / "again")["both"], rows(made.out)["both"]
    assert again["measures"] == {label: before["measures"][label] for label in ("nDCG@10", "R@20", "RR")}


def test_a_run_of_documents_scores_on_the_exported_judgements_of_documents(made, tmp_path):
    assert export(made, "trec", tmp_path / "trec").code == 0
    folder = tmp_path / "trec" / "tour"
    ran = made.command(
        "score", "--run", folder / "whole.run", "--qrels", folder / "qrels-documents", "--measures", "nDCG@10", "R@20",
        "--out", tmp_path / "again",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    again, before = rows(tmp_path / "again")["whole"], rows(made.out)["whole"]
    for label in ("nDCG@10", "R@20"):
        assert again["measures"][label] == before["measures"][f"document {label}"]
        assert again["measures"][label]["mean"] > 0


def test_without_the_store_the_judgements_are_left_out_and_said(made, tmp_path):
    ran = made.command(
        "export", made.out, "--form", "trec", "--out", tmp_path / "x", "--store", tmp_path / "no"
    )
    assert ran.code == 0
    assert "note: tour: the store has none of its judgements" in ran.out
    assert not (tmp_path / "x" / "tour" / "qrels").exists()


def test_a_sidecar_tells_how_a_run_was_made(made, tmp_path):
    assert export(made, "ir-metadata", tmp_path / "x").code == 0
    text = (tmp_path / "x" / "tour" / "both.ir_metadata.yaml").read_text(encoding="utf-8")
    assert text.splitlines()[0] == "# ir_metadata.start"
    assert text.splitlines()[-1] == "# ir_metadata.end"
    content = yaml.safe_load(text)
    primad = {"platform", "research goal", "implementation", "method", "actor", "data"}
    assert primad <= content.keys()
    assert content["schema-version"] == 0.1
    assert content["tag"] == "both"
    assert content["research goal"]["evaluation"]["reported measures"][:3] == [
        "ndcg_cut_10",
        "recall_20",
        "recip_rank",
    ]
    assert [stage["method"] for stage in content["method"]["indexing"]["stages"]][0] == "titles"
    stages = content["method"]["retrieval"]
    assert [stage["method"] for stage in stages] == ["bm25", "bm25", "convex", "sdm"]
    assert stages[2]["interpolates"] == [stages[0]["name"], stages[1]["name"]]
    assert stages[3]["reranks"] == stages[2]["name"]
    assert stages[2]["params"]["weight"] == 0.5
    assert content["data"]["test collection"]["name"] == "tour"


def test_the_results_have_mtebs_form(made, tmp_path):
    ran = export(made, "mteb", tmp_path / "x")
    assert ran.code == 0
    assert "tour / whole: has no column that MTEB reports" in ran.out
    (path,) = (tmp_path / "x" / "results" / "both").glob("*/tour.json")
    row = rows(made.out)["both"]
    revision = row["provenance"]["fingerprint"][:40]
    assert path.parent.name == revision
    meta = orjson.loads((path.parent / "model_meta.json").read_bytes())
    assert meta == {"name": "both", "revision": revision}
    content = orjson.loads(path.read_bytes())
    assert content["task_name"] == "tour"
    (scores,) = content["scores"]["test"]
    assert scores["main_score"] == scores["ndcg_at_10"] == row["measures"]["nDCG@10"]["mean"]
    assert scores["recall_at_20"] == row["measures"]["R@20"]["mean"]
    assert scores["languages"] == ["eng-Latn"]
    assert scores["hf_subset"] == "default"


def test_tables_hold_every_row_and_every_value(made, tmp_path):
    assert export(made, "csv", tmp_path / "x").code == 0
    with (tmp_path / "x" / "rows.csv").open(encoding="utf-8", newline="") as file:
        table = {row["system"]: row for row in csv.DictReader(file)}
    before = rows(made.out)
    assert float(table["bm25"]["nDCG@10"]) == before["bm25"]["measures"]["nDCG@10"]["mean"]
    with (tmp_path / "x" / "values.csv").open(encoding="utf-8", newline="") as file:
        values = [row for row in csv.DictReader(file) if row["system"] == "bm25" and row["measure"] == "R@20"]
    mean = sum(float(row["value"]) for row in values) / len(values)
    assert mean == pytest.approx(before["bm25"]["measures"]["R@20"]["mean"], abs=1e-6)
    assert len(values) == before["bm25"]["scored"]["queries"]


@pytest.mark.extras
def test_the_example_of_the_page_makes_tables_of_pandas(made, monkeypatch, capsys):
    pytest.importorskip("pandas")
    page = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    [code] = [block for block in blocks if "import pandas" in block]
    monkeypatch.chdir(made.folder)
    exec(code.replace('"ours"', '"out"'), {})
    shown = capsys.readouterr().out
    assert f"{rows(made.out)['bm25']['measures']['nDCG@10']['mean']:.4f}"[:5] in shown


def test_a_run_that_is_not_what_its_row_cites_is_refused(made, tmp_path):
    shutil.copytree(made.out, tmp_path / "board")
    (tmp_path / "board" / "runs" / "tour" / "bm25.run.gz").write_bytes(gzip.compress(b"q Q0 p 1 1 t\n"))
    ran = made.command("export", tmp_path / "board", "--form", "trec", "--out", tmp_path / "x")
    assert ran.code == 2
    assert "is not the file that the leaderboard cites" in ran.err


def test_a_leaderboard_is_not_exported_into_itself(made):
    ran = export(made, "csv", made.out)
    assert ran.code == 2
    assert "is the leaderboard's own folder" in ran.err


def imported(made, *arguments, out):
    return made.command("import-mteb", *arguments, "--out", out)


def test_task_results_of_mteb_stand_beside_ones_own_rows(made, tmp_path):
    assert export(made, "mteb", tmp_path / "x").code == 0
    ran = imported(
        made, tmp_path / "x" / "results", "--measures", "nDCG@10", "R@20", out=tmp_path / "claimed"
    )
    assert ran.code == 0, ran.err
    by_system = rows(tmp_path / "claimed")["both"]
    assert by_system["origin"] == "published"
    before = rows(made.out)["both"]["measures"]
    assert {label: value["mean"] for label, value in by_system["measures"].items()} == {
        label: before[label]["mean"] for label in ("nDCG@10", "R@20")
    }
    assert by_system["measures"]["R@20"]["ci95"] is None
    shown = made.command("show", made.out, "--beside", tmp_path / "claimed")
    assert shown.code == 0, shown.err
    assert "both (published)" in shown.out
    assert "published  tour / both" in made.command("verify", tmp_path / "claimed").out


def test_compare_leaves_imported_rows_out_whatever_their_columns_are(made, tmp_path):
    assert export(made, "mteb", tmp_path / "x").code == 0
    claimed = tmp_path / "claimed"
    assert imported(made, tmp_path / "x" / "results", "--measures", "nDCG@10", out=claimed).code == 0
    alone = made.command("compare", made.out)
    for boards in ([made.out, claimed], [claimed, made.out]):
        ran = made.command("compare", *boards)
        assert ran.code == 0, ran.err
        assert "tour / both (published) has no per-query values, and is left out" in ran.out
        assert "tour: RR (" in alone.out  # a column that the imported rows lack
        assert "tour: RR (" in ran.out
    ran = made.command("compare", claimed)
    assert ran.code == 2
    assert "no row with per-query values is left to compare" in ran.err


def test_subsets_and_splits_of_a_task_are_told_apart(made, tmp_path):
    scores = {"main_score": 0.5, "ndcg_at_10": 0.5, "nauc_ndcg_at_10_max": 0.1, "languages": []}
    result = {
        "task_name": "Many",
        "dataset_revision": "abc",
        "mteb_version": "2.0.0",
        "scores": {
            "test": [{**scores, "hf_subset": "en"}, {**scores, "hf_subset": "default", "ndcg_at_10": 0.25}],
            "dev": [{**scores, "hf_subset": "en"}],
        },
    }
    path = tmp_path / "results" / "maker__model" / "revision" / "Many.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(orjson.dumps(result))
    assert imported(made, path, "--measures", "nDCG@10", out=tmp_path / "claimed").code == 0
    data = orjson.loads((tmp_path / "claimed" / "leaderboard.json").read_bytes())
    assert [(row["dataset"], row["split"], row["system"]) for row in data["rows"]] == [
        ("Many-en-test", "test", "maker/model"),
        ("Many-test", "test", "maker/model"),
        ("Many-en-dev", "dev", "maker/model"),
    ]


def test_files_that_are_no_results_and_results_that_stand_twice_are_named_together(made, tmp_path):
    result = {"task_name": "T", "dataset_revision": "a", "scores": {"test": [{"ndcg_at_10": 0.5}]}}
    for folder in ("a/model/one", "b/model/two"):
        path = tmp_path / folder / "T.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(orjson.dumps(result))
    (tmp_path / "old.json").write_text('{"mteb_version": "0.0.2", "test": {}}')
    ran = imported(made, tmp_path, out=tmp_path / "claimed")
    assert ran.code == 2
    assert "another file has T / model already" in ran.err
    assert "old.json: is no task result of MTEB" in ran.err
    assert not (tmp_path / "claimed").exists()


@pytest.mark.parametrize("form", ["msmarco", "rocketqa", "tevatron", "dureader"])
def test_a_run_in_another_tools_form_is_scored_and_written_again_with_the_same_bytes(made, tmp_path, form):
    for name in ("trec", form):
        ran = export(made, name, tmp_path / name)
        assert ran.code == 0, ran.err
    first = next((tmp_path / form / "tour").glob("both.*"))
    ran = made.command(
        "score", "--run", first, "--qrels", tmp_path / "trec" / "tour" / "qrels", "--dataset", "tour",
        "--measures", "nDCG@10", "R@20", "RR", "--out", tmp_path / "again",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    again, before = rows(tmp_path / "again")["both"], rows(made.out)["both"]
    assert again["measures"] == {label: before["measures"][label] for label in ("nDCG@10", "R@20", "RR")}
    assert again["reported"][0]["facts"]["form"] == form
    ran = made.command("export", tmp_path / "again", "--form", form, "--out", tmp_path / "twice")
    assert ran.code == 0, ran.err
    assert (tmp_path / "twice" / "tour" / first.name).read_bytes() == first.read_bytes()


def test_results_are_a_leaderboard_without_runs_that_is_taken_in_if_nothing_was_changed(made, tmp_path):
    out, kept = tmp_path / "results", tmp_path / "leaderboards"
    ran = export(made, "results", out)
    assert ran.code == 0, ran.err
    assert (out / "leaderboard.json").read_bytes() == (made.out / "leaderboard.json").read_bytes()
    assert not (out / "runs").exists()
    assert len(list((out / "per-query").rglob("*.tsv"))) == 3
    (kept / "small").mkdir(parents=True)
    (kept / "small" / "suite.yaml").write_text(SUITE, encoding="utf-8")
    assert take_in(out, "somebody", kept) == kept / "small" / "elsewhere" / "somebody"
    verified = made.command("verify", kept / "small" / "elsewhere" / "somebody", "--store", tmp_path / "none")
    assert (verified.code, verified.out.count("claimed  ")) == (0, 3), verified.out
    (kept / "small" / "suite.yaml").write_text(SUITE.replace("0.5", "0.4"), encoding="utf-8")
    with pytest.raises(HarnessError, match="another version"):
        take_in(out, "somebody", kept)
    (kept / "small" / "suite.yaml").write_text(SUITE, encoding="utf-8")
    values = out / "per-query" / "tour" / "bm25.tsv"
    values.write_bytes(values.read_bytes() + b"another\t1.0\n")
    with pytest.raises(HarnessError, match=r"bm25\.tsv"):
        take_in(out, "somebody", kept)
