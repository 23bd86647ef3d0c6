"""Equal and nearly equal passages become one, and Ward's clusters are SciPy's."""

import numpy as np
import pytest
from making_input import collection
from scipy.cluster import hierarchy

from harness.types import Document, Judgement, Passage, Query
from harness_making import ClusterParams, DeduplicateParams
from harness_making.clusters import DeduplicatePairs, clusters, representatives, tf_idf
from harness_making.duplicates import Deduplicate

WORDS = [f"word{i}" for i in range(400)]


def text(random, length=60):
    return " ".join(random.choice(WORDS, length))


def near(random, words, changed):
    """The text with so many of its words replaced."""
    words = words.split()
    for at in random.choice(len(words), changed, replace=False):
        words[at] = "other"
    return " ".join(words)


def shingles(words, width):
    words = words.lower().split()
    return {tuple(words[i : i + width]) for i in range(max(1, len(words) - width + 1))}


def deduplicated(folder, texts, judged=(), **params):
    documents = [Document(f"d{i}", "", (Passage(f"p{i}", each),)) for i, each in enumerate(texts)]
    given = collection(folder, documents, [Query("q", "?")], [Judgement("q", *row) for row in judged])
    made = Deduplicate(DeduplicateParams(unit="words", **params)).make(given)
    ids = [passage.id for document in made.documents for passage in document.passages]
    return ids, [tuple(row)[1:3] for row in made.judgements], given.tally


def test_equal_texts_become_the_first_with_the_highest_grade(tmp_path):
    ids, judged, tally = deduplicated(
        tmp_path, ["one", "two", "one", "One", "one"], [("p2", 2), ("p0", 1), ("p3", 1), ("gone", 3)]
    )
    assert ids == ["p0", "p1", "p3"]
    assert judged == [("p0", 2), ("p3", 1), ("gone", 3)]
    counts = {(item.what, item.times) for item in tally.dropped}
    assert counts == {("passages", 2), ("documents", 2), ("judgements", 1)}


def test_nearly_equal_texts_are_those_of_all_pairs(tmp_path):
    """Three groups of near copies among texts that have nothing in common; every link is in one of the groups."""
    random = np.random.default_rng(3)
    originals = [text(random) for _ in range(40)]
    copies = [near(random, originals[i], changed) for i in (0, 1, 2) for changed in (1, 1, 2)]
    texts = [*originals, *copies]
    ids, _, tally = deduplicated(tmp_path, texts, by="minhash", similarity=0.6, shingle=3)
    sets = [shingles(each, 3) for each in texts]
    linked = {
        (i, j)
        for i in range(len(sets)) for j in range(i)
        if len(sets[i] & sets[j]) >= 0.6 * len(sets[i] | sets[j])
    }  # fmt: skip
    group = list(range(len(texts)))
    for i, j in sorted(linked):
        old, new = max(group[i], group[j]), min(group[i], group[j])
        group = [new if each == old else each for each in group]
    assert len(linked) > 9
    assert ids == [f"p{i}" for i in range(len(texts)) if group[i] == i]
    assert tally.facts()["facts"]["pairs similar enough"] <= len(linked)


def test_a_passage_that_is_no_candidate_stays(tmp_path):
    passages = (Passage("a", "same"), Passage("b", "same", False), Passage("c", "same"))
    given = collection(tmp_path, [Document("d", "T", passages)], [Query("q", "?")], [])
    [document] = Deduplicate(DeduplicateParams()).make(given).documents
    assert [passage.id for passage in document.passages] == ["a", "b"]


def test_clusters_are_those_of_scipys_linkage_on_the_vectors():
    random = np.random.default_rng(5)
    vectors = random.normal(size=(30, 8))
    tree = hierarchy.linkage(vectors, method="ward")
    for cut in (0.5, 2.0, 4.0, 9.0):
        assert (clusters(vectors, cut) == hierarchy.fcluster(tree, cut, criterion="distance")).all()


def test_a_cluster_is_represented_by_its_central_longest_or_first_passage():
    vectors = np.array([[0.0], [1.0], [3.0], [50.0]])
    groups = np.array([1, 1, 1, 2])
    texts = ["aa", "a", "aaaa", "a"]
    chosen = {
        how: representatives(groups, vectors, texts, how).tolist() for how in ("central", "longest", "first")
    }
    assert chosen == {"central": [1, 3], "longest": [2, 3], "first": [0, 3]}


def test_weights_are_tf_times_the_smoothed_idf():
    rows = tf_idf(["a a b", "b c"], characters=False)
    rare = np.log(3 / 2) + 1
    assert rows[0] == pytest.approx(np.array([2 * rare, 1, 0]) / np.hypot(2 * rare, 1))
    assert rows[1] == pytest.approx(np.array([0, 1, rare]) / np.hypot(1, rare))


def test_one_pair_of_each_cluster_of_a_query_is_kept(tmp_path):
    passages = ["garden river stone", "garden river stones", "a ship at sea", "garden river stone"]
    documents = [Document(f"d{i}", "", (Passage(f"p{i}", each),)) for i, each in enumerate(passages)]
    queries = [Query("q", "?"), Query("r", "?")]
    judged = [
        *(Judgement("q", f"p{i}", 0) for i in range(3)),
        Judgement("r", "p3", 1),
        Judgement("q", "no", 1),
    ]
    given = collection(tmp_path, documents, queries, judged)
    made = DeduplicatePairs(ClusterParams(cut=1.2, unit="words", representative="first")).make(given)
    assert [(row.query, row.passage) for row in made.judgements] == [
        ("q", "p0"), ("q", "p2"), ("r", "p3"), ("q", "no")
    ]  # fmt: skip
    assert given.tally.facts()["facts"] == {"clusters": 2}


def test_the_passages_of_a_query_are_encoded_once(tmp_path):
    encoded = []

    def encode(texts, queries):
        encoded.append((list(texts), queries))
        return np.array([[len(text), 0.0] for text in texts], np.float32)

    passages = ["one", "two", "a ship at sea"]
    documents = [Document(f"d{i}", "", (Passage(f"p{i}", each),)) for i, each in enumerate(passages)]
    judged = [Judgement("q", f"p{i}", 0) for i in range(3)]
    given = collection(tmp_path, documents, [Query("q", "?")], judged, encode=encode)
    made = DeduplicatePairs(ClusterParams(unit="words")).make(given)
    assert [row.passage for row in made.judgements] == ["p0", "p2"]
    assert encoded == [(passages, False)]
