"""The retriever `dense` against a slow reading of its models' papers, on tiny checkpoints in their formats."""

import json

import numpy as np
import pytest
import slow_bert
import tiny_models

from harness import testing
from harness.types import Facts

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_dense import DenseParams, resolve, towers  # noqa: E402
from harness_dense.retriever import Dense  # noqa: E402

pytestmark = pytest.mark.extras

# Lengths far apart, so that batches are padded or packed; empty ones; more tokens than there are places.
TEXTS = [
    "the castle of the island",
    "",
    " ".join(testing.texts(["x"]).every) + " river bridge " * 60,
    "winter",
    "painter of the harbour, naïve café!",
    "北京是中国的首都。",
    *(f"market number {i} " + "garden stone " * i for i in range(12)),
]
QUERIES = ["castle island", "", "when was the railway built", "painter " * 50, "北京"]


def resolved(model, **given):
    return resolve(DenseParams(model=model, **{"dtype": "fp32", **given}), Facts("en", "en", "passage"))


def scores(params, folder, texts=TEXTS, queries=QUERIES):
    """float32[Q, N] by position, and what the index tells of itself."""
    corpus = testing.texts(texts, batch=5)
    folder.mkdir()
    method = Dense(params)
    report = method.index(corpus, folder)
    hits = method.open(corpus, folder).search(queries, len(texts))
    found = np.zeros((len(queries), len(texts)), np.float32)
    np.put_along_axis(found, hits.passages, hits.scores, axis=1)
    return found, report


class Slow:
    """One tower, one text at a time: what a paper's formulas say, with nothing for speed."""

    def __init__(self, folder, length, prompt="", below=""):
        self.config = json.loads((folder / "config.json").read_text())
        every = tiny_models.read_safetensors(folder / "model.safetensors")
        self.tensors = {name.removeprefix(below): value for name, value in every.items()}
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.length, self.prompt = length, prompt

    def states(self, text):
        ids = self.tokenizer.encode(self.prompt + text).ids
        if len(ids) > self.length:
            ids = ids[: self.length - 1] + ids[-1:]  # the closing token is kept
        return slow_bert.hidden_states(self.tensors, self.config, ids)


def slow_scores(passage_vector, query_vector, texts=TEXTS, queries=QUERIES):
    passages = np.array([passage_vector(text) for text in texts])
    return np.array([query_vector(query) for query in queries]) @ passages.T


def unit(vector):
    return vector / np.linalg.norm(vector)


POOLED = {
    "cls": lambda states: states[0],
    "mean": lambda states: states.mean(axis=0),
    "max": lambda states: states.max(axis=0),
    "last": lambda states: states[-1],
}


def test_two_towers_in_the_format_of_dpr(tmp_path):
    """Karpukhin et al. 2020, section 3: sim(q, p) = E_Q(q) . E_P(p), E the state of [CLS]."""
    towers = {}
    for side, seed in (("ctx", 1), ("question", 2)):
        towers[side] = tiny_models.bert(
            tmp_path / side, prefix=f"{side}_encoder.bert_model.", pooler=False, seed=seed,
            architecture="DPREncoder", model_type="dpr", projection_dim=0,
        )  # fmt: skip
    params = resolved(towers["ctx"], query_model=towers["question"], query_length=16)
    computed, _ = scores(params, tmp_path / "index")
    passages = Slow(towers["ctx"], 64, below="ctx_encoder.bert_model.")
    queries = Slow(towers["question"], 16, below="question_encoder.bert_model.")
    expected = slow_scores(lambda text: passages.states(text)[0], lambda text: queries.states(text)[0])
    assert computed == pytest.approx(expected, abs=1e-4)


def test_the_projection_of_dpr(tmp_path):
    folder = tiny_models.bert(
        tmp_path / "model", prefix="ctx_encoder.bert_model.", pooler=False, architecture="DPRContextEncoder",
        model_type="dpr", projection_dim=8,
        more={"ctx_encoder.encode_proj.weight": (8, 32), "ctx_encoder.encode_proj.bias": (8,)},
    )  # fmt: skip
    computed, report = scores(resolved(folder), tmp_path / "index")
    slow = Slow(folder, 64, below="ctx_encoder.bert_model.")
    weight, bias = (slow.tensors[f"ctx_encoder.encode_proj.{part}"] for part in ("weight", "bias"))

    def vector(text):
        return weight @ slow.states(text)[0] + bias

    assert report["dimension"] == 8
    assert computed == pytest.approx(slow_scores(vector, vector), abs=1e-4)


