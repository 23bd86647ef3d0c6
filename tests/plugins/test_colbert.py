"""ColBERT against a plain reading of its paper, on tiny checkpoints in the format of colbertv2.0."""

import dataclasses
import json
import math
import string
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import slow_bert
import tiny_heads
import tiny_models

from harness import testing
from harness.catalogue import params as strict
from harness.errors import HarnessError
from harness.testing.texts import WORDS
from harness.types import Facts
from harness_colbert import Approximate, ColbertParams, Ivf, RetrieverParams, missing_files, registry, resolve

pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_colbert.retriever import LateRetriever
from harness_colbert.scorer import LateReranker

pytestmark = pytest.mark.extras

TEXTS = ["the castle, of the island.", "", "river", "!?", " ".join(WORDS * 3), "北京 castle [PAD] closed"]
QUERIES = ["castle", "", "when was the railway bridge built? before the old castle was", "painter, painter"]
NUMBERS = {piece: i for i, piece in enumerate(tiny_models.VOCABULARY)}


def pieces(text):
    """WordPiece by the longest match, for words that the vocabulary has or that are made of its letters."""
    spaced = text.lower().replace("[pad]", " [PAD] ")
    for sign in string.punctuation:
        spaced = spaced.replace(sign, f" {sign} ") if sign not in "[]" else spaced
    for sign in "北京":
        spaced = spaced.replace(sign, f" {sign} ")
    ids = []
    for word in spaced.split():
        if word in NUMBERS:
            ids.append(NUMBERS[word])
            continue
        start = 0
        while start < len(word):
            end = next(
                end
                for end in range(len(word), start, -1)
                if ("##" if start else "") + word[start:end] in NUMBERS
            )
            ids.append(NUMBERS[("##" if start else "") + word[start:end]])
            start = end
    return ids


def states(folder, ids, seen):
    """float64[n, d]: as `slow_bert.hidden_states`, with tokens that nobody looks at (seen: bool[n])."""
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    body = {name.removeprefix("bert."): array for name, array in tensors.items()}
    if all(seen):
        return slow_bert.hidden_states(body, config, ids)
    # what is seen does not depend on what is not; a token that is not seen looks at those that are
    n, real = len(ids), np.array(seen)
    x = (
        body["embeddings.word_embeddings.weight"][ids].astype(np.float64)
        + body["embeddings.position_embeddings.weight"][:n]
        + body["embeddings.token_type_embeddings.weight"][[0] * n]
    )
    x = slow_bert.norm(body, config, "embeddings.LayerNorm", x)
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            slow_bert.linear(body, f"{at}.attention.self.{name}", x) for name in ("query", "key", "value")
        )
        width = x.shape[1] // config["num_attention_heads"]
        heads = []
        for start in range(0, x.shape[1], width):
            part = slice(start, start + width)
            weights = np.exp(q[:, part] @ k[:, part].T / math.sqrt(width)) * real
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
        mixed = slow_bert.linear(body, f"{at}.attention.output.dense", np.hstack(heads))
        x = slow_bert.norm(body, config, f"{at}.attention.output.LayerNorm", x + mixed)
        inner = slow_bert.gelu(slow_bert.linear(body, f"{at}.intermediate.dense", x))
        outer = slow_bert.linear(body, f"{at}.output.dense", inner)
        x = slow_bert.norm(body, config, f"{at}.output.LayerNorm", x + outer)
    return x


def vectors(folder, ids, seen):
    linear = tiny_models.read_safetensors(folder / "model.safetensors")["linear.weight"].astype(np.float64)
    projected = states(folder, ids, seen) @ linear.T
    return projected / np.linalg.norm(projected, axis=1, keepdims=True)


def plain_query(folder, text, length=12, attend=False):
    """float64[L, d]: [CLS] [Q] q1 ... [SEP] [MASK] ... (Khattab and Zaharia 2020, section 3.2)."""
    ids = [NUMBERS["[CLS]"], NUMBERS["[unused0]"], *pieces(text)[: length - 3], NUMBERS["[SEP]"]]
    filled = ids + [NUMBERS["[MASK]"]] * (length - len(ids))
    return vectors(folder, filled, [attend or i < len(ids) for i in range(length)])


