"""What the page of the store says runs again after a change, tried on plans alone: nothing is executed."""

import json
from pathlib import Path

import pytest
import yaml

from harness import catalogue, cli, suite
from harness.running import preparation
from harness.store.artifacts import Store

PAGE = (Path(__file__).parents[3] / "docs" / "store.md").read_text(encoding="utf-8")
SUITE = {
    "suite": "first",
    "datasets": {"mine": {"files": {"path": "data", "language": "en"}}},
    "systems": {
        "bm25": {"retriever": {"bm25": {"k1": 0.9}}},
        "titles": {"context": ["titles"], "retriever": "bm25"},
        "fused": {"of": ["bm25", "titles"], "combine": "rrf"},
        "reranked": {"of": "bm25", "rerank": {"sdm": {}, "depth": 5}},
    },
    "measures": ["nDCG@10"],
}
ALL = {"corpus", "queries", "judgements", "augment", "index", "search", "combine", "rerank"}


@pytest.fixture
def folder(tmp_path):
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    lines(data / "corpus.jsonl", [{"_id": f"p{i}", "title": "T", "text": f"text {i}"} for i in range(3)])
    lines(data / "queries.jsonl", [{"_id": "q", "text": "text"}])
    (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp0\t1\n")
    return tmp_path


def lines(path: Path, values: list) -> None:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")


def steps(folder: Path, **changes) -> set[str]:
    """The ids of all steps of the suite with these changes of its top level."""
    (folder / "suite.yaml").write_text(yaml.safe_dump({**SUITE, **changes}), encoding="utf-8")
    records = catalogue.load()
    store = Store(folder / "store").open()
    return set(preparation.prepare(suite.load(folder / "suite.yaml", records), records, store).plan.steps)


def again(before: set[str], after: set[str]) -> set[str]:
    """The kinds of the steps that are new."""
    return {step.partition("-")[0] for step in after - before}


def with_system(name: str, system: dict) -> dict:
    return {"systems": {**SUITE["systems"], name: system}}


def test_a_name_a_measure_and_the_seed_run_nothing_again(folder):
    before = steps(folder)
    renamed = {("lexical" if name == "bm25" else name): value for name, value in SUITE["systems"].items()}
    renamed["fused"] = {"of": ["lexical", "titles"], "combine": "rrf"}
    renamed["reranked"] = {"of": "lexical", "rerank": {"sdm": {}, "depth": 5}}
    changes = {"suite": "second", "measures": ["R@5"], "seed": 7, "systems": renamed}
    assert again(before, steps(folder, **changes)) == set()
    assert again(before, steps(folder, datasets={"other": SUITE["datasets"]["mine"]})) == set()


def test_a_judgement_is_read_again_and_nothing_else(folder):
    before = steps(folder)
    (folder / "data" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp0\t2\n")
    assert again(before, steps(folder)) == {"judgements"}


def test_a_query_is_searched_again_in_the_same_indexes(folder):
    before = steps(folder)
    lines(folder / "data" / "queries.jsonl", [{"_id": "q", "text": "another text"}])
    assert again(before, steps(folder)) == {"queries", "search", "combine", "rerank"}


def test_k1_searches_again_and_the_analyser_indexes_again(folder):
    before = steps(folder)
    k1 = steps(folder, **with_system("bm25", {"retriever": {"bm25": {"k1": 1.2}}}))
    assert again(before, k1) == {"search", "combine", "rerank"}
    analyser = steps(folder, **with_system("bm25", {"retriever": {"bm25": {"analyser": "simple"}}}))
    assert again(before, analyser) == {"index", "search", "combine", "rerank"}


def test_a_passage_runs_everything_again_but_what_is_read_from_other_files(folder):
    before = steps(folder)
    lines(folder / "data" / "corpus.jsonl", [{"_id": "p0", "title": "T", "text": "new"}])
    assert again(before, steps(folder)) == ALL - {"queries", "judgements"}


def test_the_depth_searches_again(folder):
    assert again(steps(folder), steps(folder, depth=500)) == {"search", "combine", "rerank"}


def test_a_path_is_keyed_by_its_contents_and_not_by_its_name(folder):
    before = steps(folder)
    (folder / "data").rename(folder / "elsewhere")
    moved = {"mine": {"files": {"path": "elsewhere", "language": "en"}}}
    assert again(before, steps(folder, datasets=moved)) == set()


def test_every_folder_of_a_store_is_described(folder):
    steps(folder)
    names = {path.name for path in (folder / "store").iterdir() if path.is_dir()} - {"removed"}
    assert {name for name in names if f"`{name}/" not in PAGE} == set()


def test_the_commands_of_the_page_do_what_it_says(folder, capsys):
    store = ["--store", str(folder / "store")]
    steps(folder)
    for command in (("ls",), ("verify",), ("gc", "--unused-for", "30"), ("gc", "--dry-run")):
        assert f"cache {command[0]}" in PAGE
        assert cli.main(["cache", *command, *store]) == 0
    assert "0 artifacts" in capsys.readouterr().out