def test_roberta_with_the_head_of_ance(tmp_path):
    """Xiong et al. 2021: the state of <s>, a linear layer, a layer norm; their inner product."""
    head = {
        "embeddingHead.weight": (24, 32), "embeddingHead.bias": (24,),
        "norm.weight": (24,), "norm.bias": (24,),
    }  # fmt: skip
    folder = tiny_models.roberta(tmp_path / "model", prefix="roberta.", pooler=False, more=head)
    computed, report = scores(resolved(folder), tmp_path / "index")
    slow = Slow(folder, 64, below="roberta.")

    def vector(text):
        x = slow.tensors["embeddingHead.weight"] @ slow.states(text)[0] + slow.tensors["embeddingHead.bias"]
        centred = x - x.mean()
        scaled = centred / np.sqrt((centred**2).mean() + 1e-5)
        return scaled * slow.tensors["norm.weight"] + slow.tensors["norm.bias"]

    assert report["dimension"] == 24
    assert computed == pytest.approx(slow_scores(vector, vector), abs=1e-4)


@pytest.mark.parametrize("how", sorted(POOLED))
def test_a_roberta_pooled_in_every_way(how, tmp_path):
    folder = tiny_models.roberta(tmp_path / "model")
    computed, _ = scores(resolved(folder, pooling=how), tmp_path / "index")
    slow = Slow(folder, 64)

    def vector(text):
        return POOLED[how](slow.states(text))

    assert computed == pytest.approx(slow_scores(vector, vector), abs=1e-4)


@pytest.mark.parametrize(
    ("pooling", "how"), [("cls_token", "cls"), ("mean_tokens", "mean"), ("max_tokens", "max")]
)
def test_a_sentence_transformers_folder_says_everything_itself(pooling, how, tmp_path):
    settings = {
        "prompts": {"query": "castle: ", "document": "market: "},
        "default_prompt_name": None,
        "similarity_fn_name": "cosine",
    }
    folder = tiny_models.sentence_transformer(
        tmp_path / "model", pooling=pooling, length=24, settings=settings
    )
    computed, report = scores(resolved(folder), tmp_path / "index")
    passages, queries = Slow(folder, 24, "market: "), Slow(folder, 24, "castle: ")
    expected = slow_scores(
        lambda text: unit(POOLED[how](passages.states(text))),
        lambda text: unit(POOLED[how](queries.states(text))),
    )
    assert computed == pytest.approx(expected, abs=1e-4)
    assert report["texts_cut"] > 0


