"""The context-augmenter `titles`: what goes before a passage, and what a missing title means."""

import pytest

from harness.errors import HarnessError
from harness.types import Document, Passage
from harness_titles import TitlesParams, build


def prefixes(missing, *titles):
    documents = [Document(f"d{i}", title, (Passage("p", "text"),)) for i, title in enumerate(titles)]
    return [addition.prefix for addition in build(TitlesParams(missing=missing)).augment(documents)]


def test_the_title_goes_before_every_passage_once_a_document():
    document = Document("d", "The Half Moon", (Passage("a", "one"), Passage("b", "two")))
    [addition] = build(TitlesParams()).augment([document])
    assert addition == ("The Half Moon", (), ())


def test_white_space_around_a_title_is_cut():
    assert prefixes("skip", "  a title\n") == ["a title"]


@pytest.mark.parametrize("title", ["", "  ", "...", "-- | --", "?!", "。。", "\u3000"])
def test_a_title_that_names_nothing_leaves_the_passages_as_they_are(title):
    assert prefixes("skip", title) == [""]


@pytest.mark.parametrize("title", ["C++", "7", "é", "北京", "Ω", "مرحبا", "...1"])
def test_one_letter_or_digit_of_any_script_makes_a_title(title):
    assert prefixes("skip", title) == [title]


def test_verbatim_prepends_punctuation_and_adds_nothing_for_an_empty_title():
    assert prefixes("verbatim", "...", "") == ["...", ""]


@pytest.mark.parametrize(
    ("title", "what"), [("", "has no title"), ("...", "has a title of punctuation only, '...'")]
)
def test_refuse_names_the_document(title, what):
    with pytest.raises(HarnessError, match="titles: the document 'd1' ") as caught:
        prefixes("refuse", "a title", title)
    assert what in str(caught.value)


def test_documents_are_streamed():
    def endless():
        while True:
            yield Document("d", "t", (Passage("p", "x"),))

    assert next(iter(build(TitlesParams()).augment(endless()))).prefix == "t"
