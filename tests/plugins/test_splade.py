"""SPLADE against a plain reading of its formulas, on tiny checkpoints in the formats of the real ones."""

import dataclasses
import json
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
from harness_splade import SpladeParams, registry, resolve

pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_splade.retriever import Sparse

pytestmark = pytest.mark.extras

TEXTS = ["the castle of the island", "", "river", "!?", " ".join(WORDS * 3), "北京 castle, closed."]
QUERIES = ["castle", "", "when was the railway bridge built?", "painter painter festival"]


def token_ids(text, length):
    """WordPiece by the longest match, without the library: lower-cased words, punctuation and Chinese apart."""
    numbers = {piece: i for i, piece in enumerate(tiny_models.VOCABULARY)}
    spaced = "".join(
        f" {letter} " if not letter.isalnum() or "一" <= letter <= "龥" else letter for letter in text.lower()
    )
    ids = []
    for word in spaced.split():
        start, pieces = 0, []
        while start < len(word):
            end = next(
                (
                    end
                    for end in range(len(word), start, -1)
                    if ("##" if start else "") + word[start:end] in numbers
                ),
                None,
            )
            if end is None:
                pieces = [numbers["[UNK]"]]
                break
            pieces.append(numbers[("##" if start else "") + word[start:end]])
            start = end
        ids += pieces
    return [numbers["[CLS]"], *ids[: length - 2], numbers["[SEP]"]]


def plain_row(folder, text, length=64, pooling="max", activation="log"):
    """float64[V]: w_j = max_i log(1 + relu(l_ij)) (Formal et al. 2021, equations 1 and 6)."""
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    body = {name.removeprefix("bert."): array for name, array in tensors.items()}
    states = slow_bert.hidden_states(body, config, token_ids(text, length))
    changed = slow_bert.gelu(slow_bert.linear(tensors, "cls.predictions.transform.dense", states))
    changed = slow_bert.norm(tensors, config, "cls.predictions.transform.LayerNorm", changed)
    embeddings = tensors["bert.embeddings.word_embeddings.weight"].astype(np.float64)
    logits = changed @ embeddings.T + tensors["cls.predictions.bias"]
    weights = np.log(1 + np.maximum(logits, 0))
    if activation == "log-log":
        weights = np.log(1 + weights)
    return weights.max(axis=0) if pooling == "max" else weights.sum(axis=0)


def plain_token_row(folder, text, prefix, queries):
    """float64[V]: relu(w h + b) of every token but the first: its greatest in a passage, their sum in a query
    (uniCOIL: Lin and Ma 2021, and its authors' encoder)."""
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    body = {name.removeprefix(f"{prefix}bert."): array for name, array in tensors.items()}
    ids = token_ids(text, 64)
    states = slow_bert.hidden_states(body, config, ids)
    weights = np.maximum(0, slow_bert.linear(tensors, f"{prefix}tok_proj", states))[:, 0]
    row = np.zeros(len(tiny_models.VOCABULARY))
    for id, weight in zip(ids[1:], weights[1:], strict=True):
        row[id] = row[id] + weight if queries else max(row[id], weight)
    return row


