"""The context-augmenter `titles`: what goes before a passage, and what a missing title means."""

import pytest

from harness.collection import context_additions, corpus
from harness.collection.composed_texts import compose
from harness.errors import HarnessError
from harness.types import Addition, Document, Passage
from harness_titles import TitlesParams
from harness_titles.titles import Titles


def prefixes(missing, *titles):
    documents = [Document(f"d{i}", title, (Passage("p", "text"),)) for i, title in enumerate(titles)]
    return [addition.prefix for addition in Titles(TitlesParams(missing=missing)).augment(documents)]


def test_the_title_goes_before_every_passage_once_a_document():
    document = Document("d", "The Half Moon", (Passage("a", "one"), Passage("b", "two")))
    [addition] = Titles(TitlesParams()).augment([document])
    assert addition == Addition("The Half Moon")


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

    assert next(iter(Titles(TitlesParams()).augment(endless()))).prefix == "t"


def test_a_document_of_one_passage_or_two_thousand_and_empty_passages_get_the_title_once_each():
    for texts in (("one",), ("",), tuple(f"text {i}" for i in range(2000))):
        document = Document("d", "Moon", tuple(Passage(f"p{i}", text) for i, text in enumerate(texts)))
        [addition] = Titles(TitlesParams()).augment([document])
        assert [compose(text, [addition], i) for i, text in enumerate(texts)] == [
            f"Moon {text}".rstrip() for text in texts
        ]


def test_coverage_is_how_many_documents_and_passages_have_a_title(tmp_path):
    class Source:
        def documents(self):
            titles = ("A title", "", "...", "Another")
            return (
                Document(f"d{i}", title, (Passage(f"p{i}", "text"), Passage(f"q{i}", "text")))
                for i, title in enumerate(titles)
            )

    for name in ("corpus", "titles"):
        (tmp_path / name).mkdir()
    corpus.write(Source(), tmp_path / "corpus", lambda done, total: None)
    read = corpus.Corpus(tmp_path / "corpus")
    facts, _ = context_additions.write(
        Titles(TitlesParams()), read, tmp_path / "titles", lambda done, total: None
    )
    assert facts == {"documents": 4, "documents_changed": 2, "passages": 8, "passages_changed": 4}
