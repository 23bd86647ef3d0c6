"""Suites that re-rank, fuse and train from the files of other tools."""

import json

import pytest
from tiny_training import collection, planned, written

from harness import catalogue, run, suite
from harness.cli import main
from harness.errors import Problems
from harness.store.artifacts import Store

pytestmark = pytest.mark.extras
pytest.importorskip("torch")
pytest.importorskip("transformers")

MINED = "negatives: {of: bm25, depth: 10, take: 1}\n    validate"
SYSTEMS = """systems:
  theirs: {retriever: {run: {file: "runs/{dataset}.{split}.trec"}}}
  fused: {of: [theirs, bm25], combine: rrf}
"""


@pytest.fixture
def folder(tmp_path):
    return collection(tmp_path)


def runs(folder, splits=("test", "train")):
    (folder / "runs").mkdir()
    for split, numbers in (("train", range(18)), ("test", range(24, 35))):
        lines = [f"q{i} Q0 p{(i + step) % 36} {step} {9 - step} x\n" for i in numbers for step in (0, 1, 2)]
        if split in splits:
            (folder / "runs" / f"d.{split}.trec").write_text("".join(lines))


def examples(folder, path):
    store = Store(folder / "store").open()
    steps = [step for step in planned(path).steps.values() if step.kind == "examples"]
    [step] = [step for step in steps if "bm25" not in step.subject]
    return store.read(step.id).facts


@pytest.mark.slow
def test_a_run_of_another_tool_is_scored_fused_re_ranked_and_mined_from(folder):
    runs(folder)
    path = written(folder, **{"systems:\n": SYSTEMS, MINED: MINED.replace("bm25", "theirs")})
    path.write_text(path.read_text().replace("{of: bm25, rerank", "{of: theirs, rerank"))
    board = run(path, store=folder / "store", quiet=True)
    rows = {row.system: row for row in board.rows}
    assert [row.error for row in board.rows if row.error] == []
    assert rows["theirs"].measures["RR@10"].mean == pytest.approx(11 / 12)
    [search] = [item.facts for item in rows["theirs"].reported if item.step == "search"]
    assert search["queries_without_results"] == 1
    assert examples(folder, path)["negatives"] == 18 * 2
    before = rows["theirs"].provenance.fingerprint
    (folder / "runs" / "d.test.trec").write_text("q24 Q0 p24 1 1 x\n")
    again = {row.system: row for row in run(path, store=folder / "store", quiet=True).rows}
    assert again["theirs"].provenance.fingerprint != before
    assert again["trained"].provenance.fingerprint == rows["trained"].provenance.fingerprint


@pytest.mark.slow
def test_a_model_takes_its_negatives_from_training_data_of_another_tool(folder):
    texts = [json.loads(line)["text"] for line in (folder / "data" / "corpus.jsonl").read_text().splitlines()]
    asked = [
        json.loads(line)["text"] for line in (folder / "data" / "queries.jsonl").read_text().splitlines()
    ]
    lines = [json.dumps([asked[i], texts[i], texts[i + 1], texts[i], "elsewhere"]) for i in range(17)]
    (folder / "tuples.jsonl").write_text("\n".join(lines))
    path = written(folder, **{MINED: MINED.replace("of: bm25", "file: tuples.jsonl")})
    text = path.read_text().partition("  ce:\n")[0] + "measures: [RR@10]\ndepth: 10\n"
    path.write_text(text.replace("  reranked:", "#").replace("  bm25:", "#"))
    board = run(path, store=folder / "store", quiet=True)
    rows = {row.system: row for row in board.rows}
    assert [row.error for row in board.rows if row.error] == []
    facts = examples(folder, path)
    assert (facts["negatives"], facts["queries_without_negatives"]) == (17, 1)
    [index] = [
        item.facts for item in rows["trained"].reported if item.step == "index" and item.method == "run"
    ]
    assert index["passages_that_the_collection_lacks"] == 1
    (folder / "tuples.jsonl").write_text("\n".join(json.dumps(["a", "b", "c"]) for _ in lines))
    failed = {row.system: row for row in run(path, store=folder / "store", quiet=True).rows}["trained"]
    assert "none of its 1 passages is in the collection" in failed.error


def test_what_is_missing_or_contradictory_is_told_before_a_run(folder, capsys):
    runs(folder, ("test",))
    path = written(folder, **{"systems:\n": SYSTEMS, MINED: MINED.replace("bm25", "theirs")})
    assert main(["run", str(path), "--dry-run", "--store", str(folder / "store")]) == 0
    assert "d.train.trec" in capsys.readouterr().out
    both = MINED.replace("of: bm25", "of: bm25, file: x.tsv")
    with pytest.raises(Problems, match="expected either 'of', a system, or 'file'"):
        suite.load(written(folder, **{MINED: both}), catalogue.load())
    rewritten = SYSTEMS.replace('trec"}}}', 'trec"}}, queries: spelling}')
    with pytest.raises(Problems, match="'spelling' gives text, and 'run' takes ids"):
        suite.load(written(folder, **{"systems:\n": rewritten}), catalogue.load())
