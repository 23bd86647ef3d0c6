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
        ("ja", "japanese"),
        ("ko", "cjk"),
        ("de", "german"),
        ("pt-BR", "portuguese"),
    ],
)
def test_a_language_chooses_its_analyser(language, name):
    assert analysis.resolve("auto", language) == name


def test_a_name_is_kept_whatever_the_language():
    assert analysis.resolve("whitespace", "en") == "whitespace"


@pytest.mark.parametrize(("name", "language", "kind", "fault"), [
    ("englsh", "en", HarnessError, "did you mean 'english'"),
    ("auto", "km", HarnessError, "'km'; .*`analyser: NAME`"),
    ("auto", None, NoLanguage, "its language"),
])  # fmt: skip
def test_what_names_no_analyser_is_refused(name, language, kind, fault):
    with pytest.raises(kind, match=fault):
        analysis.resolve(name, language)


def test_a_plain_function_is_an_analyser():
    terms, numbers, ends = numbered(str.split, [["b a b", ""], ["c a"]])
    assert (terms, numbers, ends) == (["b", "a", "c"], [[0, 1, 0], [2, 1]], [[3, 3], [2]])


def test_an_analyser_that_gives_an_empty_term_is_named():
    with pytest.raises(HarnessError, match="empty term"):
        numbered(lambda text: text.split(" "), [["a  b"]])


@pytest.mark.parametrize(("analyse", "message"), [
    (str.lower, "'odd' .*, not str"),
    (len, "'odd' .*, not int"),
    (lambda text: [float("nan")], "'odd' returned nan"),
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
