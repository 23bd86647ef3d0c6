"""`search` of `dense` by a faiss index: what it finds, what it is worth, and what is told of what it misses."""

import numpy as np
import pytest
import tiny_models

from harness import testing
from harness.testing.texts import sentences
from harness.types import Facts
from harness_dense import DenseParams, missing_files, resolve
from harness_dense.faiss_options import Faiss
from harness_dense.retriever import Dense

pytestmark = pytest.mark.extras

TEXTS = sentences(200)


@pytest.fixture
def model(tmp_path):
    pytest.importorskip("faiss")
    pytest.importorskip("transformers")
    return tiny_models.sentence_transformer(tmp_path / "model")


def opened(model, folder, search, texts=TEXTS):
    params = resolve(DenseParams(model=model, dtype="fp32", search=search), Facts("en", "en", "passage"))
    corpus, method = testing.texts(texts), Dense(params)
    folder.mkdir(exist_ok=True)
    method.index(corpus, folder)
    return method.open(corpus, folder)


@pytest.mark.parametrize("name", ["Flat", "HNSW16", "IVF4,Flat"])
def test_an_index_that_looks_everywhere_finds_what_exact_search_finds(name, model, tmp_path):
    queries = ["castle of the island", "painter", ""]
    wanted = opened(model, tmp_path / "index", "exact").search(queries, 10)
    search = opened(model, tmp_path / "index", Faiss(name, probes=4, ef_search=200))
    hits = search.search(queries, 10)
    assert hits.passages.tolist() == wanted.passages.tolist()
    assert hits.scores == pytest.approx(wanted.scores, abs=1e-6)
    report = search.report()
    assert (report["recall"], report["recall_at"], report["recall_queries"]) == (1.0, 10, 3)


def test_what_a_coarse_index_misses_is_told_and_what_it_finds_has_exact_scores(model, tmp_path):
    queries = sentences(30, seed=7)
    wanted = opened(model, tmp_path / "index", "exact").search(queries, len(TEXTS))
    search = opened(model, tmp_path / "index", Faiss("IVF16,Flat", probes=1))
    hits = search.search(queries, 20)
    share = np.mean([
        len(set(row.tolist()) & set(best[:20].tolist())) / 20
        for row, best in zip(hits.passages, wanted.passages, strict=True)
    ])  # fmt: skip
    assert share < 1
    assert search.report()["recall"] == pytest.approx(share)
    for row in range(len(queries)):
        score = dict(zip(wanted.passages[row].tolist(), wanted.scores[row].tolist(), strict=True))
        filled = hits.passages[row] >= 0
        for position, value in zip(
            hits.passages[row][filled].tolist(), hits.scores[row][filled], strict=True
        ):
            assert value == pytest.approx(score[position], abs=1e-6)


def test_within_is_exact_whatever_the_index(model, tmp_path):
    search = opened(model, tmp_path / "index", Faiss("IVF16,Flat", probes=1))
    exact = opened(model, tmp_path / "index", "exact")
    within = np.arange(0, 200, 7)[None, :]
    found, wanted = (one.search(["castle"], within.shape[1], within) for one in (search, exact))
    assert found.passages.tolist() == wanted.passages.tolist()


def test_another_index_encodes_nothing_again(model, tmp_path):
    from harness_dense import harness_retrievers

    [record] = harness_retrievers()
    assert "search" in record.search_only
    opened(model, tmp_path / "index", "exact")
    before = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir() if path.is_file()}
    opened(model, tmp_path / "index", Faiss("HNSW16")).search(["castle"], 3)
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "index").iterdir() if p.is_file()}


def test_an_empty_corpus_has_nothing_to_build(model, tmp_path):
    search = opened(model, tmp_path / "index", Faiss("IVF16,Flat"), texts=[])
    assert (search.search(["castle"], 3).passages == -1).all()
    assert "recall" not in search.report()


def test_faiss_that_is_not_installed_is_told_with_its_extra(monkeypatch, tmp_path):
    folder = tiny_models.onnx(tmp_path)
    params = resolve(DenseParams(folder, pooling="mean", search=Faiss("Flat")), Facts("en", "en", "passage"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    need = missing_files(params)[-1]
    assert (need.modules, need.command) == (("faiss",), "pip install 'passage-harness[faiss]'")


def test_systems_that_search_otherwise_share_one_encoding_and_tell_their_recall(model, tmp_path):
    dense = f"retriever: {{dense: {{model: {model}, dtype: fp32"
    flat, prompted = f"{dense}, search: {{faiss: Flat}}}}}}", f"{dense}, query_prompt: 'castle '}}}}"
    exact, flat, _ = tiny_models.ran(tmp_path, exact=f"{dense}}}}}", flat=flat, prompted=prompted).rows
    assert flat.measures["nDCG@10"].mean == pytest.approx(exact.measures["nDCG@10"].mean)
    told = {key: value for step in flat.reported for key, value in step.facts.items()}
    assert (told["recall"], told["texts_cut"]) == (1.0, 0)
