"""Killed runs of suites that make datasets, tune, ask services and train end as undisturbed ones do."""

import random

import pytest
import tiny_training
from running import Harness, results
from stand_in_service import standing_in
from test_crash import kills

pytestmark = [pytest.mark.slow, pytest.mark.extras, pytest.mark.timeout(10_800)]
MAKING = """
suite: made
datasets:
  raw: {tour: {documents: 12}, scored: false}
  mine:
    of: raw
    make:
      - join-paragraphs: {limit: 300}
      - deduplicate: {by: minhash}
      - pool: {of: [bm25, titles], depth: 5}
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
  folded: {retriever: {bm25: {k1: {tune: {folds: 2, measure: nDCG@10, values: [0.4, 0.9]}}}}}
  fused: {of: [bm25, titles], combine: {convex: {weight: {tune: {on: raw/dev, measure: nDCG@10, grid: [0, 1, 0.5]}}}}}
  rewritten: {retriever: bm25, queries: {rm3: {}}}
  asked: {of: bm25, rerank: {pointwise: {service: {url: "URL", model: m}}, depth: 5}}
  vectors: {retriever: {embeddings: {service: {url: "URL", model: e}}}}
analyses: [depth, jaccard, weights]
measures: [nDCG@10]
depth: 20
"""


def killed(harness: Harness, suite: str, rounds: int) -> None:
    """Two kills a round and a rerun, on fresh stores and on halves of a finished one."""
    whole = Harness(harness.folder / "whole")
    whole.folder.mkdir()
    whole.suite(suite)
    ran = whole.run()
    assert ran.code == 0, ran.err
    seed = random.randrange(10**6)
    kills(harness, results(whole.out), seed, rounds, each=2, suite=suite, finished_store=whole.store)


def test_suites_that_make_and_tune_and_ask_services_survive_kills(harness: Harness, exhaustive: bool) -> None:
    """50 kills with `--hypothesis-profile=exhaustive`, else 4."""
    pytest.importorskip("httpx")
    with standing_in(seconds=0.005) as service:
        killed(harness, MAKING.replace("URL", service.url), 25 if exhaustive else 2)


def test_suites_that_train_models_survive_kills(harness: Harness, exhaustive: bool) -> None:
    """50 kills with `--hypothesis-profile=exhaustive`, else 4."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = harness.folder / "files"
    folder.mkdir()
    tiny_training.collection(folder)
    text = tiny_training.written(folder).read_text()
    suite = text.replace("path: data", f"path: {folder}/data").replace("./tiny", f"{folder}/tiny")
    killed(harness, suite, 25 if exhaustive else 2)
