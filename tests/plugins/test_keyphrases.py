"""TopicRank: what is a candidate, which candidates are one topic, and how topics score, by hand."""

import random
import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("numba")

from harness_keyphrases import kernels, topicrank
from harness_keyphrases.topicrank import CUT, DAMPING, Occurrence, Rules, Word

STEMS = {"cars": "car", "trains": "train", "bridges": "bridge"}
RULES = Rules(lambda word: STEMS.get(word, word), frozenset({"other"}), shortest=3, shortest_word=2)


def words(text):
    """Every run without white space is a token; those of letters, digits and hyphens are kept, `_x` is not."""
    return [Word(*m.span(), keep=not m[0].startswith(("_", "."))) for m in re.finditer(r"\S+", text)]


def found(text):
    return list(topicrank.occurrences(text, words(text), RULES))


def topics(text):
    return topicrank.topics(text, found(text))


def phrases(text):
    return [text[o.start : o.end] for o in found(text)]


def test_candidates_are_the_longest_sequences_and_their_offsets_count_every_token():
    assert found("red cars . _go fast Red car") == [
        Occurrence(0, 0, 8, ("red", "car")),
        Occurrence(4, 15, 27, ("fast", "red", "car")),
    ]


def test_a_sequence_ends_with_its_line_because_lines_are_passages():
    assert phrases("old town\nstone bridge") == ["old town", "stone bridge"]


@pytest.mark.parametrize(
    "text",
    ["other towns", "up", "town x", "one-two a/b", "aa bb cc dd ee ff", "$$$ sign"],
    ids=["stop word", "short", "short word", "mark inside", "six words", "no word"],
)
def test_what_pke_filters_is_no_candidate(text):
    assert phrases(text) == []


def test_five_words_and_hyphens_are_a_candidate():
    assert phrases("aa bb cc-c dd ee") == ["aa bb cc-c dd ee"]


def test_topics_and_scores_worked_by_hand():
    # tokens:  red(0) cars(1) .(2) fast(3) red(4) car(5) .(6) trains(7) .(8) rain(9)
    # A: {red, car} at 0 and {fast, red, car} at 3, distance 1 - 2/3 <= .74; B: {train} at 7; C: {rain} at 9
    # w(A, B) = 1/7 + 1/4 = 11/28    w(A, C) = 1/9 + 1/6 = 5/18    w(B, C) = 1/2
    # sums:  A 11/28 + 5/18 = 169/252    B 11/28 + 1/2 = 25/28    C 5/18 + 1/2 = 7/9
    # a = .05 + .85 (11/25 b + 5/14 c)    b = .05 + .85 (99/169 a + 9/14 c)    c = .05 + .85 (70/169 a + 14/25 b)
    # of which the solution is a = .29157618, b = .37653679, c = .33188703
    ranked = topics("red cars . fast red car . trains . rain")
    assert [topic.phrase for topic in ranked] == ["trains", "rain", "red cars"]
    assert [topic.score for topic in ranked] == pytest.approx([0.37653679, 0.33188703, 0.29157618], abs=1e-7)
    assert ranked[2].candidates == (("red", "car"), ("fast", "red", "car"))


def test_linkage_is_average_and_of_two_equal_merges_the_earlier_is_made():
    # d(ab, bc) = d(bc, cd) = 2/3: the first pair merges; then d({ab, bc}, cd) = (1 + 2/3) / 2 = 5/6 > .74
    assert topicrank.clustered([("a", "b"), ("b", "c"), ("c", "d")]).tolist() == [0, 0, 2]


def test_a_quarter_of_the_stems_is_too_few_and_more_is_enough():
    assert topicrank.clustered([("a", "b"), ("b", "c", "d")]).tolist() == [0, 1]  # 3/4
    assert topicrank.clustered([("a", "b"), ("b", "c")]).tolist() == [0, 0]  # 2/3


def test_stems_are_a_set_so_that_a_repeated_one_counts_once():
    assert topicrank.clustered([("new", "york"), ("new", "york", "new")]).tolist() == [0, 0]
    # as counts (1, 1) and (0, 2), as some compare them, these would be at distance 1
    assert topicrank.clustered([("new", "york"), ("york", "york")]).tolist() == [0, 0]


