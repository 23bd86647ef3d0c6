"""Titles as the originals read them: the same token ids and types as their code makes with transformers' tokenizer."""

import pytest
import tiny_models

from harness.toolkit.neural import known_encoders, tokens
from harness_dense import towers

pytestmark = pytest.mark.extras

PAIRS = [
    ("castle", "the castle of the island was built in 1400."),
    ("", "a painter was born on the island."),
    ("the island of the castle", ""),
    ("北京", "北京是中国的首都。" * 4),
    ("river", "castles, rivers and islands; " * 9),
]
LENGTH = 24


@pytest.fixture
def folder(tmp_path):
    return tiny_models.bert(tmp_path / "model")


@pytest.fixture
def reference(folder):
    """Somebody else's reading of the same files."""
    pytest.importorskip("transformers")
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def read(folder, titles):
    """The ids and types of each pair as `dense` reads it."""
    tower = towers.Tower(tokens.load(folder), "", LENGTH, False, titles, [])
    made, lost = towers.prepared(tower, [text for _, text in PAIRS], [title for title, _ in PAIRS])
    ids, mask, types = tokens.padded(made, 0)
    assert lost.texts == 2
    kept = [row.astype(bool) for row in mask]
    return [(i[k].tolist(), t[k].tolist()) for i, t, k in zip(ids, types, kept, strict=True)]


def test_dpr_encodes_title_and_text_as_a_pair_without_types(folder, reference):
    """BertTensorizer.text_to_tensor of DPR, before padding; its segments are zeros."""
    for (title, text), (ids, types) in zip(PAIRS, read(folder, "untyped-pair"), strict=True):
        first, second = (title, text.strip()) if title else (text.strip(), None)
        wanted = reference.encode(
            first, text_pair=second, add_special_tokens=True, max_length=LENGTH, truncation=True
        )
        assert ids == wanted
        assert types == [0] * len(wanted)


def test_rocketqa_encodes_them_as_a_pair_of_two_types(folder, reference):
    """_convert_example_to_record of RocketQA's dual encoder; the longer text gives way token by token."""
    for (title, text), (ids, types) in zip(PAIRS, read(folder, "pair"), strict=True):
        first, second = reference.tokenize(title), reference.tokenize(text)
        while len(first) + len(second) > LENGTH - 3:
            (first if len(first) > len(second) else second).pop()
        wanted = reference.convert_tokens_to_ids(["[CLS]", *first, "[SEP]", *second, "[SEP]"])
        assert ids == wanted
        assert types == [0] * (len(first) + 2) + [1] * (len(second) + 1)


def test_rocketqas_cross_encoder_reads_what_titles_as_context_make(folder, reference):
    """_convert_example_to_record of RocketQA's cross-encoder; a stage `titles` gives `title text`."""
    query = "castle of the island"
    joined = [" ".join(part for part in pair if part) for pair in PAIRS]
    made, _ = tokens.tokenise(tokens.load(folder), [query] * len(PAIRS), LENGTH, joined)
    ids, mask, types = tokens.padded(made, 0)
    for row, (title, text) in enumerate(PAIRS):
        first = reference.tokenize(query)
        second = [*reference.tokenize(title), *reference.tokenize(text)]
        while len(first) + len(second) > LENGTH - 3:
            (first if len(first) > len(second) else second).pop()
        wanted = reference.convert_tokens_to_ids(["[CLS]", *first, "[SEP]", *second, "[SEP]"])
        size = int(mask[row].sum())
        assert ids[row, :size].tolist() == wanted
        assert types[row, :size].tolist() == [0] * (len(first) + 2) + [1] * (len(second) + 1)


def test_the_known_models_of_dpr_read_titles_and_others_do_not():
    read_titles = {known.name for known in known_encoders.MODELS if known.titles != "none"}
    assert read_titles == {"dpr-nq", "dpr-multi"}
