"""The analysers on cases made by hand: what Lucene's analysers of the same name return for these texts."""

import marshal
import tempfile
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.toolkit.text import analysis
from harness_analysers.classes import ORDER, Letters, table, word_class
from harness_analysers.english import STOPWORDS
from harness_analysers.porter import stem

LOADED = {name: analysis.load(name) for name in ("english", "cjk", "simple", "whitespace", "french")}
ENGLISH = {
    "The dogs' kennel and the dog’s bowl": ["dog", "kennel", "dog", "bowl"],
    "isn't U.S.A. John's": ["isn't", "u.s.a", "john"],
    "3.14 1,000 4,x foo_bar a:b": ["3.14", "1,000", "4", "x", "foo_bar", "a:b"],
    "_ __ _x": ["_x"],
    "naïve cafés, decomposed cafe\u0301": ["naïv", "café", "decompos", "cafe\u0301"],
    "zero\u200bwidth soft\u00adhyphen": ["zero", "width", "soft\u00adhyphen"],
    "Will they be in it?": [],
    "possibly geology US as of": ["possibl", "geologi", "us"],
    "👍🏽 👩‍👩‍👧 ©2016 🇩🇪": ["👍🏽", "👩‍👩‍👧", "©", "2016", "🇩🇪"],
    "ΟΔΟΣ İstanbul": ["οδοσ", "istanbul"],
    "ภาษาไทย مرحبا بالعالم": ["ภาษาไทย", "مرحبا", "بالعالم"],
    "צה\"ל ג'": ['צה"ל', "ג'"],
    "中文abc": ["中", "文", "abc"],
    "": [],
    " \t\n…": [],
}
CJK = {
    "中文abc分词": ["中文", "abc", "分词"],
    "我": ["我"],
    "我 是": ["我", "是"],
    "北京是首都。": ["北京", "京是", "是首", "首都"],
    "iPhone15手机": ["iphone15", "手机"],
    "ｱｲｳ１２３ＡＢＣ": ["アイ", "イウ", "123abc"],
    "ｶﾞｷﾞ": ["ガギ"],
    "私はカタカナ": ["私は", "はカ", "カタ", "タカ", "カナ"],
    "한국어 말abc": ["한국", "국어", "말abc"],
    "𠀀𠀁x a": ["𠀀𠀁", "x"],
    "the www": [],
}


@pytest.mark.parametrize(("text", "terms"), ENGLISH.items())
def test_english_is_lucenes(text, terms):
    assert analysis.load("english")(text) == terms


@pytest.mark.parametrize(("text", "terms"), CJK.items())
def test_cjk_is_lucenes(text, terms):
    assert analysis.load("cjk")(text) == terms


def test_a_word_of_more_than_255_letters_is_cut_as_lucene_cuts_it():
    assert [len(term) for term in analysis.load("simple")("a" * 600)] == [255, 255, 90]


def test_white_space_alone_parts_the_terms_of_tokenised_text():
    assert analysis.load("whitespace")("A, b'c\u3000d\n" + "e" * 300) == ["A,", "b'c", "d", "e" * 300]


def test_snowball_stems_by_its_language():
    assert analysis.load("swedish")("Flickorna sjunger") == ["flick", "sjung"]
    assert analysis.load("turkish")("ISPARTA İzmir") == analysis.load("turkish")("ısparta izmir")


def test_there_are_33_english_stopwords():
    assert len(STOPWORDS) == 33


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        *[("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre")],
        *[("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat")],
        *[("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("sky", "sky")],
        *[("relational", "relat"), ("rational", "ration"), ("digitizer", "digit"), ("possibly", "possibl")],
        *[
            ("vietnamization", "vietnam"),
            ("triplicate", "triplic"),
            ("goodness", "good"),
            ("adoption", "adopt"),
        ],
        *[("controll", "control"), ("rate", "rate"), ("cease", "ceas"), ("geology", "geologi"), ("as", "as")],
        *[("analogy", "analog"), ("psychologies", "psycholog"), ("bly", "bly"), ("s", "s"), ("is", "is")],
    ],
)
def test_porter_stems_as_in_its_paper_with_the_authors_amendments(word, stemmed):
    assert stem(word) == stemmed


@given(
    st.text("abdeilnostuvyz", min_size=3, max_size=12) | st.from_regex("[a-z]{1,4}(ed|ing)s?", fullmatch=True)
)
@example("avved")
@example("trekking")
def test_the_compiled_stemmer_is_the_plain_one(word):
    expected = [] if word in STOPWORDS else [stem(word)]
    assert LOADED["english"](word) == expected


PIECES = st.sampled_from(
    [*"aZ9_.,:;'\"’- \n中文かカﾞ한אบ\u0301\u200d\u200b\u00ad", "👩", "👍", "🏽", "🇩", "😀", "ကိ", "ǅ", "\ud800"]
)


@given(st.lists(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=20), max_size=5))
@pytest.mark.parametrize("name", ["english", "cjk", "simple", "whitespace", "french"])
def test_many_texts_at_once_have_the_terms_that_each_has_alone(name, texts):
    analyse = LOADED[name]
    vocabulary = analysis.Vocabulary(analyse)
    (encoded,) = vocabulary.encode([texts], threads=1)
    terms = [vocabulary.terms[number] for number in encoded.terms.tolist()]
    found = [terms[first:last] for first, last in pairwise([0, *encoded.ends.tolist()])]
    assert found == [list(analyse(text)) for text in texts]


def test_the_table_of_classes_is_the_class_of_each_character():
    codes = np.concatenate([np.arange(0, 0x20000, 7), np.arange(0x4E00, 0x4E10), np.arange(0x20000, 0x20010)])
    assert [ORDER[place] for place in table()[codes]] == [word_class(code) for code in codes.tolist()]


def test_a_class_is_worked_out_once():
    letters = Letters()
    assert "a中 ".translate(letters) == "AC-"
    assert dict(letters) == {ord("a"): "A", ord("中"): "C", ord(" "): "-"}


@pytest.mark.extras
def test_jieba_reads_its_own_dictionary_and_leaves_the_temporary_folder_alone(tmp_path, monkeypatch):
    pytest.importorskip("jieba")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    strange = marshal.dumps(({"桥建": 10**9, "桥": 0}, 10**9))  # as jieba itself keeps a dictionary
    (tmp_path / "jieba.cache").write_bytes(strange)
    assert analysis.load("jieba")("石桥建成了。") == ["石桥", "建成", "了"]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"jieba.cache": strange}
