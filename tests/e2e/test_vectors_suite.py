"""A suite whose vectors were made elsewhere: planned, run, and its index shared by two files of queries."""

import numpy as np
import orjson
from running import Harness, rows

SUITE = """
suite: precomputed
datasets: {tiny: {files: {path: data, language: en}}}
systems:
  theirs: {retriever: &theirs {vectors: {passages: p.npy, passage_ids: p.ids, queries: q.npy, query_ids: q.ids, query_texts: data/queries.jsonl}}}
  no queries: {retriever: {vectors: {passages: p.npy, passage_ids: p.ids}}}
measures: [nDCG@10, RR]
depth: 10
"""


def test_vectors_made_elsewhere_are_scored_like_any_system(tmp_path):
    harness = Harness(tmp_path, here=True)
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"p{i}", "text": f"text {i}"} for i in range(3)]
    queries = [{"_id": f"q{i}", "text": f"query {i}"} for i in range(2)]
    (data / "corpus.jsonl").write_bytes(b"\n".join(map(orjson.dumps, corpus)) + b"\n")
    (data / "queries.jsonl").write_bytes(b"\n".join(map(orjson.dumps, queries)) + b"\n")
    (data / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq0\tp2\t1\nq1\tp0\t1\n")
    np.save(tmp_path / "p.npy", np.array([[0, 1], [1, 1], [1, 0]], np.float32)[[2, 0, 1]])
    (tmp_path / "p.ids").write_text("p2\np0\np1\n")
    np.save(tmp_path / "q.npy", np.array([[2, 1], [1, 3]], np.float32))
    (tmp_path / "q.ids").write_text("q0\nq1\n")
    harness.suite(SUITE)
    ran = harness.command("check", "suite.yaml")
    assert "there are no vectors of queries; give them as 'queries'" in ran.err
    harness.suite("".join(line for line in SUITE.splitlines(keepends=True) if "no queries" not in line))
    ran = harness.run()
    assert ran.code == 0, ran.err
    measures = rows(harness.out)["theirs"]["measures"]
    assert measures["RR"]["mean"] == 0.5  # p1 is first for both, by 3 and 4