def test_all_occurrences_of_a_topics_candidates_count_but_not_among_themselves():
    # aa(0) bb(1) _(2) cc-c(3) _(4) aa(5) bb(6): {aa, bb} at 0 and 5, {cc-c} at 3; w = 1/3 + 1/2, and 1/5 nowhere
    weights = kernels.edges(np.array([0, 3, 5]), np.array([0, 1, 0], np.int32), 2)
    assert weights.tolist() == [[0, pytest.approx(5 / 6)], [pytest.approx(5 / 6), 0]]
    ranked = topics("aa bb _ cc-c _ aa bb")
    assert [(topic.phrase, topic.score) for topic in ranked] == [
        ("aa bb", 0.5),
        ("cc-c", 0.5),
    ]  # the earlier first


def test_the_first_candidate_to_occur_speaks_for_its_topic_in_lower_case_as_it_is_written():
    assert [t.phrase for t in topics("Stone\t Bridges . stone bridge . old stone bridge")] == [
        "stone bridges"
    ]


def test_one_topic_has_all_the_score_and_no_candidate_none():
    assert [topic.score for topic in topics("bridge . bridge")] == [1.0]
    assert topics("_the . _of") == []
    assert topics("") == []


def slow_clusters(candidates):
    """Average linkage over fractions, one merge at a time: the closest pair, the first of equals."""
    sets = [frozenset(stems) for stems in candidates]
    clusters = [[i] for i in range(len(sets))]

    def distance(pair):
        one, other = (clusters[i] for i in pair)
        each = [1 - Fraction(len(sets[i] & sets[j]), len(sets[i] | sets[j])) for i in one for j in other]
        return sum(each) / len(each), pair

    while len(clusters) > 1:
        mean, (i, j) = min(distance(pair) for pair in combinations(range(len(clusters)), 2))
        if mean > CUT:
            break
        clusters[i] += clusters.pop(j)
    return {frozenset(cluster) for cluster in clusters}


def slow_scores(offsets, topic, count):
    weights = np.zeros((count, count))
    for (p, s), (q, t) in combinations(zip(offsets, topic, strict=True), 2):
        if s != t:
            weights[s, t] += 1 / abs(p - q)
            weights[t, s] += 1 / abs(p - q)
    walk = DAMPING * (weights / weights.sum(axis=1, keepdims=True)).T
    return np.linalg.solve(np.eye(count) - walk, np.full(count, (1 - DAMPING) / count))


@pytest.mark.parametrize("seed", range(30))
def test_clusters_and_scores_are_those_of_a_slow_transcription(seed):
    rng = random.Random(seed)
    letters = "abcdefghij"[: rng.randint(4, 10)]
    candidates = list({tuple(rng.choices(letters, k=rng.randint(1, 4))): 0 for _ in range(25)})
    topic = topicrank.clustered(candidates)
    groups = {frozenset(np.flatnonzero(topic == name).tolist()) for name in topic}
    assert groups == slow_clusters(candidates)
    assert all(min(group) in topic for group in groups)
    count = rng.randint(2, 12)
    of = np.array([*range(count), *rng.choices(range(count), k=20)], np.int32)
    offsets = np.cumsum(rng.choices(range(1, 9), k=len(of)))
    scores = kernels.pagerank(kernels.edges(offsets, of, count), DAMPING)
    assert scores == pytest.approx(slow_scores(offsets.tolist(), of.tolist(), count), abs=1e-10)
    assert scores.sum() == pytest.approx(1)


@pytest.mark.extras
def test_scores_are_those_of_networkx():
    networkx = pytest.importorskip("networkx")
    weights = kernels.edges(np.arange(0, 90, 3), np.arange(30, dtype=np.int32) % 7, 7)
    expected = networkx.pagerank(networkx.from_numpy_array(weights), alpha=DAMPING, tol=1e-13, max_iter=1000)
    assert kernels.pagerank(weights, DAMPING) == pytest.approx(list(expected.values()), abs=1e-9)
