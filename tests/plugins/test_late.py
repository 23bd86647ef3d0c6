"""Late chunking against a slow reading of its authors' scheme, one document and one passage at a time."""

import dataclasses
import json
import tracemalloc

import numpy as np
import pytest
import slow_bert
import tiny_models

from harness import testing
from harness.errors import HarnessError
from harness.testing.texts import sentences
from harness.types import Facts

tokenizers = pytest.importorskip("tokenizers")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from harness_dense import DenseParams, Late, late, notes, resolve, towers  # noqa: E402
from harness_dense.retriever import Dense  # noqa: E402

pytestmark = pytest.mark.extras

SIZES = (1, 3, 5, 2, 8, 12, 4, 1, 2, 6)  # passages of ten documents
TEXTS = [
    "" if i == 20 else " and ".join([text] * (6 if i == 30 else 1)) for i, text in enumerate(sentences(44))
]
CLS, SEP = (tiny_models.VOCABULARY.index(name) for name in ("[CLS]", "[SEP]"))


def resolved(model, unit="passage", window="auto", overlap="auto", **given):
    given = {"dtype": "fp32", "device": "cpu", "late": Late(window, overlap), **given}
    return resolve(DenseParams(model=model, **given), Facts("en", "en", unit))


def corpus(**more):
    return testing.texts(TEXTS, sizes=SIZES, batch=5, **more)


def vectors(params, texts, folder):
    folder.mkdir()
    method = Dense(params)
    facts = method.index(texts, folder)
    return method.open(texts, folder).vectors(np.arange(texts.size)), facts


def bert(folder):
    tiny_models.sentence_transformer(folder)
    config = json.loads((folder / "config.json").read_text())
    tensors = tiny_models.read_safetensors(folder / "model.safetensors")
    return lambda ids: slow_bert.hidden_states(tensors, config, ids)


def modern_bert(folder):
    """A long reader whose layers attend locally, all but the first; it has rotary positions."""
    torch.manual_seed(1)
    config = transformers.ModernBertConfig(
        vocab_size=len(tiny_models.VOCABULARY), hidden_size=32, intermediate_size=64, num_hidden_layers=3,
        num_attention_heads=4, local_attention=16, max_position_embeddings=512, pad_token_id=0, cls_token_id=CLS,
        sep_token_id=SEP, attn_implementation="eager",
    )  # fmt: skip
    model = transformers.ModernBertModel(config).eval()
    model.save_pretrained(folder)
    tiny_models.wordpiece(folder, 512)

    def states(ids):
        with torch.no_grad():
            return model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()

    return states


def best(windows, last, start, end):
    """The states of these tokens from the window with the most tokens on the shorter side."""
    fit = [
        (min(start - s if s else last, e - end if e < last else last), -s, x[start - s : end - s])
        for s, e, x in windows
        if s <= start and end <= e
    ]
    return max(fit, key=lambda item: item[:2])[2] if fit else None


def slow(states, tokenizer, window, overlap, before):
    """float[N, d]: the mean of each passage's states, and how many tokens were read. `before` is what stands
    before the document."""
    rows, read, first = [], 0, 0
    for size in SIZES:
        texts, first = TEXTS[first : first + size], first + size
        parts = [
            tokenizer.encode(text, add_special_tokens=False).ids for text in [before + texts[0], *texts[1:]]
        ]
        parts[0].insert(0, CLS)
        parts[-1].append(SEP)
        ids = [token for part in parts for token in part]
        windows = []
        while not windows or windows[-1][1] < len(ids):
            begin = len(windows) * (window - overlap)
            end = min(begin + window, len(ids))
            windows.append((begin, end, states(ids[begin:end])))
            read += end - begin

        end = 0
        for part in parts:
            start, end = end, end + len(part)
            found = best(windows, len(ids), start, end)
            if found is None:
                found = np.concatenate([best(windows, len(ids), at, at + 1) for at in range(start, end)])
            rows.append(found.sum(axis=0) / max(1, len(found)))
    return np.array(rows), read


