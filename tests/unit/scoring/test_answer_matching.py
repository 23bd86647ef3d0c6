"""An answer is in a passage if its words stand there one after the other, as DPR's scripts have it."""

import unicodedata

import pytest

from harness.scoring import answers


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("New York", "in new york city"),
        ("new  york", "New\u00a0York"),
        ("café", "the cafe\u0301 is open"),
        ("3.5%", "up by 3.5% this year"),
        ("北京", "北京 是 首都"),
        ("U.S.", "the U.S. government"),
        ("ﬁn", "ﬁn"),
        (r"regex:(Nov|November)\.? 1[0-9]", "on november 14"),
        ("regex:^the", "one\nThe other"),
        ("regex:caf\u00e9", "the cafe\u0301s"),
        ("regex:york", "new yorkers"),
    ],
)
def test_an_answer_is_found(answer, text):
    assert answers.has_answer([answer], text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("york", "new yorkers"),  # words, not characters
        ("york new", "new york"),  # in order
        ("new city", "new york city"),  # next to each other
        ("北京", "北京是首都"),  # characters of scripts without spaces run on
        ("", "anything"),
        (" ", "anything"),
        ("35", "3.5"),
        ("fin", "ﬁn"),  # NFD keeps the ligature
        ("regex:(", "a ( b"),  # no regular expression
        ("regex:a.b", "a\nb"),
        ("Nov|Dec", "in nov"),
    ],
)
def test_an_answer_is_not_found(answer, text):
    assert not answers.has_answer([answer], text)


def test_any_of_several_answers_will_do():
    assert answers.has_answer(["one", "two"], "it takes two")
    assert not answers.has_answer([], "it takes two")


def slow_words(text: str) -> list[str]:
    """Character by character: runs of letters, numbers and marks; other visible characters alone."""
    found, run = [], ""
    for character in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(character)[0]
        if kind in "LNM":
            run += character
            continue
        found += [run] if run else []
        run = ""
        found += [character] if kind not in "ZC" else []
    return [word.lower() for word in [*found, run] if word]


def test_words_are_those_of_a_slow_reading_for_every_character():
    step = 997
    for start in range(0, 0x30000, step):
        text = "".join(map(chr, range(start, start + step)))
        text = "".join(c for c in text if not 0xD800 <= ord(c) < 0xE000)
        assert answers.words(text) == slow_words(text)
