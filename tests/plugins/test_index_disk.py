"""The dry run states what indexes take on disk: for 33 million passages, in numbers that a person can check."""

import pytest
import tiny_heads
import tiny_models

from harness import api, catalogue
from harness.cli.run import dry_run
from harness.running import index_disk, preparation
from harness.store.artifacts import Store
from harness_dapr.source import official

pytestmark = pytest.mark.extras


def test_the_passages_of_miracl_by_the_numbers_of_its_source():
    lengths = index_disk.printed(official("MIRACL", "test"), documents=False)
    assert (lengths.texts, lengths.tokens) == (pytest.approx(5_758_285 * 5.7), 105.3)  # 32.8 million
    documents = index_disk.printed(official("MIRACL", "test"), documents=True)
    assert (documents.texts, documents.tokens) == (5_758_285, pytest.approx(105.3 * 5.7))
    assert (
        index_disk.printed(official("MSMARCO", "test"), documents=False) is None
    )  # only documents are printed


SUITE = """
suite: disk
datasets: {{it: {dataset}}}
systems:
  dense: {{retriever: {{dense: {{model: {dense}, pooling: mean, dtype: fp32, passage_length: 64}}}}}}
  dense documents: {{retriever: {{dense: {{model: {dense}, pooling: mean, dtype: fp32, stored: int8}}}}, unit: document}}
  splade: {{retriever: {{splade: {{model: {splade}, passage_length: 64, query_length: 64}}}}}}
  colbert: {{retriever: {{colbert: {{model: {colbert}, passage_length: 50}}}}}}
  colbert long: {{retriever: {{colbert: {{model: {colbert}, passage_length: 60, stored: fp32}}}}}}
  colbert unstored: {{retriever: {{colbert: {{model: {colbert}, stored: none}}}}}}
measures: [nDCG@10]
"""


def prepared(folder, dataset):
    models = {
        "dense": tiny_models.bert(folder / "dense"),
        "splade": tiny_heads.splade(folder / "splade"),
        "colbert": tiny_heads.colbert(folder / "colbert"),
    }
    (folder / "suite.yaml").write_text(SUITE.format(dataset=dataset, **models))
    store = Store(folder / "store")
    return preparation.read(folder / "suite.yaml", catalogue.load(), store), store


def test_a_collection_that_is_not_here_by_its_source(tmp_path):
    plan, store = prepared(tmp_path, f"{{dapr: {{path: {tmp_path}, dataset: MIRACL, split: test}}}}")
    passages = 5_758_285 * 5.7
    assert [item.bytes for item in index_disk.indexes(plan, store)] == pytest.approx([
        passages * (32 * 4 + 8),  # 32 numbers of 4 bytes
        5_758_285 * (32 * 4 + 8),  # the full vectors, from which those in int8 are made
        5_758_285 * (32 + 4 + 8),  # with a scale
        passages * 200 * (2 + 4),  # 200 terms
        passages * (16 + 8 * 2 * 50),  # 8 numbers of 2 bytes for each of 50 tokens: 105.3 are cut
        passages * (16 + 8 * 4 * 60), # and nothing of what is not stored
    ])  # fmt: skip
    said = [line for line in dry_run(plan, store) if line.startswith("  disk")]
    assert said[0].startswith("  disk  about 4.5 GB  index · it · dense")
    assert "32,822,224 texts of 105 tokens (as its source prints)" in said[0]
    assert said[-1].startswith("  disk  about 135.2 GB for these indexes; ")


def test_a_collection_that_is_here_by_its_characters(tmp_path):
    data = tiny_models.Path(__file__).parent / "data" / "beir"
    plan, store = prepared(tmp_path, f"{{files: {{path: {data}, language: en}}}}")
    assert list(index_disk.indexes(plan, store)) == []  # nobody has printed its size
    lexical = {"suite": "l", "datasets": {"it": {"files": {"path": str(data), "language": "en"}}}}
    lexical |= {"systems": {"bm25": {"retriever": "bm25"}}, "measures": ["nDCG@10"]}
    api.run(lexical, out=tmp_path / "out", store=store.root, quiet=True)
    facts = store.read(plan.plan.collections["it"].planned.corpus.step).facts
    tokens = facts["characters"] / facts["passages"] / 4 + 3  # 4 characters a token, 3 special tokens
    found = {item.step.subject: item.bytes for item in index_disk.indexes(plan, store)}
    splade, colbert = (
        next(found[name] for name in found if name.startswith(kind)) for kind in ("splade", "colbert")
    )
    assert splade == facts["passages"] * 200 * 6
    assert colbert == pytest.approx(facts["passages"] * (16 + 8 * 2 * min(tokens, 50)))