def plain_passage(folder, text, length=40, punctuation=False):
    """float64[n, d]: [CLS] [D] d1 ... [SEP], without the vectors of punctuation and padding."""
    ids = [NUMBERS["[CLS]"], NUMBERS["[unused1]"], *pieces(text)[: length - 3], NUMBERS["[SEP]"]]
    left_out = {NUMBERS["[PAD]"]} | (set() if punctuation else {NUMBERS[sign] for sign in string.punctuation})
    found = vectors(folder, ids, [True] * len(ids))
    return found[[number not in left_out for number in ids]]


def plain_scores(folder, queries=QUERIES, texts=TEXTS, query=(), passage=()):
    """float64[Q, n]: the sum over i of the max over j of E_qi . E_dj (equation 3)."""
    asked = [plain_query(folder, text, **dict(query)) for text in queries]
    answers = [plain_passage(folder, text, **dict(passage)) for text in texts]
    return np.array([[(q @ d.T).max(axis=1).sum() for d in answers] for q in asked])


def given(folder, **more):
    settings = {"model": str(folder), "dtype": "fp32", "stored": "fp32", **more}
    value, problems = strict.convert(RetrieverParams, settings, folder.parent)
    assert problems == []
    return resolve(value, Facts("en", "en", "passage"))


def opened(params, corpus, folder):
    folder.mkdir(exist_ok=True)
    method = LateRetriever(params)
    texts = testing.texts(corpus)
    report = method.index(texts, folder)
    return method.open(texts, folder), report


def scores(hits):
    """float[Q, n], by position; every text is found."""
    return np.take_along_axis(hits.scores, np.argsort(hits.passages, axis=1), axis=1)


def test_scores_equal_the_plain_reading_for_short_long_and_empty_texts(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    search, told = opened(given(model), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)))
    assert computed == pytest.approx(plain_scores(model), abs=1e-4)
    assert told["vectors"] == sum(len(plain_passage(model, text)) for text in TEXTS)
    assert told["texts_cut"] == 1
    assert told["tokens_lost"] == len(pieces(TEXTS[4])) - 37
    assert search.report() == {"queries_cut": 1, "query_tokens_lost": len(pieces(QUERIES[2])) - 9}


