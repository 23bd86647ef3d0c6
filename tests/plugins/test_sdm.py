"""The re-ranker `sdm` against a slow transcription of its equations, and on a real collection."""

import json
import math
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import testing
from harness.types import Facts
from harness_sdm import SdmParams, kernels, resolve
from harness_sdm.model import Sdm

# The slow transcriptions: words split at spaces, everything counted from the start for every score.


def ordered_windows(words, left, right):
    """#1: `right` stands right after `left`."""
    return sum(words[i] == left and words[i + 1] == right for i in range(len(words) - 1))


def unordered_windows(words, left, right, width):
    """#uw: pairs of occurrences less than `width` apart. The first window that closes is taken, and its
    words and all before them are used up (as Galago's unordered window does without overlap)."""
    if not words:
        return 0
    for end in range(1, len(words)):
        for start in range(max(0, end - width + 1), end):
            if {words[start], words[end]} == {left, right} and (left != right or words[start] == words[end]):
                return 1 + unordered_windows(words[end + 1 :], left, right, width)
    return 0


def slow_score(query, text, corpus, terms=0.85, ordered=0.10, unordered=0.05, window=8, mu=2500.0):
    """Metzler and Croft (2005), equation 4 with the features of table 1: each feature is the logarithm of
    its smoothed share of the text. A feature that the collection lacks is left out."""
    texts = [other.split() for other in corpus]
    length = sum(map(len, texts))
    words, wanted = text.split(), query.split()
    features = [(terms, lambda some, word=word: some.count(word)) for word in wanted]
    for left, right in pairwise(wanted):
        pair = (left, right)
        features.append((ordered, lambda some, pair=pair: ordered_windows(some, *pair)))
        features.append((unordered, lambda some, pair=pair: unordered_windows(some, *pair, window)))
    total = 0.0
    for weight, count in features:
        everywhere = sum(map(count, texts))
        if everywhere:
            total += weight * math.log((count(words) + mu * everywhere / length) / (len(words) + mu))
    return total


def scores(corpus, queries, folder, candidates=None, **given):
    texts = testing.texts(corpus)
    method = Sdm(SdmParams(analyser="whitespace", **given))
    method.index(texts, folder)
    if candidates is None:
        candidates = np.tile(np.arange(len(corpus)), (len(queries), 1))
    return method.open(texts, folder).score(queries, candidates)


words = st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join)


@given(st.lists(words, min_size=1, max_size=5), st.lists(words, min_size=1, max_size=3), st.integers(2, 5))
def test_every_score_equals_the_slow_transcription(tmp_path_factory, corpus, queries, window):
    computed = scores(corpus, queries, tmp_path_factory.mktemp("index"), window=window, mu=10.0)
    expected = [
        [slow_score(query, text, corpus, window=window, mu=10.0) for text in corpus] for query in queries
    ]
    assert computed == pytest.approx(np.array(expected), abs=1e-5)


@given(
    st.lists(st.sampled_from("abc"), max_size=20),
    st.sampled_from("ab"),
    st.sampled_from("ab"),
    st.integers(2, 9),
)
def test_windows_are_counted_as_in_the_slow_transcription(text, left, right, width):
    tokens = np.array([ord(word) for word in text], np.int32)
    found = kernels.windows(tokens, 0, len(tokens), ord(left), ord(right), width)
    assert found == (ordered_windows(text, left, right), unordered_windows(text, left, right, width))


def test_windows_do_not_cross_from_one_text_into_the_next(tmp_path):
    corpus = ["x castle", "hill y", "castle hill"]
    [computed] = scores(corpus, ["castle hill"], tmp_path)
    assert computed == pytest.approx([slow_score("castle hill", text, corpus) for text in corpus], abs=1e-6)


def test_by_default_the_weights_and_the_smoothing_are_those_that_are_documented(tmp_path):
    corpus = ["the old castle stands on a hill", "hill of the castle", "a castle hill", "nothing of it"]
    [computed] = scores(corpus, ["old castle hill"], tmp_path)
    assert computed == pytest.approx(
        [slow_score("old castle hill", text, corpus) for text in corpus], abs=1e-6
    )


def test_neighbours_in_order_beat_neighbours_in_disorder_beat_strangers(tmp_path):
    far = "x x x x x x x x x"
    corpus = [f"castle {far} hill x", f"hill castle {far} x", f"castle hill {far} x"]
    [computed] = scores(corpus, ["castle hill"], tmp_path)
    assert computed[2] > computed[1] > computed[0]


def test_words_that_no_text_has_tell_no_text_from_another(tmp_path):
    corpus = ["castle hill", "a castle"]
    known, with_unknown = scores(corpus, ["castle", "zeppelin castle zeppelin"], tmp_path)
    assert known.tolist() == with_unknown.tolist()


