"""BGE-M3's three heads against a slow float64 reading, from a tiny checkpoint in the layout of the original."""

import json

import numpy as np
import pytest
import slow_bert
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.types import Facts

tokenizers = pytest.importorskip("tokenizers")
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import harness_colbert  # noqa: E402
import harness_dense  # noqa: E402
import harness_splade  # noqa: E402
from harness_colbert.retriever import LateRetriever  # noqa: E402
from harness_colbert.scorer import LateReranker  # noqa: E402
from harness_dense.retriever import Dense  # noqa: E402
from harness_splade.retriever import Sparse  # noqa: E402

pytestmark = pytest.mark.extras

TEXTS = ["the castle of the island", "", "a <unk> b</s>c", "!?", "river bridge " * 12, "北京 castle, closed."]
QUERIES = ["castle", "", "aab <unk>", "when was the railway bridge built? " * 3]
FACTS = Facts("en", "en", "passage")
LENGTH = tiny_models.POSITIONS


def original(folder):
    """As BAAI/bge-m3 is, an XLM-R with the modules of sentence-transformers and two pickled heads, but for
    its network, whose weights are safetensors already."""
    tiny_models.roberta(folder, model_type="xlm-roberta", architecture="XLMRobertaModel")
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    tiny_models.as_json(folder / "modules.json", modules)
    pooling = {"word_embedding_dimension": tiny_models.HIDDEN, "pooling_mode_cls_token": True}
    tiny_models.as_json(folder / "1_Pooling" / "config.json", pooling)
    tiny_models.as_json(folder / "sentence_bert_config.json", {"max_seq_length": LENGTH})
    # with seed 20, about half of the tokens have a weight above 0
    for name, outputs, seed in (("sparse_linear", 1, 20), ("colbert_linear", 24, 8)):
        shapes = {"weight": (outputs, tiny_models.HIDDEN), "bias": (outputs,)}
        head = tiny_models.random_tensors(shapes, seed)
        torch.save({key: torch.from_numpy(value) for key, value in head.items()}, folder / f"{name}.pt")
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The checkpoint with its heads converted."""
    folder = original(tmp_path_factory.mktemp("m3") / "model")
    for name in ("sparse_linear", "colbert_linear"):
        head = torch.load(folder / f"{name}.pt", weights_only=True)
        tiny_models.safetensors(
            folder / f"{name}.safetensors", {key: value.numpy() for key, value in head.items()}
        )
    return folder


def states(folder, text):
    """The ids of a text's tokens, with <s> and </s>, and their states."""
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = backend.encode(text, add_special_tokens=False).ids[: LENGTH - 2]
    ids = [backend.token_to_id("<s>"), *ids, backend.token_to_id("</s>")]
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    return ids, slow_bert.hidden_states(tensors, config, ids)


def slow_dense(folder, text):
    vector = states(folder, text)[1][0]
    return vector / np.linalg.norm(vector)


def slow_sparse(folder, text):
    """{token: weight}: relu(w h + b), the largest of equal tokens; special and unknown tokens have none."""
    head = tiny_models.read_safetensors(folder / "sparse_linear.safetensors")
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    left_out = {backend.token_to_id(name) for name in ("<s>", "</s>", "<pad>", "<unk>")}
    weights = {}
    for token, state in zip(*states(folder, text), strict=True):
        weight = float(head["weight"][0].astype(np.float64) @ state + head["bias"][0])
        if token not in left_out and weight > 0:
            weights[token] = max(weights.get(token, 0.0), weight)
    return weights


def slow_vectors(folder, text):
    """float64[n, d]: a vector of length 1 for each token but the first."""
    head = tiny_models.read_safetensors(folder / "colbert_linear.safetensors")
    projected = states(folder, text)[1][1:] @ head["weight"].T.astype(np.float64) + head["bias"]
    return projected / np.linalg.norm(projected, axis=1, keepdims=True)


def slow_late(folder, query, text):
    """The mean over the query's tokens of their best products with the passage's."""
    return float((slow_vectors(folder, query) @ slow_vectors(folder, text).T).max(axis=1).mean())


def opened(method, folder):
    folder.mkdir()
    corpus = testing.texts(TEXTS)
    facts = method.index(corpus, folder)
    return method.open(corpus, folder), facts


def scores(hits):
    """float[Q, n] by position; 0 for a text that was not retrieved."""
    by_position = np.zeros((len(hits.passages), len(TEXTS)))
    for row, passages, values in zip(by_position, hits.passages, hits.scores, strict=True):
        row[passages[passages >= 0]] = values[passages >= 0]
    return by_position