def test_the_reranker_gives_the_retrievers_scores_over_the_retrievers_index(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    opened(given(model), TEXTS, tmp_path / "index")
    scorer = LateReranker(given(model)).open(testing.texts(TEXTS), tmp_path / "index")
    candidates = np.array([[4, 0, -1], [1, 2, 3], [5, 4, 3], [0, -1, -1]])
    computed = scorer.score(QUERIES, candidates)
    expected = np.take_along_axis(plain_scores(model), np.maximum(candidates, 0), axis=1)
    assert computed[candidates >= 0] == pytest.approx(expected[candidates >= 0], abs=1e-4)
    with pytest.raises(ValueError, match="position 6 is not in the index"):
        scorer.score(["castle"], np.array([[6]]))


@pytest.mark.parametrize("changed", [{"attend_to_mask_tokens": True}, {"mask_punctuation": False}])
def test_what_the_metadata_says_is_done(tmp_path, changed):
    model = tiny_heads.colbert(tmp_path / "model", **changed)
    search, _ = opened(given(model), TEXTS, tmp_path / "index")
    expected = plain_scores(
        model,
        query={"attend": changed.get("attend_to_mask_tokens", False)},
        passage={"punctuation": not changed.get("mask_punctuation", True)},
    )
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(expected, abs=1e-4)
    assert np.abs(expected - plain_scores(model)).max() > 1e-3


def test_lengths_that_a_suite_gives_come_before_the_checkpoints(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    search, _ = opened(given(model, query_length=20, passage_length=10), TEXTS, tmp_path / "index")
    expected = plain_scores(model, query={"length": 20}, passage={"length": 10})
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(expected, abs=1e-4)
    found = given(model)
    assert (found.query_length, found.passage_length) == (12, 40)


@pytest.mark.parametrize("name", ["passage_length", "query_length"])
def test_a_length_beyond_the_models_places_is_refused_while_planning(tmp_path, name):
    folder = tiny_heads.colbert(tmp_path)
    with pytest.raises(HarnessError, match=f"{name}: 65 .* 64;"):
        given(folder, **{name: 65})


def test_a_model_that_came_after_planning_is_held_to_its_places_too(tmp_path):
    params = given(tiny_heads.colbert(tmp_path / "model"))
    with pytest.raises(HarnessError, match=r"passage_length: 65 .* 64"):
        opened(dataclasses.replace(params, passage_length=65), TEXTS, tmp_path / "index")
    with pytest.raises(HarnessError, match=r"query_length: 65 .* 64"):
        opened(dataclasses.replace(params, query_length=65), TEXTS, tmp_path / "index")


def test_a_text_has_the_same_score_alone_and_in_a_padded_batch(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    together, _ = opened(given(model), TEXTS, tmp_path / "together")
    everything = scores(together.search(QUERIES, len(TEXTS)))
    for i, text in enumerate(TEXTS):
        alone, _ = opened(given(model), [text], tmp_path / str(i))
        assert alone.search(QUERIES, 1).scores[:, 0] == pytest.approx(everything[:, i], abs=1e-4)


def test_half_precision_on_disk_changes_scores_little(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    search, _ = opened(given(model, stored="fp16"), TEXTS, tmp_path / "index")
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(plain_scores(model), abs=0.02)


def test_within_names_what_is_scored_and_a_text_twice_is_found_once(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    search, _ = opened(given(model), TEXTS, tmp_path / "index")
    hits = search.search(QUERIES, 3, np.array([[4, 0, -1, 4]] * len(QUERIES)))
    assert (np.sort(hits.passages, axis=1) == [-1, 0, 4]).all()
    order = np.argsort(hits.passages, axis=1)[:, 1:]
    found = np.take_along_axis(hits.scores, order, axis=1)
    assert found == pytest.approx(plain_scores(model)[:, [0, 4]], abs=1e-4)


def test_a_search_that_stores_nothing_finds_what_a_stored_one_finds(tmp_path, monkeypatch):
    from harness_colbert import model, storage, streaming

    monkeypatch.setattr(storage, "SHARD", 2)
    monkeypatch.setattr(streaming, "EVERY", -1.0)
    folder = tiny_heads.colbert(tmp_path / "model")
    stored, _ = opened(given(folder), TEXTS, tmp_path / "stored")
    none, report = opened(given(folder, stored="none"), TEXTS, tmp_path / "none")
    assert report == {"dtype": "fp32", "stored": "none"}
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["index.json"]
    within = np.array([[4, 0, -1, 4]] * len(QUERIES))
    for given_texts in ((4,), (9,), (3, within)):
        expected, found = stored.search(QUERIES, *given_texts), none.search(QUERIES, *given_texts)
        assert found.passages.tolist() == expected.passages.tolist()
        assert found.scores.tolist() == expected.scores.tolist()
    facts = {name: none.report()[name] for name in ("tokens", "texts_cut", "tokens_lost")}
    passes = tiny_heads.killed_in_the_third_pass(monkeypatch, model.Passages)
    (kept := tmp_path / "kept").mkdir()
    with pytest.raises(KeyboardInterrupt):
        none.search_all(QUERIES, 4, kept)
    assert none.search_all(QUERIES, 4, kept).scores.tolist() == stored.search(QUERIES, 4).scores.tolist()
    assert sum(passes) == len(TEXTS) + 2  # one shard, again
    assert {name: none.report()[name] for name in facts} == facts
    params = dataclasses.replace(given(folder, stored="none"))
    scorer = LateReranker(params).open(testing.texts(TEXTS), None)
    assert scorer.score(QUERIES, within[:, :2]) == pytest.approx(plain_scores(folder)[:, [4, 0]], abs=1e-4)
    with pytest.raises(HarnessError, match="inverted file"):
        given(folder, stored="none", search={"ivf": {}})


def test_the_retriever_and_the_reranker_share_one_index():
    from harness import catalogue
    from harness.plan import methods

    known = catalogue.load()
    used = []
    for kind, given in (("retrievers", {"search": Approximate(Ivf())}), ("rerankers", {})):
        record = known.find(kind, "colbert").record
        values = record.params("org/name", **given)
        used.append(methods.uses(known.find(kind, "colbert"), values, lambda path: "", record.search_only))
    assert used[0] == used[1]


def test_a_killed_index_goes_on_with_the_shard_that_it_was_at(tmp_path, monkeypatch):
    from harness_colbert import model, storage

    monkeypatch.setattr(storage, "SHARD", 2)
    params = given(tiny_heads.colbert(tmp_path / "model"))
    whole, _ = opened(params, TEXTS, tmp_path / "whole")
    passes = tiny_heads.killed_in_the_third_pass(monkeypatch, model.Passages)
    with pytest.raises(KeyboardInterrupt):
        opened(params, TEXTS, tmp_path / "killed")
    resumed, _ = opened(params, TEXTS, tmp_path / "killed")
    assert sum(passes) == len(TEXTS) + 2  # one shard, again
    assert resumed.search(QUERIES, 6).scores.tolist() == whole.search(QUERIES, 6).scores.tolist()
    for path in (tmp_path / "whole").glob("*.bin"):
        assert (tmp_path / "killed" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["000002.vectors.bin", "000002.texts.npy"])
@pytest.mark.parametrize("left", [None, 8], ids=["missing", "cut short"])
def test_a_shard_that_was_lost_is_encoded_again_whatever_its_mark_says(tmp_path, monkeypatch, name, left):
    from harness_colbert import storage

    monkeypatch.setattr(storage, "SHARD", 2)
    params, folder = given(tiny_heads.colbert(tmp_path / "model")), tmp_path / "index"
    opened(params, TEXTS, folder)
    whole = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    (folder / name).unlink() if left is None else (folder / name).write_bytes(whole[name][:left])
    opened(params, TEXTS, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == whole


def made_up(texts, dimension=16, seed=1, per=500):
    """An index of random vectors in several parts, and all of them as a list."""
    from harness_colbert.storage import Index, Part

    chance = np.random.default_rng(seed)
    counts = chance.integers(1, 30, texts)
    every = [chance.standard_normal((count, dimension)).astype(np.float32) for count in counts]
    first = [*range(0, texts, per), texts]
    parts = [
        Part(np.concatenate([[0], np.cumsum(counts[a:z])]), np.concatenate(every[a:z]).astype(np.float16))
        for a, z in pairwise(first)
    ]
    return Index(np.arange(texts), np.array(first), parts, dimension), [
        matrix.astype(np.float16).astype(np.float64) for matrix in every
    ]


@pytest.mark.parametrize("length", [1, 7, 300])
def test_many_texts_in_several_parts_are_ranked_as_by_hand(length):
    from harness_colbert import matching

    index, every = made_up(1300)
    queries = (
        np.random.default_rng(2)
        .standard_normal((40, length, 16))
        .astype(np.float32)[: 40 if length < 300 else 3]
    )
    truth = np.array([[(q.astype(np.float64) @ d.T).max(axis=1).sum() for d in every] for q in queries])
    for k in (1, 10, 1000, 1400):
        texts, computed = matching.search(index, queries, k)
        best = -np.sort(-truth, axis=1)[:, :k]
        assert computed[:, : best.shape[1]] == pytest.approx(best, rel=1e-5, abs=1e-4)
        assert (texts[:, best.shape[1] :] == -1).all()
        assert np.take_along_axis(truth, texts[:, : best.shape[1]], axis=1) == pytest.approx(
            best, rel=1e-5, abs=1e-4
        )
    chosen = np.array([[5, 1299, -1, 700]] * len(queries))
    computed = matching.score(index, queries, chosen)
    assert computed[:, [0, 1, 3]] == pytest.approx(truth[:, [5, 1299, 700]], rel=1e-5, abs=1e-4)


def test_what_a_gpu_would_compute_is_the_same():
    """By torch alone, as on a GPU, here on the CPU."""
    import torch

    from harness_colbert import matching

    index, _ = made_up(300)
    queries = np.random.default_rng(2).standard_normal((20, 32, 16)).astype(np.float32)
    part, expected, found = index.parts[0], np.empty((20, 300), np.float32), np.empty((20, 300), np.float32)
    matching.comparer(queries, "cpu")(part.vectors, part.bounds, expected)
    halves = [torch.from_numpy(half.reshape(-1, 16)) for half in (queries[:13], queries[13:])]
    matching._anywhere(halves, part.vectors, part.bounds, found, 32)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_equal_scores_stand_in_the_order_of_texts_and_negative_ones_below():
    from harness_colbert import matching

    found = np.array([[1.5, -2.0, 0.0, 1.5, -0.0, -3.5]], np.float32)
    keys = np.sort(matching.encoded(found, np.arange(6)[None]), axis=1)
    places, values = matching.decoded(keys)
    assert places.tolist() == [[0, 3, 2, 4, 1, 5]]
    assert values.tolist() == [[1.5, 1.5, 0, 0, -2.0, -3.5]]


def test_a_folder_without_metadata_is_no_colbert(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    (model / "artifact.metadata").unlink()
    with pytest.raises(HarnessError, match=r"has no artifact\.metadata.*name a checkpoint of ColBERT"):
        given(model)


def test_a_way_to_compare_that_is_not_colbertv2s_is_refused(tmp_path):
    with pytest.raises(HarnessError, match="compares by l2"):
        given(tiny_heads.colbert(tmp_path / "model", similarity="l2"))


def test_a_checkpoint_without_its_projection_is_refused_by_name(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    tensors = tiny_models.read_safetensors(model / "model.safetensors")
    tiny_models.safetensors(
        model / "model.safetensors", {name: a for name, a in tensors.items() if name != "linear.weight"}
    )
    with pytest.raises(HarnessError, match=r"it lacks linear\.weight"):
        opened(given(model), TEXTS, tmp_path / "index")


def test_a_checkpoint_with_strange_or_missing_tensors_is_refused_by_name(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    tensors = tiny_models.read_safetensors(model / "model.safetensors")
    changed = {
        name.replace("layer.1.output.dense.bias", "layer.1.output.strange"): a for name, a in tensors.items()
    }
    tiny_models.safetensors(model / "model.safetensors", changed)
    with pytest.raises(HarnessError, match=r"lacks encoder.layer.1.output.dense.bias.*strange"):
        opened(given(model), TEXTS, tmp_path / "index")


def test_a_projection_of_another_width_than_said_is_refused(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model", dim=16)
    with pytest.raises(HarnessError, match=r"vectors of 8 .* 16"):
        opened(given(model), TEXTS, tmp_path / "index")


def test_a_model_that_is_not_there_is_named_while_planning(tmp_path):
    assert "no such folder" in missing_files(given(tmp_path / "absent"))[0]
    assert missing_files(ColbertParams("colbert-ir/absent"))[0].startswith(
        "model colbert-ir/absent at revision main"
    )


def test_known_models_have_names_of_their_own():
    names = [known.name for known in registry.MODELS]
    assert len(set(names)) == len(names)
    assert registry.find("dapr-colbertv2").query_length == 150
    assert registry.find("colbert-ir/colbertv2.0").query_length == 32


def test_a_damaged_index_is_told(tmp_path):
    model = tiny_heads.colbert(tmp_path / "model")
    opened(given(model), TEXTS, tmp_path / "index")
    path = tmp_path / "index" / "000000.vectors.bin"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(HarnessError, match="the index is damaged"):
        LateRetriever(given(model)).open(testing.texts(TEXTS), tmp_path / "index")


@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_gives_the_same_scores(tmp_path):
    """Somebody else's reading of the same checkpoint, where it is installed."""
    late = pytest.importorskip("sentence_transformers", "6.0").MultiVectorEncoder
    model, texts = tiny_heads.colbert(tmp_path / "model"), TEXTS[:5]
    search, _ = opened(given(model), texts, tmp_path / "index")
    other = late(str(model), device="cpu")
    queries, passages = other.encode_query(QUERIES), other.encode_document(texts)
    expected = [[(np.array(q) @ np.array(d).T).max(axis=1).sum() for d in passages] for q in queries]
    assert scores(search.search(QUERIES, len(texts))) == pytest.approx(np.array(expected), abs=1e-4)


def saved_by_pylate(folder, kind, **settings):
    """A folder as PyLate saves one: two linear layers for tokens, and its names of the settings."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(1)
    if kind == "modernbert":
        config = transformers.ModernBertConfig(
            vocab_size=len(tiny_models.VOCABULARY), hidden_size=32, intermediate_size=48, num_hidden_layers=3,
            num_attention_heads=2, max_position_embeddings=64, local_attention=16, pad_token_id=0,
            bos_token_id=2, cls_token_id=2, eos_token_id=3, sep_token_id=3, initializer_range=0.3,
        )  # fmt: skip
        transformers.ModernBertModel(config).save_pretrained(folder)
        tiny_models.wordpiece(folder, 64)
    else:
        tiny_models.bert(folder)
    kinds = ["sentence_transformers.models.Transformer", *["pylate.models.Dense.Dense"] * 2]
    paths = ["", "1_Dense", "2_Dense"]
    modules = [{"idx": i, "name": str(i), "path": path, "type": kinds[i]} for i, path in enumerate(paths)]
    tiny_models.as_json(folder / "modules.json", modules)
    for path, inputs, outputs, residual in (("1_Dense", 32, 16, False), ("2_Dense", 16, 8, True)):
        (folder / path).mkdir()
        described = {"in_features": inputs, "out_features": outputs, "bias": False, "use_residual": residual}
        described["activation_function"] = "torch.nn.modules.linear.Identity"
        tiny_models.as_json(folder / path / "config.json", described)
        shapes = {f"{name}.weight": (outputs, inputs) for name in ("linear", "residual")[: 1 + residual]}
        tiny_models.safetensors(folder / path / "model.safetensors", tiny_models.random_tensors(shapes, 3))
    usual = {
        "model_type": "ColBERT", "query_prefix": "[unused0]", "document_prefix": "[unused1]", "query_length": 12,
        "document_length": 40, "attend_to_expansion_tokens": False, "skiplist_words": [",", ".", "nothing"],
    }  # fmt: skip
    tiny_models.as_json(folder / "config_sentence_transformers.json", usual | settings)
    return folder


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("modernbert", {}),
        ("bert", {"attend_to_expansion_tokens": True}),
        ("modernbert", {"do_query_expansion": False}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_pylate_gives_the_scores_of_another_reader(tmp_path, kind, settings):
    """Compared with PyLate 1.6.0 itself too, with tokens `[Q] ` and `[D] `: 5e-6 at most."""
    late = pytest.importorskip("sentence_transformers", "6.0").MultiVectorEncoder
    model = saved_by_pylate(tmp_path / "model", kind, **settings)
    params = given(model)
    assert (params.query_length, params.passage_length) == (12, 40)
    search, told = opened(params, TEXTS, tmp_path / "index")
    assert told["dimension"] == 8
    other = late(str(model), device="cpu")
    queries, passages = other.encode_query(QUERIES), other.encode_document(TEXTS)
    expected = [[(np.array(q) @ np.array(d).T).max(axis=1).sum() for d in passages] for q in queries]
    assert scores(search.search(QUERIES, len(TEXTS))) == pytest.approx(np.array(expected), abs=1e-4)


def test_a_folder_of_pylate_that_is_not_understood_is_refused(tmp_path):
    model = saved_by_pylate(tmp_path / "model", "bert", query_length="many")
    with pytest.raises(HarnessError, match="'query_length' is 'many'"):
        given(model)
    layer = model / "1_Dense" / "config.json"
    layer.write_text(layer.read_text().replace("linear.Identity", "activation.Tanh"))
    with pytest.raises(HarnessError, match="1_Dense is a Dense with Tanh"):
        given(model)


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("modules.json", '"x"', "modules.json cannot be read .it is no list"),
        ("modules.json", '["x"]', "modules.json lists something without a type"),
        ("modules.json", '[{"path": "1_Dense"}]', "modules.json lists something without a type"),
        ("modules.json", '[{"path": "../x", "type": "a.Dense"}]', "'../x', which is outside of the model"),
        ("modules.json", "[]", "has no Dense layer"),
        ("2_Dense/config.json", "[1]", "config.json cannot be read .it is no dict"),
        ("config_sentence_transformers.json", '{"query_length": 9, "skiplist_words": 5}', "'skiplist_words' are no"),
    ],
)  # fmt: skip
def test_a_file_of_pylate_with_other_values_is_refused(tmp_path, name, content, fault):
    model = saved_by_pylate(tmp_path / "model", "bert")
    (model / name).write_text(content)
    with pytest.raises(HarnessError, match=fault):
        given(model)


def test_every_known_model_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "neural.md").read_text(encoding="utf-8")
    assert [known.name for known in registry.MODELS if f"`{known.name}`" not in page] == []
