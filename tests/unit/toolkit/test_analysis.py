"""Analysers by name and by language, and the numbering of terms."""

import numpy as np
import pytest

from harness.errors import HarnessError, NoLanguage
from harness.toolkit.text import analysis


def numbered(analyse, batches, threads=1):
    vocabulary = analysis.Vocabulary(analyse)
    encoded = list(vocabulary.encode(iter(batches), threads))
    return (
        vocabulary.terms,
        [item.terms.tolist() for item in encoded],
        [item.ends.tolist() for item in encoded],
    )


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("en", "english"),
        ("zh", "cjk"),
        ("ja", "cjk"),
        ("ko", "cjk"),
        ("de", "german"),
        ("pt-BR", "portuguese"),
    ],
)
def test_a_language_chooses_its_analyser(language, name):
    assert analysis.resolve("auto", language) == name


def test_a_name_is_kept_whatever_the_language():
    assert analysis.resolve("whitespace", "en") == "whitespace"


def test_an_unknown_name_is_refused_with_the_one_that_was_meant():
    with pytest.raises(HarnessError, match="did you mean 'english'"):
        analysis.resolve("englsh", "en")


def test_a_language_without_an_analyser_says_what_to_choose():
    with pytest.raises(
        HarnessError, match="there is none for the language 'th'; choose one with `analyser: NAME`"
    ):
        analysis.resolve("auto", "th")


def test_a_dataset_that_does_not_say_its_language_says_what_to_choose():
    with pytest.raises(NoLanguage, match="does not say its language; choose one"):
        analysis.resolve("auto", None)


def test_a_plain_function_is_an_analyser():
    terms, numbers, ends = numbered(str.split, [["b a b", ""], ["c a"]])
    assert (terms, numbers, ends) == (["b", "a", "c"], [[0, 1, 0], [2, 1]], [[3, 3], [2]])


def test_an_analyser_that_gives_an_empty_term_is_named():
    with pytest.raises(HarnessError, match="empty term"):
        numbered(lambda text: text.split(" "), [["a  b"]])


@pytest.mark.parametrize(("analyse", "message"), [
    (str.lower, "the analyser 'odd' must return a list of terms, not str"),
    (len, "the analyser 'odd' must return a list of terms, not int"),
    (lambda text: [float("nan")], "the analyser 'odd' returned nan, which is no term"),
])  # fmt: skip
def test_an_analyser_that_returns_no_terms_is_named(analyse, message):
    with pytest.raises(HarnessError, match=message):
        numbered(analysis._checked(analyse, "odd"), [["A text"]])


def test_numbers_depend_on_the_texts_and_not_on_threads_or_batches():
    chance = np.random.default_rng(3)
    texts = [" ".join(f"w{n}" for n in chance.integers(100_000, size=40)) for _ in range(2000)]
    english = analysis.load("english")
    whole = numbered(english, [texts])
    parts = numbered(english, [texts[i : i + 70] for i in range(0, len(texts), 70)], threads=3)
    assert whole[0] == parts[0]
    assert whole[1][0] == [number for part in parts[1] for number in part]
    assert len(whole[0]) > 1 << 15  # more than the table of tokens starts with room for
