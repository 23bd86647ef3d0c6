"""RM3 over the embedded engine beside Anserini's own, on SciFact."""

import importlib.util
import os

import pytest

from harness import api

pytestmark = pytest.mark.real
SUITE = """
suite: rm3
datasets:
  scifact: {{files: {{path: {data}/scifact, split: test, language: en}}}}
systems:
  ours: {{context: [titles], queries: rm3, retriever: {{bm25: {{lengths: lucene}}}}}}
  anserini: {{context: [titles], retriever: {{lucene-bm25: {{rm3: true}}}}}}
measures: [nDCG@10, R@100, R@1000]
"""


def test_rm3_is_anserinis_on_scifact(tmp_path):
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    if any(importlib.util.find_spec(name) is None for name in ("jnius", "pyserini")):
        pytest.skip("the extra 'lucene' is not installed")
    (tmp_path / "suite.yaml").write_text(SUITE.format(data=os.environ["HARNESS_REAL_DATA"]))
    board = api.run(tmp_path / "suite.yaml", out=tmp_path / "out", store=tmp_path / "store", quiet=True)
    ours, anserini = ({name: m.mean for name, m in row.measures.items()} for row in board.rows)
    assert ours == pytest.approx(anserini, abs=1e-4)
    assert ours["nDCG@10"] == pytest.approx(0.6457, abs=1e-4)
