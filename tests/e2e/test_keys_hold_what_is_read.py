"""The key of a step holds what the step reads, so that no dataset is harmed by another one's files."""

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import tiny_training
from running import FAULTS, Harness, leaderboard, small_collection

from harness import steps
from harness.store.file_digests import FileDigests

JUDGED = [("q0", "p0", 1), ("q1", "p2", 1), ("q2", "p3", 1)]
SUITE = """
suite: files
datasets:
  small: {files: {path: small, language: en, slices: slices.tsv}}
  other: {files: {corpus: other/corpus.jsonl, queries: other/queries.jsonl, qrels: "other/qrels/{split}.tsv", language: en}, scored: false}
  made: {of: other, make: [{join-paragraphs: {limit: 40}}, {judged: {file: judgements.jsonl}}]}
systems:
  bm25: {retriever: bm25}
  keyphrases: {context: [{keyphrases-from-file: {file: keyphrases.jsonl, missing: skip}}], retriever: bm25}
  rewritten: {context: [{coreference-rewritten: {path: rewritten.jsonl, missing: skip}}], retriever: bm25}
  prefixed: {context: [{prefix-from-file: {file: prefixes.jsonl, missing: skip}}], retriever: bm25}
  impacts: {retriever: {impacts: {passages: passages.jsonl, queries: queries.jsonl, missing: skip}}}
  vectors: {retriever: {vectors: {passages: p.npy, passage_ids: p.ids, queries: q.npy, query_ids: q.ids, query_texts: texts.tsv, missing: skip}}}
  theirs: {retriever: {run: {file: theirs.run, unknown: skip}}}
  fused: {of: [bm25, theirs], combine: {convex: {weight: {tune: {on: small/dev, measure: RR, grid: [0, 1, 0.5]}}}}}
  folded: {retriever: {bm25: {k1: {tune: {folds: 2, measure: RR, values: [0.4, 0.9]}}}}}
  expanded: {retriever: bm25, queries: {rm3: {}}}
  reranked: {of: vectors, rerank: {sdm: {}, depth: 3}}
analyses: [collection, jaccard, slices, {similar-queries: {to: [made]}}, weights]
"""
MEASURES = "measures: [RR, R@5]\ndepth: 10\n"
ANSWERS = """
suite: answers
datasets: {small: {files: {corpus: small/corpus.jsonl, queries: answers.jsonl, language: en}}}
systems: {bm25: {retriever: bm25}}
protocol: rocketqav2-nq
depth: 100
"""
# the queries' key holds the ids of the judged queries, and not their grades
BY_IDS = {("queries", "qrels")}


def written(folder: Path) -> None:
    """What the suites read: no two files are equal."""
    for name in ("small", "other"):
        small_collection(folder / name, JUDGED)
        dev = (folder / name / "qrels/test.tsv").read_text().replace("\t1\n", f"\t{2 + len(name)}\n")
        (folder / name / "qrels/dev.tsv").write_text(dev)
    for path in (folder / "other").rglob("*.*"):
        path.write_bytes(path.read_bytes() + b"\n")
    (folder / "slices.tsv").write_text("q0\teven\n")
    lines(folder / "judgements.jsonl", [{"query": "q0", "passage": "p1", "grade": 1}])
    lines(folder / "keyphrases.jsonl", [{"doc_id": "p0", "keyphrases": ["castle"]}])
    lines(folder / "rewritten.jsonl", [{"_id": "p0", "text": "amber the stone basalt cedar"}])
    lines(folder / "prefixes.jsonl", [{"id": "p1", "prefix": "of the north"}])
    lines(folder / "passages.jsonl", [{"id": "p0", "contents": "", "vector": {"amber": 2}}])
    asked = ("amber", "cedar", "heath grove")
    weights = [{"id": text, "contents": text, "vector": {"amber": 1}} for text in asked]
    lines(folder / "queries.jsonl", weights)
    lines(folder / "answers.jsonl", [{"_id": "q0", "text": "amber", "answers": ["basalt"]}])
    np.save(folder / "p.npy", np.eye(2, 3, dtype=np.float32))
    np.save(folder / "q.npy", np.ones((2, 3), np.float32))
    (folder / "p.ids").write_text("p0\np1\n")
    (folder / "q.ids").write_text("q0\nq1\n")
    (folder / "texts.tsv").write_text("q0\tamber\nq1\tcedar\n")
    (folder / "theirs.run").write_text("q0 Q0 p1 1 2.0 x\nq1 Q0 p2 1 1.0 x\n")