@pytest.mark.parametrize(
    ("make", "window", "overlap", "before"),
    [(bert, 64, 16, ""), (bert, 40, 31, "query : "), (bert, 64, 0, ""), (modern_bert, 512, 128, ""),
     (modern_bert, 150, 20, "passage : ")],
)  # fmt: skip
def test_ten_documents_are_read_as_published(tmp_path, make, window, overlap, before):
    states = make(tmp_path / "model")
    given = {"pooling": "cls", "similarity": "dot", "normalise": False, "passage_prompt": before}
    overlaps = {} if overlap == window // 4 else {"overlap": overlap}
    params = resolved(tmp_path / "model", window=window, **overlaps, **given)
    assert params.late == Late(window, overlap)
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    expected, read = slow(states, tokenizer, window, overlap, before)
    made, facts = vectors(params, corpus(), tmp_path / "index")
    np.testing.assert_allclose(made, expected, atol=1e-5)
    assert facts["texts_cut"] == 0
    assert facts["tokens"] == read if overlap < window / 2 else facts["tokens"] < read  # some pool nothing
    assert ["pooled by mean, but queries by cls" in line for line in notes(params)] == [True]


def test_a_passage_of_many_windows_takes_no_memory_for_each_pair_of_token_and_window():
    begins = np.arange(0, 100_000, 384)
    tracemalloc.start()
    chosen = late._central(begins, np.minimum(begins + 512, 100_128), np.array([0, 100_128]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * len(chosen)
    assert set(chosen.tolist()) == set(range(len(begins)))


def test_passages_alone_and_only_passages_and_texts_of_no_document_are_read_as_passages(tmp_path):
    tiny_models.sentence_transformer(tmp_path / "model", length=64)
    alone = testing.texts(TEXTS[:10])
    params = resolved(tmp_path / "model")
    expected, _ = vectors(resolved(tmp_path / "model", late=None), alone, tmp_path / "passages")
    made, _ = vectors(params, alone, tmp_path / "late")
    np.testing.assert_allclose(made, expected, atol=1e-6)
    searcher = Dense(params).open(alone, tmp_path / "late")
    np.testing.assert_allclose(searcher.encode_passages(TEXTS[:10]), expected, atol=1e-6)


def test_passages_that_are_no_candidates_are_read_and_not_stored(tmp_path):
    tiny_models.sentence_transformer(tmp_path / "model")
    params = resolved(tmp_path / "model")
    whole, _ = vectors(params, corpus(), tmp_path / "whole")
    candidates = [number % 4 == 2 for number in range(len(TEXTS))]
    some, _ = vectors(params, corpus(candidates=candidates), tmp_path / "some")
    np.testing.assert_allclose(some, np.where(np.array(candidates)[:, None], whole, 0), atol=1e-6)
    assert np.load(tmp_path / "some" / "positions.npy").tolist() == np.flatnonzero(candidates).tolist()


def test_a_word_of_byte_pairs_has_the_space_before_it_and_the_prefixes_stand_once(tmp_path):
    """The text of a document and the passage of each token, where spaces are tokens."""
    tiny_models.roberta(tmp_path / "model")
    tower = towers.passages(
        resolved(tmp_path / "model", pooling="mean", similarity="dot", passage_prompt="p:")
    )
    texts = testing.texts(["a b", "", "c"], sizes=[3])
    document = next(texts.documents())._replace(prefixes=("T", "U"))
    windows = late.windows(tower, [document], 7)
    text = tower.tokeniser.backend.decode(windows.ids.tolist(), skip_special_tokens=False)
    assert text == "<s>p:T U a b\nc</s>"
    assert windows.parts.tolist() == [7] * 11 + [9] * 2  # the empty passage has no token


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"window": 65}, "late.window: 65 tokens, and the model has places for 64; give fewer"),
        ({"window": 32, "overlap": 32}, "late.overlap: 32 tokens do not fit in a window of 32; give fewer"),
        ({"window": 64, "passage_length": 20}, "passage_length: with late, the window of 64 tokens says how"),
        ({"unit": "document"}, "late: it ranks passages, by what it reads of documents"),
        ({"titles": "pair"}, "late: titles are read once before the document, by context: [titles]"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, given, message):
    tiny_models.sentence_transformer(tmp_path / "model")
    with pytest.raises(HarnessError) as raised:
        resolved(tmp_path / "model", **given)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name)
        for case in testing.cases("retriever", "dense")
        if not any(word in case.name for word in ("unit", "process", "killed"))
    ],
)
def test_late_chunking_keeps_the_contract_of_retrievers(case, tmp_path, tmp_path_factory):
    model = str(tiny_models.sentence_transformer(tmp_path_factory.mktemp("model")))
    dataclasses.replace(case, given={"model": model, "dtype": "fp32", "late": {}})(tmp_path)


def test_a_window_is_as_long_as_the_passages_that_the_model_is_for(tmp_path):
    tiny_models.sentence_transformer(tmp_path / "model")
    assert resolved(tmp_path / "model", passage_length=20).late == Late(20, 5)
