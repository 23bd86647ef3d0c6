"""Passages from running text: windows, sentences, and a model that learns where paragraphs end."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from making_input import collection, other

from harness import catalogue
from harness.catalogue import params
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_making import SegmentParams, boundaries
from harness_making.boundaries import running
from harness_making.segmenting import Segment, measured, token_spans


def test_windows_of_tokens_overlap_and_cover_the_text():
    text = "one two three four five six seven"
    spans = token_spans(text, 3, 1, characters=False)
    assert [text[start:stop].strip() for start, stop in spans] == [
        "one two three", "three four five", "five six seven"
    ]  # fmt: skip
    assert token_spans("护照有效期", 2, 0, characters=True) == [(0, 2), (2, 4), (4, 5)]
    assert token_spans("one", 3, 1, characters=False) == [(0, 3)]


def test_sentences_end_after_a_stop_and_what_closes_it():
    def cut(text, characters):
        edges = [0, *boundaries.sentence_ends(text, characters).tolist(), len(text)]
        return [text[start:stop] for start, stop in itertools.pairwise(edges)]

    assert cut("他说：“好！”走了。真的？！是。", True) == ["他说：", "“好！”", "走了。", "真的？！", "是。"]
    assert cut("It costs 3.50 now. Pay it!", False) == ["It costs 3.50 now. ", "Pay it!"]


DOCUMENTS = [
    Document(f"d{i}", "T", tuple(
        Passage(f"d{i}-{j}", f"Heading {j}: the river is {word * (1 + 7 * i % 5)} and old. It runs to the sea.")
        for j, word in enumerate(("cold", "wide", "deep")[: 1 + i % 3])
    ))
    for i in range(30)
]  # fmt: skip


def segmented(folder, **params):
    folder.mkdir()
    queries, judged = [Query("q", "?")], [Judgement("q", "d2-1", 1), Judgement("q", "d2-2", 2)]
    others = {"learn": other(folder / "learn", DOCUMENTS, queries, [])}
    given = collection(folder, DOCUMENTS, queries, judged, others=others)
    made = Segment(SegmentParams(unit="words", **params)).make(given)
    documents = list(made.documents)
    return documents, [tuple(row)[1:3] for row in made.judgements], given.tally.facts()["facts"]


def test_a_model_finds_where_paragraphs_ended_and_judgements_follow(tmp_path):
    documents, judged, facts = segmented(tmp_path / "in", by="boundary", learn="learn")
    assert [len(document.passages) for document in documents] == [1 + i % 3 for i in range(30)]
    assert documents[2].passages[1].text == DOCUMENTS[2].passages[1].text
    assert judged == [("d2-1", 1), ("d2-2", 2)]
    assert facts["boundaries"]["model"]["f1"] == 1.0
    assert facts["boundaries"]["fixed length"]["f1"] < 0.5
    assert facts["documents learned from"] + facts["boundaries"]["held-out documents"] == 30


def test_what_only_serves_as_context_is_not_retrieved_after_segmenting(tmp_path):
    sentences = ("One. Two.", "Three. Four.", "Five.")
    candidates = (True, False, False)
    document = Document("d", "", tuple(
        Passage(f"p{i}", text, candidate)
        for i, (text, candidate) in enumerate(zip(sentences, candidates, strict=True))
    ))  # fmt: skip
    queries, judged = [Query("q", "?")], [Judgement("q", "p0", 1)]
    for size, expected in ((1, [True, True, False, False, False]), (3, [True, False])):
        (tmp_path / str(size)).mkdir()
        given = collection(tmp_path / str(size), [document], queries, judged)
        [made] = Segment(SegmentParams(unit="words", sentences=size)).make(given).documents
        assert [passage.candidate for passage in made.passages] == expected


def test_parts_of_one_new_passage_share_the_highest_grade(tmp_path):
    documents, judged, _ = segmented(tmp_path / "in", by="tokens", size=100)
    assert all(len(document.passages) == 1 for document in documents)
    assert judged == [("d2-0", 2)]


def test_a_lower_sigma_gives_more_passages():
    whole = [running([f"a{i} river flows", "stone lies still", "bird"], False) for i in range(20)]
    model = boundaries.trained(whole, False, 3, 0)
    counts = [len(model.ends(whole[0].text, sigma)) for sigma in (0.05, 0.3, 0.7, 0.99)]
    assert counts == sorted(counts, reverse=True)
    again = boundaries.trained(whole, False, 3, 0)
    assert np.array_equal(model.weights, again.weights)


def test_scores_are_those_of_counted_boundaries():
    assert boundaries.f1([(1, 2, 4), (2, 2, 2)]) == pytest.approx((3 / 4, 3 / 6, 6 / 10))
    assert boundaries.f1([(0, 0, 0)]) == (0.0, 0.0, 0.0)
    held = [running(["a b. ", "c d. "], False)]
    curve = measured(boundaries.trained(held, False, 2, 0), held, held, 0)
    assert set(curve["by sigma (precision, recall, F1)"]) == {f"0.{i}" for i in range(1, 10)}


def test_documents_of_one_passage_teach_nothing(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    alone = [Document("d", "", (Passage("p", "text"),))]
    given = collection(folder, alone, [Query("q", "?")], [], others={"x": other(folder / "x", alone, [], [])})
    with pytest.raises(HarnessError, match="one passage each"):
        list(Segment(SegmentParams(by="boundary", learn="x", unit="words")).make(given).documents)


@pytest.mark.real
@pytest.mark.parametrize(
    ("dataset", "given", "language", "share"),
    [
        ("dureader-questions", {"path": "dureader2-demo/raw", "split": "dev"}, "zh", 3),
        ("files", {"path": "condqa-lite-all", "split": "test", "language": "en"}, "en", 1),
    ],
)
def test_the_model_beats_cuts_of_fixed_length_and_by_sentences_on_real_documents(
    dataset, given, language, share, tmp_path
):
    """The intervals over held-out documents do not touch: the model is above both cuts. Of the web documents
    every third is enough."""
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    record = catalogue.load().find("datasets", dataset).record
    values, problems = params.convert(record.params, given, Path(os.environ["HARNESS_REAL_DATA"]))
    assert problems == []
    documents = list(record.build(values).documents())[::share]
    others = {"learn": other(tmp_path / "learn", documents, [], [])}
    (tmp_path / "in").mkdir()
    maker_input = collection(tmp_path / "in", documents[:1], [Query("q", "?")], [], others=others)
    unit = "characters" if language == "zh" else "words"
    Segment(SegmentParams(by="boundary", learn="learn", unit=unit)).make(maker_input)
    scores = maker_input.tally.facts()["facts"]["boundaries"]
    lowest = scores["model"]["ci95"][0]
    assert scores["held-out documents"] > 80
    assert all(lowest > scores[name]["ci95"][1] for name in ("fixed length", "sentences"))