def test_the_modules_after_pooling_are_applied_in_their_order(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model", normalise=False)
    modules = json.loads((folder / "modules.json").read_text())
    for number, kind in ((2, "Dense"), (3, "LayerNorm")):
        path, last = f"{number}_{kind}", f"sentence_transformers.models.{kind}"
        modules.append({"idx": number, "name": str(number), "path": path, "type": last})
    tiny_models.as_json(folder / "modules.json", modules)
    inner = {"in_features": 32, "out_features": 16, "bias": True}
    activation = {"activation_function": "torch.nn.modules.activation.Tanh"}
    tiny_models.as_json(folder / "2_Dense" / "config.json", inner | activation)
    tiny_models.as_json(folder / "3_LayerNorm" / "config.json", {"dimension": 16})
    dense = tiny_models.random_tensors({"linear.weight": (16, 32), "linear.bias": (16,)}, 3)
    norm = tiny_models.random_tensors({"norm.weight": (16,), "norm.bias": (16,)}, 4)
    tiny_models.safetensors(folder / "2_Dense" / "model.safetensors", dense)
    tiny_models.safetensors(folder / "3_LayerNorm" / "model.safetensors", norm)
    computed, report = scores(resolved(folder, similarity="dot"), tmp_path / "index")
    slow = Slow(folder, 48)

    def vector(text):
        x = np.tanh(dense["linear.weight"] @ slow.states(text).mean(axis=0) + dense["linear.bias"])
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
        return x * norm["norm.weight"] + norm["norm.bias"]

    assert report["dimension"] == 16
    assert computed == pytest.approx(slow_scores(vector, vector), abs=1e-4)


def test_what_the_suite_says_stands_above_what_the_folder_says(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model", settings={"prompts": {"query": "castle: "}})
    params = resolved(
        folder, pooling="cls", normalise=False, similarity="dot", query_prompt="", passage_length=10
    )
    computed, _ = scores(params, tmp_path / "index")
    passages, queries = Slow(folder, 10), Slow(folder, 48)
    expected = slow_scores(lambda text: passages.states(text)[0], lambda text: queries.states(text)[0])
    assert computed == pytest.approx(expected, abs=1e-4)


def test_a_text_has_the_same_scores_alone_and_among_others(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    together, _ = scores(resolved(folder), tmp_path / "together")
    for i, text in enumerate(TEXTS):
        alone, _ = scores(resolved(folder), tmp_path / str(i), texts=[text])
        assert alone[:, 0] == pytest.approx(together[:, i], abs=1e-5)


def test_what_was_cut_off_is_counted(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model", length=8)
    texts = ["castle " * 6, "castle " * 7, "castle " * 10]  # 6 fit beside [CLS] and [SEP]
    corpus = testing.texts(texts)
    method = Dense(resolved(folder, query_length=5))
    (tmp_path / "index").mkdir()
    report = method.index(corpus, tmp_path / "index")
    assert report == {
        "dimension": 32, "backend": "torch", "dtype": "fp32", "stored": "fp32", "bytes_a_text": 136,
        "tokens": 24, "texts_cut": 2, "tokens_lost": 5,
    }  # fmt: skip
    search = method.open(corpus, tmp_path / "index")
    search.search(["castle", "castle " * 9], 2)
    assert search.report() == {"queries_cut": 1, "query_tokens_lost": 6}


def test_documents_are_searched_as_passages_are(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    method = Dense(resolved(folder))
    texts = testing.texts(["the castle\non the hill", "a market"], unit="document")
    method.index(texts, tmp_path)
    hits = method.open(texts, tmp_path).search(["castle hill"], 2)
    assert hits.unit == "document"
    assert sorted(hits.passages[0].tolist()) == [0, 1]


def test_a_model_is_loaded_once_however_often_texts_are_encoded(tmp_path, monkeypatch):
    tiny_models.sentence_transformer(tmp_path / "model")
    method, corpus = Dense(resolved(tmp_path / "model")), testing.texts(TEXTS[:2])
    method.index(corpus, tmp_path)
    searcher = method.open(corpus, tmp_path)
    loads = []

    def counted(*arguments):
        loads.append(arguments)
        return load(*arguments)

    load = towers._tower
    monkeypatch.setattr(towers, "_tower", counted)
    for text in TEXTS[3:6]:
        passages, queries = method.encode([text], False), method.encode([text], True)
        assert np.array_equal(passages, searcher.encode_passages([text]))
        assert np.array_equal(queries, searcher.encode([text]))
    assert len(loads) == 2  # the method's tower of queries, and the searcher's of passages


def test_within_scores_what_is_named_and_nothing_else(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    candidates = [i % 3 != 1 for i in range(len(TEXTS))]
    texts = testing.texts(TEXTS, candidates=candidates)
    method = Dense(resolved(folder))
    method.index(texts, tmp_path)
    search = method.open(texts, tmp_path)
    whole = search.search(["castle"], len(TEXTS))
    score = dict(zip(whole.passages[0].tolist(), whole.scores[0].tolist(), strict=True))
    hits = search.search(["castle"], 4, np.array([[0, 1, 5, -1]]))
    assert sorted(hits.passages[0].tolist()) == [-1, -1, 0, 5]  # 1 is no candidate
    for position, found in zip(hits.passages[0, :2].tolist(), hits.scores[0, :2].tolist(), strict=True):
        assert found == pytest.approx(score[position], abs=1e-6)


def test_bf16_says_much_the_same_and_is_stored_in_half_the_room(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    fine, _ = scores(resolved(folder), tmp_path / "fp32")
    coarse, told = scores(resolved(folder, dtype="bf16"), tmp_path / "bf16")
    assert told["stored"] == "fp16"
    assert coarse == pytest.approx(fine, abs=0.05)
    sizes = [(tmp_path / name / "vectors.npy").stat().st_size - 128 for name in ("fp32", "bf16")]
    assert sizes[0] == 2 * sizes[1]


def test_what_only_a_search_reads_leaves_the_index_as_it_is(tmp_path):
    folder = tiny_models.sentence_transformer(tmp_path / "model")
    other = tiny_models.sentence_transformer(tmp_path / "queries", seed=2)
    changed = {"query_model": other, "query_prompt": "castle: ", "query_length": 7}
    assert set(changed) < set(DenseParams.__dataclass_fields__)
    scores(resolved(folder), tmp_path / "one")
    scores(resolved(folder, **changed), tmp_path / "two")
    one, two = ((tmp_path / name / "vectors.npy").read_bytes() for name in ("one", "two"))
    assert one == two