def test_a_word_between_that_no_text_has_makes_no_neighbours_of_the_others(tmp_path):
    computed, _ = scores(["castle hill"], ["castle zeppelin hill", "castle hill"], tmp_path, mu=1.0)
    expected = slow_score("castle", "castle hill", ["castle hill"], mu=1.0) * 2
    assert computed[0] == pytest.approx(expected, abs=1e-6)


def test_an_empty_query_scores_every_text_alike(tmp_path):
    assert scores(["castle", "hill"], [""], tmp_path).tolist() == [[0.0, 0.0]]


def test_only_candidates_are_indexed_and_keep_their_positions(tmp_path):
    texts = testing.texts(["castle", "context castle", "hill"], candidates=[True, False, True])
    method = Sdm(SdmParams(analyser="whitespace"))
    method.index(texts, tmp_path)
    scorer = method.open(texts, tmp_path)
    [computed] = scorer.score(["hill"], np.array([[2, 0, -1]]))
    assert computed[0] > computed[1]
    with pytest.raises(ValueError, match="position 1 is not in the index"):
        scorer.score(["hill"], np.array([[1]]))


def test_what_is_only_searched_with_leaves_the_index_as_it_is(tmp_path):
    corpus = ["the old castle", "a hill"]
    indexes = []
    for changed in ({}, {"terms": 0.5, "ordered": 0.3, "unordered": 0.2, "window": 4, "mu": 100.0}):
        folder = tmp_path / str(len(indexes))
        folder.mkdir()
        scores(corpus, ["castle"], folder, **changed)
        indexes.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert indexes[0] == indexes[1]


def test_the_index_does_not_depend_on_how_texts_come_in_batches(tmp_path):
    indexes = []
    for batch in (1, 7, 100):
        folder = tmp_path / str(batch)
        folder.mkdir()
        texts = testing.texts([f"castle number {i} on hill {i % 3}" for i in range(20)], batch=batch)
        Sdm(SdmParams(analyser="english")).index(texts, folder)
        indexes.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert indexes[0] == indexes[1] == indexes[2]


def test_the_analyser_goes_by_the_language_of_the_passages():
    assert resolve(SdmParams(), Facts("en", "zh", "passage")).analyser == "english"
    assert resolve(SdmParams(analyser="simple"), Facts("en", "en", "passage")).analyser == "simple"


@pytest.mark.real
def test_on_scifact_reranking_the_hundred_best_of_a_word_model_improves_them(tmp_path):
    """The first stage is the same model without pairs, over the whole collection: so what is measured is
    what neighbours add. Both stand above .65 nDCG@10, where lexical models do on this collection."""
    folder = os.environ.get("HARNESS_REAL_DATA")
    if not folder:
        pytest.skip("HARNESS_REAL_DATA names no folder with the real collections")
    texts, queries, judged = scifact(Path(folder) / "scifact")
    wanted = sorted(judged)
    asked = [queries[query] for query in wanted]
    method = Sdm(SdmParams(analyser="english", ordered=0, unordered=0))
    method.index(texts, tmp_path)
    everything = np.tile(np.arange(texts.size), (len(wanted), 1))
    words_alone = method.open(texts, tmp_path).score(asked, everything)
    best = np.argsort(-words_alone, axis=1, kind="stable")[:, :100]
    scored = Sdm(SdmParams(analyser="english")).open(texts, tmp_path).score(asked, best)
    reranked = np.take_along_axis(best, np.argsort(-scored, axis=1, kind="stable"), axis=1)
    before, after = (ndcg(ranking, [judged[query] for query in wanted]) for ranking in (best, reranked))
    assert before > 0.65
    assert after > before


def scifact(folder):
    """Titles and texts, queries by id, and for each judged query {position: grade}."""
    rows = lines(folder / "corpus.jsonl")
    position = {row["_id"]: i for i, row in enumerate(rows)}
    queries = {row["_id"]: row["text"] for row in lines(folder / "queries.jsonl")}
    judged = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, passage, grade = line.split("\t")
        judged.setdefault(query, {})[position[passage]] = int(grade)
    texts = testing.texts([f"{row['title']} {row['text']}" for row in rows], batch=4096)
    return texts, queries, judged


def lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ndcg(rankings, judged):
    """The mean nDCG@10 with linear gain."""
    discounts = 1 / np.log2(np.arange(2, 12))
    values = []
    for ranking, grades in zip(rankings, judged, strict=True):
        gains = np.array([grades.get(int(position), 0) for position in ranking[:10]])
        ideal = np.sort(np.array([*grades.values()] + [0] * 10))[::-1][:10]
        values.append((gains @ discounts) / (ideal @ discounts))
    return np.mean(values)
