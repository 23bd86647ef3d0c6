"""Tokens without padding: templates, truncation, pairs, and the ways to batch them."""

import itertools
import json

import numpy as np
import pytest
from neural_toys import NUMBERS, word_tokenizer

from harness.errors import HarnessError
from harness.toolkit.neural import tokens
from harness.toolkit.neural.tokens import Lost, Tokens

pytestmark = pytest.mark.extras

CLS, SEP = NUMBERS["[CLS]"], NUMBERS["[SEP]"]
A, B, C = (NUMBERS[word] for word in "abc")


@pytest.fixture
def tokeniser(tmp_path):
    pytest.importorskip("tokenizers")
    return tokens.load(word_tokenizer(tmp_path))


def test_texts_stand_one_after_the_other_with_their_special_tokens(tokeniser):
    found, lost = tokens.tokenise(tokeniser, ["a b", "", "c"], 8)
    assert found.ids.tolist() == [CLS, A, B, SEP, CLS, SEP, CLS, C, SEP]
    assert found.bounds.tolist() == [0, 4, 6, 9]
    assert found.types is None
    assert lost == Lost(0, 0)


def test_what_is_cut_off_is_counted(tokeniser):
    found, lost = tokens.tokenise(tokeniser, ["a b c a", "a b", "c c c"], 4)
    assert found.ids.tolist() == [CLS, A, B, SEP, CLS, A, B, SEP, CLS, C, C, SEP]
    assert lost == Lost(texts=2, tokens=3)


def test_a_length_without_room_for_a_text_is_refused(tokeniser):
    with pytest.raises(HarnessError, match="length: 2 tokens"):
        tokens.tokenise(tokeniser, ["a"], 2)


def test_a_pair_has_types(tokeniser):
    found, _ = tokens.tokenise(tokeniser, ["a"], 9, ["b c"])
    assert found.ids.tolist() == [CLS, A, SEP, B, C, SEP]
    assert found.types.tolist() == [0, 0, 0, 1, 1, 1]


def test_pairs_are_cut_as_the_library_does_it(tokeniser):
    from tokenizers import Tokenizer

    theirs = Tokenizer.from_str(tokeniser.backend.to_str())
    for first in range(7):
        for second in range(7):
            for length in range(4, 12):
                theirs.enable_truncation(length)
                expected = theirs.encode("a " * first, "b " * second)
                found, lost = tokens.tokenise(tokeniser, ["a " * first], length, ["b " * second])
                assert found.ids.tolist() == expected.ids, (first, second, length)
                assert found.types.tolist() == expected.type_ids
                assert lost.tokens == max(0, first + second + 3 - length)


def test_the_first_of_a_pair_may_have_a_limit_of_its_own(tokeniser):
    found, lost = tokens.tokenise(tokeniser, ["a a a a", "a"], 7, ["b b b", "b"], first_length=2)
    assert found.ids.tolist() == [CLS, A, A, SEP, B, B, SEP, CLS, A, SEP, B, SEP]
    assert lost == Lost(1, 3)


def test_templates_can_be_replaced(tokeniser):
    marked = tokeniser._replace(single=tokeniser.single._replace(before=(CLS, C)))
    assert tokens.tokenise(marked, ["a a a"], 5)[0].ids.tolist() == [CLS, C, A, A, SEP]


def test_the_padding_is_what_the_folder_says(tmp_path):
    pytest.importorskip("tokenizers")
    folder = word_tokenizer(tmp_path)
    (folder / "tokenizer_config.json").write_text('{"pad_token": {"content": "the"}}')
    assert tokens.load(folder).padding == NUMBERS["the"]


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(HarnessError, match="no tokenizer"):
        tokens.load(tmp_path)


def test_a_vocabulary_alone_makes_the_same_tokens(tmp_path):
    """As the folders of older BERTs have it."""
    pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##c", "京"]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    found, _ = tokens.tokenise(tokens.load(tmp_path), ["A bc京"], 9)
    assert found.ids.tolist() == [2, 5, 6, 7, 8, 3]


def lots():
    return Tokens(np.array([1, 2, 3, 4, 5, 6], np.int32), np.array([0, 1, 1, 3, 6]))


def test_texts_can_be_selected_in_any_order():
    found = tokens.select(lots(), np.array([3, 1, 0]))
    assert found.ids.tolist() == [4, 5, 6, 1]
    assert found.bounds.tolist() == [0, 3, 3, 4]


def test_lots_can_be_joined():
    found = tokens.joined([lots(), lots()])
    assert found.ids.tolist() == [1, 2, 3, 4, 5, 6] * 2
    assert found.bounds.tolist() == [0, 1, 1, 3, 6, 7, 7, 9, 12]
    typed = lots()._replace(types=np.array([0, 0, 1, 0, 1, 1], np.int32))
    assert tokens.joined([typed, typed]).types.tolist() == [0, 0, 1, 0, 1, 1] * 2


def test_padding_is_masked():
    ids, mask, types = tokens.padded(lots(), 9)
    assert ids.tolist() == [[1, 9, 9], [9, 9, 9], [2, 3, 9], [4, 5, 6]]
    assert mask.tolist() == [[1, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert not types.any()
    assert tokens.padded(lots(), 9, length=4)[0].shape == (4, 4)


@pytest.mark.parametrize(
    "name", ["BertTokenizer", "BertTokenizerFast", "MPNetTokenizer", "PreTrainedTokenizerFast"]
)
@pytest.mark.parametrize("in_file", [True, False])
@pytest.mark.parametrize("configured", [True, False, None])
def test_letters_are_lowered_as_transformers_do_it(tmp_path, name, in_file, configured):
    pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "<s>",
        "</s>",
        "<pad>",
        "<unk>",
        "<mask>",
        "a",
        "A",
        "À",
        "中",
    ]
    backend = Tokenizer(WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    backend.normalizer = BertNormalizer(lowercase=in_file)
    backend.pre_tokenizer = BertPreTokenizer()
    backend.save(str(tmp_path / "tokenizer.json"))
    config = {"tokenizer_class": name, "unk_token": "[UNK]"}
    config |= {} if configured is None else {"do_lower_case": configured}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    texts = ["a A", "À中", "中A"]
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)(texts, add_special_tokens=False)[
        "input_ids"
    ]
    ours, _ = tokens.tokenise(tokens.load(tmp_path), texts, 99)
    bounds = ours.bounds.tolist()
    rows = [ours.ids[start:end].tolist() for start, end in itertools.pairwise(bounds)]
    assert [
        [id for id in row if vocabulary[id] not in ("[CLS]", "[SEP]", "<s>", "</s>")] for row in rows
    ] == theirs