def late(model, **more):
    params = harness_colbert.RetrieverParams(model=model, dtype="fp32", stored="fp32", device="cpu", **more)
    return harness_colbert.resolve(params, FACTS)


def sparse_params(model):
    return harness_splade.resolve(harness_splade.SpladeParams(model=model, dtype="fp32", device="cpu"), FACTS)


def test_the_dense_head_is_the_first_tokens_state(model, tmp_path):
    params = harness_dense.resolve(harness_dense.DenseParams(model=model, dtype="fp32"), FACTS)
    search, _ = opened(Dense(params), tmp_path / "index")
    expected = [[slow_dense(model, query) @ slow_dense(model, text) for text in TEXTS] for query in QUERIES]
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(np.array(expected), abs=1e-4)


def test_the_sparse_head_multiplies_the_largest_weights_of_shared_tokens(model, tmp_path):
    params = harness_splade.resolve(harness_splade.SpladeParams(model=model, dtype="fp32"), FACTS)
    search, facts = opened(Sparse(params), tmp_path / "index")
    asked, rows = ([slow_sparse(model, text) for text in every] for every in (QUERIES, TEXTS))
    expected = [
        [sum(weight * row.get(term, 0) for term, weight in query.items()) for row in rows] for query in asked
    ]
    assert np.count_nonzero(expected) > 5
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(np.array(expected), abs=1e-4)
    assert facts["postings"] == sum(map(len, rows))


def test_the_third_head_compares_token_by_token(model, tmp_path):
    search, facts = opened(LateRetriever(late(model)), tmp_path / "index")
    expected = np.array([[slow_late(model, query, text) for text in TEXTS] for query in QUERIES])
    together = search.search(QUERIES, len(TEXTS))
    assert scores(together) == pytest.approx(expected, abs=1e-4)
    assert facts["vectors"] == sum(len(slow_vectors(model, text)) for text in TEXTS)
    alone = np.concatenate([search.search([query], len(TEXTS)).scores for query in QUERIES])
    assert alone == pytest.approx(together.scores, abs=1e-6)
    assert search.search([], 3).passages.shape == (0, 3)
    assert search.report()["queries_cut"] == 2  # together, and alone
    scorer = LateReranker(late(model)).open(testing.texts(TEXTS), tmp_path / "index")
    some = scorer.score(QUERIES, np.array([[5, 0], [1, 2], [3, 4], [0, 5]]))
    assert some == pytest.approx(
        np.take_along_axis(expected, np.array([[5, 0], [1, 2], [3, 4], [0, 5]]), 1), abs=1e-4
    )


def test_probed_centroids_find_the_same_however_long_the_other_queries_are(model, tmp_path):
    probing = harness_colbert.Approximate(harness_colbert.Ivf(centroids=8, probes=2, candidates=3))
    search, _ = opened(LateRetriever(late(model, search=probing)), tmp_path / "index")
    together = search.search(QUERIES, 3)
    alone = [search.search([query], 3) for query in QUERIES]
    assert together.passages.tolist() == [row for hits in alone for row in hits.passages.tolist()]
    assert search.report()["recall_queries"] == 2 * len(QUERIES)


def test_the_authors_pickled_heads_give_the_same(model, tmp_path):
    folder = original(tmp_path / "model")
    for method, params in ((Sparse, sparse_params), (LateRetriever, late)):
        hits = []
        for number, at in enumerate((model, folder)):
            search, _ = opened(method(params(at)), tmp_path / f"{method.__name__}{number}")
            hits.append(search.search(QUERIES, len(TEXTS)))
        assert all(
            np.array_equal(*pair) for pair in zip(*[(h.passages, h.scores) for h in hits], strict=True)
        )


def test_a_head_of_another_network_is_refused(model, tmp_path):
    from harness.toolkit.neural import bge_m3

    with pytest.raises(HarnessError, match="take head and network from the same model"):
        bge_m3.read(model, "sparse_linear", 48)
    assert bge_m3.read(model, "sparse_linear", tiny_models.HIDDEN).out_features == 1
    (tmp_path / "sparse_linear.safetensors").write_bytes(b"short")
    with pytest.raises(HarnessError, match="cannot be read"):
        bge_m3.read(tmp_path, "sparse_linear", tiny_models.HIDDEN)


def test_the_short_name_has_the_lengths_of_its_authors():
    sparse = harness_splade.resolve(harness_splade.SpladeParams(model="bge-m3"), FACTS)
    several = late("bge-m3")
    for params in (sparse, several):
        assert (params.model, params.query_length, params.passage_length) == ("BAAI/bge-m3", 512, 8192)
    assert sparse.query == "model"
