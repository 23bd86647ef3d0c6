"""The makers of passages: DuReader's control of length in all its corner cases, and titles."""

from pathlib import Path

import pytest
from making_input import collection

from harness.types import Document, Judgement, Passage, Query
from harness_making import JoinParams
from harness_making.joining import Join
from harness_making.titles import StripTitles


def joined(lengths, **params):
    return Join(JoinParams(**{"limit": 256, **params})).groups(list(lengths))


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [
        ([100, 100], [(0, 2)]),  # a short document is one passage
        ([100, 155], [(0, 2)]),
        ([100, 156], [(0, 2)]),  # exactly the limit: not short, and joined because it does not exceed it
        ([256], [(0, 1)]),
        ([256, 10], [(0, 1), (1, 2)]),  # a paragraph of the limit is not below it; the rest stays short
        ([100, 100, 100, 100], [(0, 3), (3, 4)]),
        ([300, 20, 300], [(0, 1), (1, 3)]),
        ([20, 400, 20], [(0, 2), (2, 3)]),
        ([255, 1, 300], [(0, 3)]),  # 256 does not exceed the limit, so it goes on
        ([255, 2, 300], [(0, 2), (2, 3)]),
        ([0, 0, 300], [(0, 3)]),
    ],
)
def test_paragraphs_are_joined_until_they_exceed_the_limit(lengths, groups):
    assert joined(lengths) == groups


def test_a_short_document_may_keep_the_rule_of_paragraphs():
    assert joined([100, 100], join_whole="never") == [(0, 2)]
    assert joined([10, 260], join_whole="never", limit=10) == [(0, 1), (1, 2)]


def test_a_joined_passage_is_positive_if_any_part_was(tmp_path: Path):
    document = Document(
        "d", "T", (Passage("a", "x" * 200), Passage("b", "y" * 100, False), Passage("c", "z" * 300))
    )
    given = collection(
        tmp_path,
        [document],
        [Query("q", "?")],
        [Judgement("q", "a", 0), Judgement("q", "b", 2), Judgement("q", "c", 1)],
    )
    made = Join(JoinParams(separator="\n")).make(given)
    [after] = made.documents
    assert after.passages == (Passage("a", "x" * 200 + "\n" + "y" * 100), Passage("c", "z" * 300))
    assert list(made.judgements) == [Judgement("q", "a", 2), Judgement("q", "c", 1)]
    assert [(item.what, item.times) for item in given.tally.dropped] == [("passages", 1), ("judgements", 1)]


def test_titles_are_removed_and_counted(tmp_path: Path):
    documents = [Document("d", "T", (Passage("a", "x"),)), Document("e", "", (Passage("b", "y"),))]
    given = collection(tmp_path, documents, [Query("q", "?")], [])
    assert [document.title for document in StripTitles(None).make(given).documents] == ["", ""]
    assert given.tally.facts()["facts"] == {"titles removed": 1}