def lines(path: Path, rows: list[Any]) -> None:
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def unkeyed(folder: Path, reads: Path) -> tuple[set[str], list[str]]:
    """The kinds of steps that were executed, and the files that a step opened and that no key has: neither
    its own nor that of a step behind it."""
    of_step = {line["step"]: line for line in map(orjson.loads, reads.read_text().splitlines())}
    digest = FileDigests(folder / "digests").of

    def keyed(step: str) -> str:
        line = of_step[step]
        return orjson.dumps(line["keyed"]).decode() + "".join(map(keyed, line["inputs"]))

    found = []
    for step, line in of_step.items():
        kind, text = line["keyed"]["kind"], keyed(step)
        for path in map(Path, line["opened"]):
            places = [path, *(above for above in path.parents if above.is_relative_to(folder))]
            name = path.relative_to(folder)
            if not any(digest(place) in text for place in places) and (kind, name.parts[-2]) not in BY_IDS:
                found.append(f"{step[:20]} opened {name}")
    return {line["keyed"]["kind"] for line in of_step.values()}, found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="files that are opened are told by Linux")
@pytest.mark.parametrize("torch", [False, pytest.param(True, marks=pytest.mark.extras)])
def test_the_key_of_a_step_of_every_kind_holds_each_file_that_it_opens(tmp_path: Path, torch: bool) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    harness = Harness(tmp_path)
    if torch:
        pytest.importorskip("torch")
        pytest.importorskip("transformers")
        part = {"checkpoints: 2}": "checkpoints: 2, corpus: {of: bm25, depth: 5}}"}
        suites = [tiny_training.written(tiny_training.collection(folder), **part)]
    else:
        written(folder)
        suites = [folder / "suite.yaml", folder / "answers.yaml"]
        for path, text in zip(suites, (SUITE + MEASURES, ANSWERS), strict=True):
            path.write_text(text)
    reads = tmp_path / "reads"
    for path in suites:
        ran = harness.run(
            path, "--out", tmp_path / path.stem, PYTHONPATH=FAULTS, READS=str(reads), READ_FROM=str(folder)
        )
        assert ran.code == 0, ran.err
    kinds, found = unkeyed(folder, reads)
    assert found == []
    trained = steps.kinds(steps.Examples, steps.Train, steps.Validate, steps.Subset)
    every = {record.__struct_config__.tag for record in steps.Whole.__args__}
    assert kinds >= (trained if torch else every - trained)


def test_a_damaged_dataset_harms_no_other_one(harness: Harness) -> None:
    small_collection(harness.folder / "sound", JUDGED)
    shutil.copytree(harness.folder / "sound", harness.folder / "damaged")
    with (harness.folder / "damaged" / "queries.jsonl").open("a") as file:
        file.write('{"_id": "q3", "text"\n')
    for names in (("sound", "damaged"), ("damaged", "sound")):
        datasets = {name: {"files": {"path": name, "language": "en"}} for name in names}
        systems = {"plain": {"retriever": "overlap"}}
        measures = {"measures": ["nDCG@5"], "depth": 5}
        harness.suite({"suite": "two", "datasets": datasets, "systems": systems, **measures})
        ran = harness.run()
        assert ran.code == 1, ran.err
        errors = {row["dataset"]: row["error"] for row in leaderboard(harness.out)["rows"]}
        assert errors["sound"] is None
        assert "damaged/queries.jsonl:4" in errors["damaged"]
        shutil.rmtree(harness.store)