@pytest.mark.parametrize("prefix", ["coil_encoder.", ""])
def test_unicoil_by_its_checkpoint_equals_the_plain_reading(tmp_path, prefix):
    model = tiny_heads.unicoil(tmp_path / "model", prefix, seed=2)
    search, facts = opened(given(model), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    asked = np.array([plain_token_row(model, text, prefix, True) for text in QUERIES])
    rows = np.array([plain_token_row(model, text, prefix, False) for text in TEXTS])
    assert computed == pytest.approx(asked @ rows.T, abs=1e-4, rel=1e-5)
    assert facts["postings"] == np.count_nonzero(rows) > 20


def given(folder, **more):
    value, problems = strict.convert(
        SpladeParams, {"model": str(folder), "dtype": "fp32", **more}, folder.parent
    )
    assert problems == []
    return resolve(value, Facts("en", "en", "passage"))


def opened(params, corpus, folder, **how):
    folder.mkdir(exist_ok=True)
    method = Sparse(params)
    texts = testing.texts(corpus, **how)
    report = method.index(texts, folder)
    return method.open(texts, folder), report


def scores(hits, size):
    """float[Q, size]: 0 for what was not found."""
    found = np.zeros((len(hits.passages), size))
    for row in range(len(found)):
        filled = hits.passages[row] >= 0
        found[row, hits.passages[row][filled]] = hits.scores[row][filled]
    return found


@pytest.mark.parametrize("pooling", ["max", "sum"])
@pytest.mark.parametrize("activation", ["log", "log-log"])
def test_scores_equal_the_plain_reading_for_short_long_and_empty_texts(tmp_path, pooling, activation):
    model = tiny_heads.splade(tmp_path / "model")
    how = {"pooling": pooling, "activation": activation}
    search, _ = opened(given(model, **how), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    rows = [[plain_row(model, text, **how) for text in these] for these in (QUERIES, TEXTS)]
    assert computed == pytest.approx(np.array(rows[0]) @ np.array(rows[1]).T, abs=1e-4, rel=1e-5)


def test_a_text_has_the_same_weights_alone_and_in_a_padded_batch(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    together, _ = opened(given(model), TEXTS, tmp_path / "together")
    everything = scores(together.search(QUERIES, len(TEXTS)), len(TEXTS))
    for i, text in enumerate(TEXTS):
        alone, _ = opened(given(model), [text], tmp_path / str(i))
        assert scores(alone.search(QUERIES, 1), 1)[:, 0] == pytest.approx(
            everything[:, i], abs=1e-4, rel=1e-5
        )


def test_texts_are_cut_and_what_was_lost_is_counted(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    search, told = opened(given(model, passage_length=8), TEXTS, tmp_path / "index")
    tokens = [len(token_ids(text, 10**6)) for text in TEXTS]
    assert told["texts_cut"] == sum(count > 8 for count in tokens)
    assert told["tokens_lost"] == sum(max(0, count - 8) for count in tokens)
    assert told["postings"] == sum((plain_row(model, text, 8) > 0).sum() for text in TEXTS)
    asked = [token_ids(query, 10**6) for query in QUERIES]
    search.search(QUERIES, 1)
    assert search.report() == {
        "queries_cut": sum(len(ids) > 8 for ids in asked),
        "query_tokens_lost": sum(max(0, len(ids) - 8) for ids in asked),
    }
    expected = plain_row(model, "castle") @ plain_row(model, TEXTS[4], 8)
    assert scores(search.search(["castle"], 6), 6)[0, 4] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", ["passage_length", "query_length"])
def test_a_length_beyond_the_models_places_is_refused_while_planning(tmp_path, name):
    folder = tiny_heads.splade(tmp_path)
    with pytest.raises(HarnessError, match=f"{name}: 65 .* 64;"):
        given(folder, **{name: 65})


def test_queries_that_no_model_encodes_may_be_longer_than_it_has_places_for(tmp_path):
    assert given(tiny_heads.splade(tmp_path), query="binary", query_length=65).query_length == 65


def test_places_of_mpnet_are_counted_after_the_padding_s(tmp_path):
    folder = tiny_heads.splade(tmp_path, model_type="mpnet", pad_token_id=1)
    assert given(folder, passage_length=62).passage_length == 62
    with pytest.raises(HarnessError, match=r"passage_length: 63 .* 62"):
        given(folder, passage_length=63)


def test_a_known_models_length_is_cut_to_the_places_of_a_folder_in_the_cache(tmp_path, monkeypatch):
    commit = "c" * 40
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    tiny_heads.splade(tmp_path / "models--naver--splade-v3" / "snapshots" / commit)
    asked = SpladeParams(model="splade-v3", revision=commit)
    assert resolve(asked, Facts("en", "en", "passage")).passage_length == 64  # its authors give it 256


def test_a_model_that_came_after_planning_is_held_to_its_places_too(tmp_path):
    params = dataclasses.replace(given(tiny_heads.splade(tmp_path)), passage_length=65)
    with pytest.raises(HarnessError, match=r"passage_length: 65 .* 64"):
        opened(params, TEXTS, tmp_path / "index")


def test_queries_may_have_a_model_of_their_own(tmp_path):
    model, other = tiny_heads.splade(tmp_path / "model"), tiny_heads.splade(tmp_path / "queries", seed=2)
    search, _ = opened(given(model, query_model=str(other)), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    expected = [[plain_row(other, query) @ plain_row(model, text) for text in TEXTS] for query in QUERIES]
    assert computed == pytest.approx(np.array(expected), abs=1e-4, rel=1e-5)


def test_without_a_model_each_different_token_of_a_query_counts_one(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    search, _ = opened(given(model, query="binary"), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    for row, query in enumerate(QUERIES):
        terms = sorted(set(token_ids(query, 64)[1:-1]))
        expected = [plain_row(model, text)[terms].sum() for text in TEXTS]
        assert computed[row] == pytest.approx(expected, abs=1e-4, rel=1e-5)


def test_a_folder_with_an_idf_file_weighs_the_tokens_of_queries_by_it(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    idf = {"castle": 2.5, "painter": 0.5, "[CLS]": 9.0, "festival": 1.5}
    (model / "idf.json").write_text(json.dumps(idf))
    params = given(model)
    assert params.query == "idf"
    search, _ = opened(params, TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    places = {token: tiny_models.VOCABULARY.index(token) for token in idf}
    rows = [plain_row(model, text) for text in TEXTS]
    assert computed[0] == pytest.approx([2.5 * row[places["castle"]] for row in rows], abs=1e-4)
    two = [0.5 * row[places["painter"]] + 1.5 * row[places["festival"]] for row in rows]
    assert computed[3] == pytest.approx(two, abs=1e-4)
    assert (computed[2] == 0).all()


def test_idf_without_its_file_says_so(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    with pytest.raises(HarnessError, match=r"query: idf needs .*idf\.json.*say query: binary or model"):
        opened(given(model, query="idf"), TEXTS, tmp_path / "index")


def test_quantised_impacts_are_whole_numbers_of_passages_and_of_queries(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    search, _ = opened(given(model, quantise=100), TEXTS, tmp_path / "index")
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    assert (computed == np.rint(computed)).all()
    rows = [[plain_row(model, text) for text in these] for these in (QUERIES, TEXTS)]
    expected = np.rint(100 * np.array(rows[0])) @ np.rint(100 * np.array(rows[1])).T
    assert computed == pytest.approx(expected, rel=2e-3)  # where a weight lies between two whole numbers


def test_within_names_what_is_scored_and_a_text_twice_is_found_once(tmp_path):
    search, _ = opened(given(tiny_heads.splade(tmp_path / "model")), TEXTS, tmp_path / "index")
    everything = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    within = np.array([[4, 0, -1, 4]] * len(QUERIES))
    hits = search.search(QUERIES, 3, within)
    assert (np.sort(hits.passages, axis=1) == [-1, 0, 4]).all()
    assert scores(hits, len(TEXTS))[:, [0, 4]].tolist() == everything[:, [0, 4]].tolist()


def test_the_pooling_that_sentence_transformers_writes_down_is_taken(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    settings = {"pooling_strategy": "sum", "activation_function": "log1p_relu"}
    tiny_models.as_json(model / "1_SpladePooling" / "config.json", settings)
    tiny_models.as_json(model / "sentence_bert_config.json", {"max_seq_length": 48})
    found = given(model)
    assert (found.pooling, found.activation) == ("sum", "log-log")
    assert (found.passage_length, found.query_length) == (48, 48)
    assert given(model, pooling="max", query_length=16).query_length == 16


def test_distilbert_and_roberta_give_what_transformers_gives(tmp_path):
    import torch
    import transformers

    configs = [
        transformers.DistilBertConfig(
            vocab_size=len(tiny_models.VOCABULARY), dim=32, n_layers=2, n_heads=4, hidden_dim=64
        ),
        transformers.RobertaConfig(
            vocab_size=261, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=66, pad_token_id=1,
        ),
    ]  # fmt: skip
    for config, words in zip(configs, (tiny_models.wordpiece, tiny_models.byte_pairs), strict=True):
        folder = tmp_path / config.model_type
        model = transformers.AutoModelForMaskedLM.from_config(config).eval()
        model.save_pretrained(folder)
        words(folder)
        search, _ = opened(
            given(folder, passage_length=64), TEXTS[:4], tmp_path / f"{config.model_type}-index"
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        with torch.inference_mode():
            rows = [
                torch.log1p(model(**tokenizer(text, return_tensors="pt")).logits.relu())
                .amax(dim=(0, 1))
                .numpy()
                for text in [*QUERIES, *TEXTS[:4]]
            ]
        expected = np.array(rows[: len(QUERIES)]) @ np.array(rows[len(QUERIES) :]).T
        assert scores(search.search(QUERIES, 4), 4) == pytest.approx(expected, abs=1e-4, rel=1e-5)


def test_a_checkpoint_with_strange_tensors_is_refused_by_name(tmp_path):
    more = {**tiny_heads.MASKED, "bert.adapter.weight": (3,)}
    model = tiny_models.bert(
        tmp_path / "model", prefix="bert.", pooler=False, more=more, architecture="BertForMaskedLM"
    )
    with pytest.raises(HarnessError, match=r"bert\.adapter\.weight"):
        opened(given(model), TEXTS, tmp_path / "index")


def test_a_model_that_is_not_there_is_named_while_planning(tmp_path):
    from harness_splade import missing_files

    assert "no such folder" in missing_files(given(tmp_path / "absent"))[0]
    told = missing_files(SpladeParams("naver/absent", query_model="naver/absent-too"))
    assert [line.split()[1] for line in told] == ["naver/absent", "naver/absent-too"]


def test_a_model_of_queries_that_nobody_would_ask_is_refused(tmp_path):
    model = tiny_heads.splade(tmp_path / "model")
    with pytest.raises(HarnessError, match="query_model"):
        given(model, query="binary", query_model=str(model))


def test_known_models_have_names_of_their_own_and_their_settings_are_taken():
    names = [known.name for known in registry.MODELS]
    assert len(set(names)) == len(names)
    found = registry.find("dapr-spladev2")
    assert (found.passages, found.length) == ("naver/splade-cocondenser-ensembledistil", 512)


def test_the_index_is_the_same_however_often_it_was_interrupted(tmp_path, monkeypatch):
    """Shards of two texts and windows of four: a killed run keeps what it finished."""
    from harness.toolkit.neural.encoding import loop
    from harness_splade import kernels, model, storage

    monkeypatch.setattr(kernels, "WINDOW", 4)
    monkeypatch.setattr(loop.encode, "__kwdefaults__", {**loop.encode.__kwdefaults__, "shard": 2})
    params = given(tiny_heads.splade(tmp_path / "model"))
    whole, _ = opened(params, TEXTS, tmp_path / "whole")
    passes = tiny_heads.killed_in_the_third_pass(monkeypatch, model.Encoder)
    with pytest.raises(KeyboardInterrupt):
        opened(params, TEXTS, tmp_path / "killed")
    resumed, _ = opened(params, TEXTS, tmp_path / "killed")
    assert sum(passes) == len(TEXTS) + 2  # one shard, again
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == sorted(
        path.name for path in (tmp_path / "whole").iterdir()
    )
    for path in (tmp_path / "whole").iterdir():
        assert (tmp_path / "killed" / path.name).read_bytes() == path.read_bytes()
    assert resumed.search(QUERIES, 6).scores.tolist() == whole.search(QUERIES, 6).scores.tolist()
    assert len(storage.read(tmp_path / "whole").postings.first) == 3


@pytest.mark.parametrize("left", [None, b"PK"], ids=["missing", "cut short"])
def test_a_shard_that_was_lost_is_encoded_again_whatever_its_mark_says(tmp_path, monkeypatch, left):
    from harness.toolkit.neural.encoding import loop
    from harness_splade import storage

    monkeypatch.setattr(loop.encode, "__kwdefaults__", {**loop.encode.__kwdefaults__, "shard": 2})
    params = given(tiny_heads.splade(tmp_path / "model"))
    whole, _ = opened(params, TEXTS, tmp_path / "whole")

    def killed(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(storage, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            opened(params, TEXTS, tmp_path / "killed")
    last = max((tmp_path / "killed" / storage.SHARDS).glob("*.npz"))
    last.unlink() if left is None else last.write_bytes(left)
    resumed, _ = opened(params, TEXTS, tmp_path / "killed")
    assert resumed.search(QUERIES, 6).scores.tolist() == whole.search(QUERIES, 6).scores.tolist()


def test_many_texts_in_several_windows_are_ranked_as_by_hand(tmp_path):
    """The loops alone, over made-up rows: k of all, ties by position, impacts as floats and as whole numbers."""
    from harness.toolkit.neural.encoding.parts import Shard
    from harness.toolkit.neural.tokens import Lost
    from harness_splade import storage
    from harness_splade.searching import Search

    chance = np.random.default_rng(3)
    dense = np.where(chance.random((90_000, 40)) < 0.05, chance.random((90_000, 40)), 0).astype(np.float32)
    asked = np.where(chance.random((5, 40)) < 0.3, chance.random((5, 40)), 0).astype(np.float32)
    rows = [storage.Row(row.nonzero()[0].astype(np.int32), row[row.nonzero()]) for row in dense]
    wanted = [storage.Row(row.nonzero()[0].astype(np.int32), row[row.nonzero()]) for row in asked]
    for quantise in (None, 10):
        (tmp_path / str(quantise) / storage.SHARDS / "shards").mkdir(parents=True)
        write = storage.writer(tmp_path / str(quantise), quantise)
        for number, first in enumerate(range(0, 90_000, 30_000)):
            write(Shard(number, first, np.arange(first, first + 30_000) * 2, rows[first : first + 30_000]))
        storage.finish(tmp_path / str(quantise), 40, quantise)
        search = Search(storage.read(tmp_path / str(quantise)), lambda queries: (wanted, Lost()), "passage")
        truth = asked.astype(np.float64) @ dense.T.astype(np.float64)
        if quantise:
            truth = np.rint(asked * np.float32(10)) @ np.rint(dense * np.float32(10)).T
        for k in (1, 10, 3000):
            hits = search.search([""] * 5, k)
            best = -np.sort(-truth, axis=1)[:, :k]
            assert hits.scores == pytest.approx(best, rel=1e-5)
            assert np.take_along_axis(truth, hits.passages // 2, axis=1) == pytest.approx(best, rel=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_gives_the_same_scores(tmp_path):
    """Somebody else's reading of the same checkpoint, where it is installed."""
    sparse = pytest.importorskip("sentence_transformers", "5.0").SparseEncoder
    model = tiny_heads.splade(tmp_path / "model")
    search, _ = opened(given(model), TEXTS, tmp_path / "index")
    other = sparse(str(model), device="cpu")
    other.max_seq_length = 64
    queries, texts = (other.encode(these).to_dense().numpy() for these in (QUERIES, TEXTS))
    computed = scores(search.search(QUERIES, len(TEXTS)), len(TEXTS))
    assert computed == pytest.approx(queries @ texts.T, abs=1e-4, rel=1e-5)


def test_every_known_model_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "neural.md").read_text(encoding="utf-8")
    assert [known.name for known in registry.MODELS if f"`{known.name}`" not in page] == []
