"""A suite that trains tiny models on a tiny collection, for the end-to-end tests."""

import itertools
import json
from pathlib import Path

from harness import catalogue, suite
from harness.plan.graph import Plan
from harness.running import preparation
from harness.store.artifacts import Store

WORDS = ("river", "stone", "garden", "winter", "north", "old")
SUITE = """
suite: tiny-training
datasets:
  d: {files: {path: data, split: test, language: en}}
systems:
  bm25: {retriever: bm25}
  zero: {retriever: {dense: {model: ./tiny, DENSE}}}
  trained: {retriever: {dense: {model: {made: de}, DENSE}}}
  reranked: {of: bm25, rerank: {crossencoder: {model: {made: ce}, dtype: fp32}, depth: 5}}
models:
  de:
    train: {dual-encoder: {init: ./tiny, epochs: 2, batch: 6, micro: 8, lr: RATE, similarity: cosine,
      query_length: 16, passage_length: 16, dtype: fp32}}
    on: d/train
    negatives: {of: bm25, depth: 10, take: 1}
    validate: {on: d/dev, measure: RR@10, checkpoints: 2}
  ce:
    train: {cross-encoder: {init: ./tiny, epochs: 1, batch: 6, length: 32, query_length: 16, dtype: fp32}}
    on: d/train
    negatives: {of: bm25, depth: 10, take: 1}
measures: [RR@10]
depth: 10
"""


def collection(folder: Path) -> Path:
    """Write a tiny encoder and a collection of 36 passages into the folder, which is returned."""
    import tiny_models  # needs torch

    tiny_models.sentence_transformer(folder / "tiny", length=16)
    data = folder / "data"
    (data / "qrels").mkdir(parents=True)
    texts = [" ".join(words) for words in itertools.permutations(WORDS, 3)][:36]
    corpus = [{"_id": f"p{i}", "title": "", "text": text} for i, text in enumerate(texts)]
    queries = [
        {"_id": f"q{i}", "text": f"{text.split()[1]} {i * 7919:x} {i * 104729:x}"}
        for i, text in enumerate(texts)
    ]
    queries[30]["text"] = queries[0]["text"].upper()  # a scored query that stands in the training split
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (data / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for split, numbers in (("train", range(18)), ("dev", range(18, 24)), ("test", range(24, 36))):
        lines = "".join(f"q{i}\tp{i}\t1\n" for i in numbers)
        (data / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")
    return folder


def written(folder: Path, rate: float = 0.001, **replace: str) -> Path:
    text = SUITE.replace("DENSE", "dtype: fp32, similarity: cosine").replace("RATE", str(rate))
    for old, new in replace.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "suite.yaml").write_text(text)
    return folder / "suite.yaml"


def planned(path: Path) -> Plan:
    records = catalogue.load()
    store = Store(path.parent / "store").open()
    return preparation.prepare(suite.load(path, records), records, store).plan
