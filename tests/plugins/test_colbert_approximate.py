"""`search` of `colbert` by an inverted file: what it finds, what that is worth, and what is told of what it misses."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import tiny_heads
import tiny_models

from harness import testing
from harness.testing.texts import sentences
from harness.types import Facts
from harness_colbert import Approximate, Ivf, RetrieverParams, resolve

pytest.importorskip("torch")
pytest.importorskip("transformers")

from harness_colbert.retriever import LateRetriever

pytestmark = pytest.mark.extras

TEXTS = sentences(60)
EVERYTHING = Ivf(centroids=8, probes=8)
LENGTH, DIMENSION = 8, 16


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_heads.colbert(tmp_path_factory.mktemp("model") / "model")


def opened(model, folder, search="exact", texts=TEXTS):
    params = resolve(RetrieverParams(model, dtype="fp32", search=search), Facts("en", "en", "passage"))
    corpus, method = testing.texts(texts), LateRetriever(params)
    folder.mkdir(exist_ok=True)
    method.index(corpus, folder)
    return method.open(corpus, folder)


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def crowded():
    """An index in two parts whose vectors crowd around 200 directions, of which a text has 8, and 30 queries:
    vectors near those of a text."""
    from harness_colbert.storage import Index, Part

    chance = np.random.default_rng(3)
    themes = unit(chance.standard_normal((200, DIMENSION)))
    chosen = themes[chance.integers(0, 200, (1000, 8))]  # [N, 8, d]
    every = unit(chosen + 0.2 * chance.standard_normal(chosen.shape))
    first = [0, 600, 1000]
    parts = [
        Part(np.arange(end - begin + 1) * 8, every[begin:end].reshape(-1, DIMENSION))
        for begin, end in pairwise(first)
    ]
    queries = unit(every[::34][:30] + 0.2 * chance.standard_normal((30, LENGTH, DIMENSION)))
    return Index(np.arange(1000), np.array(first), parts, DIMENSION), queries


def recall(crowded, **options):
    from harness_colbert import approximate

    index, queries = crowded
    search = approximate.Approximate(index, Ivf(**options))
    search.search(queries, 20)
    return search.report()["recall"]


def test_all_centroids_and_room_for_all_texts_find_what_exact_search_finds(model, tmp_path):
    queries = ["castle of the island", "painter", ""]
    wanted = opened(model, tmp_path / "index").search(queries, 10)
    search = opened(model, tmp_path / "index", Approximate(EVERYTHING))
    hits = search.search(queries, 10)
    assert hits.passages.tolist() == wanted.passages.tolist()
    assert hits.scores == pytest.approx(wanted.scores, abs=1e-6)
    report = search.report()
    assert (report["recall"], report["recall_at"], report["recall_queries"]) == (1.0, 10, 3)
    assert report["queries_cut"] == 0


def test_more_probes_and_more_candidates_find_more(crowded):
    by_probes = [recall(crowded, centroids=128, probes=probes) for probes in (1, 2, 128)]
    assert by_probes[0] < by_probes[1] < by_probes[2] == 1.0
    by_candidates = [recall(crowded, centroids=128, probes=128, candidates=many) for many in (20, 60, 1000)]
    assert by_candidates[0] < by_candidates[1] < by_candidates[2] == 1.0


def test_the_centroids_alone_choose_candidates_better_than_chance(crowded):
    assert (
        recall(crowded, centroids=128, probes=128, candidates=100) > 0.4
    )  # 0.1 by chance: a tenth of the texts


def test_candidates_are_the_texts_of_probed_centroids_with_the_best_sums_of_centroids(crowded):
    from harness_colbert import clusters, inverted

    index, queries = crowded
    options = Ivf(centroids=64, probes=2, candidates=50)
    built = inverted.build(index, options)
    nearest = clusters.nearest(np.concatenate([part.vectors for part in index.parts]), built.centroids)
    bags = nearest.reshape(1000, 8)  # the centroid of each vector of each text
    for query in queries[:5]:
        similar = query @ built.centroids.T  # [L, C]
        probed = np.argsort(-similar, axis=1)[:, :2]
        there = np.flatnonzero(np.isin(bags, probed).any(axis=1))
        sums = similar[:, bags[there]].max(axis=2).sum(axis=0)
        best = there[np.argsort(-sums, kind="stable")[:50]]
        assert len(there) > 50
        assert inverted.candidates(built, query, options).tolist() == sorted(best.tolist())


def test_each_text_stands_once_under_each_of_its_centroids(crowded):
    from harness_colbert import inverted

    built = inverted.build(crowded[0], Ivf(centroids=64))
    of_texts = {
        (text, centroid)
        for text, (begin, end) in enumerate(pairwise(built.text_bounds.tolist()))
        for centroid in built.of_texts[begin:end].tolist()
    }
    of_centroids = [
        (text, centroid)
        for centroid, (begin, end) in enumerate(pairwise(built.centroid_bounds.tolist()))
        for text in built.of_centroids[begin:end].tolist()
    ]
    assert sorted(of_centroids) == sorted(of_texts)
    assert len(of_texts) == len(built.of_texts)
    assert (np.diff(built.centroid_bounds) > 0).all()  # no centroid is nearest to nothing


def test_centroids_find_the_directions_that_vectors_crowd_around(crowded):
    from harness_colbert import clusters

    index, _ = crowded
    vectors = np.concatenate([part.vectors for part in index.parts])
    centroids = clusters.learnt(index, 200, seed=0)
    assert np.linalg.norm(centroids, axis=1) == pytest.approx(np.ones(200), abs=1e-6)
    similar = vectors @ centroids.T
    assert clusters.nearest(vectors, centroids).tolist() == similar.argmax(axis=1).tolist()
    by_chance = vectors @ vectors[:: len(vectors) // 200][:200].T
    assert similar.max(axis=1).mean() > by_chance.max(axis=1).mean() + 0.02


def test_what_a_gpu_would_compute_is_the_same(crowded, monkeypatch):
    """By torch alone, as on a GPU, here in another device's name for the CPU."""
    from harness_colbert import clusters

    vectors = crowded[0].parts[0].vectors
    monkeypatch.setattr(clusters, "PRODUCTS", 64 * 100)  # 100 vectors at once
    found = clusters.nearest(vectors, vectors[:64], "cpu:0")
    assert found.tolist() == clusters.nearest(vectors, vectors[:64]).tolist()


@pytest.mark.parametrize(("total", "count"), [(1, 1), (7, 7), (100, 32), (10**9, 5000)])
def test_a_sample_is_spread_over_all_and_ascending(total, count):
    from harness_colbert import clusters

    places = clusters.spread(total, count, np.random.default_rng(0))
    assert len(places) == count
    assert ((places >= np.arange(count) * total // count) & (places < total)).all()
    assert (places <= np.arange(1, count + 1) * total / count).all()


def test_the_usual_number_of_centroids_is_a_power_of_two_near_16_roots():
    from harness_colbert import clusters

    # 16 * sqrt(1,000,000) = 16,000
    assert [clusters.usual(n) for n in (1, 4, 1_000_000, 1_048_576)] == [16, 32, 8192, 16384]


def test_the_same_options_give_the_same_and_another_seed_another(crowded):
    from harness_colbert import inverted

    first, again, other = (inverted.build(crowded[0], Ivf(centroids=64, seed=seed)) for seed in (0, 0, 1))
    assert all(np.array_equal(one, two) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first.centroids, other.centroids)


def test_spans_of_memory_change_nothing(crowded, monkeypatch):
    from harness_colbert import clusters, inverted

    whole = inverted.build(crowded[0], Ivf(centroids=64))
    monkeypatch.setattr(clusters, "SPAN", 768)
    pieces = inverted.build(crowded[0], Ivf(centroids=64))
    assert np.array_equal(whole.of_texts, pieces.of_texts)


def test_recall_is_measured_on_a_sample_in_which_every_query_may_be(crowded, monkeypatch):
    from harness_colbert import approximate

    index, queries = crowded
    monkeypatch.setattr(approximate, "SAMPLE", 10)
    search = approximate.Approximate(index, Ivf(centroids=128, probes=1))
    one_by_one = approximate.Approximate(index, Ivf(centroids=128, probes=1))
    search.search(queries, 20)
    for row in range(len(queries)):
        one_by_one.search(queries[row : row + 1], 20)
    report = search.report()
    assert report["recall_queries"] == 10
    assert report == one_by_one.report()
    assert report != approximate.Approximate(index, Ivf(centroids=128, probes=1)).report()
    drawn = {
        next(i for i, q in enumerate(queries) if q is kept or np.array_equal(q, kept))
        for kept in search._sample
    }
    assert len(drawn) == 10
    assert max(drawn) >= 10


def test_no_more_than_the_candidates_are_found_and_their_scores_are_exact(model, tmp_path):
    wanted = opened(model, tmp_path / "index").search(["castle"], len(TEXTS))
    few = Approximate(dataclasses.replace(EVERYTHING, candidates=5))
    hits = opened(model, tmp_path / "index", few).search(["castle"], 10)
    assert (hits.passages[:, 5:] == -1).all()
    score = dict(zip(wanted.passages[0].tolist(), wanted.scores[0].tolist(), strict=True))
    assert hits.scores[0, :5] == pytest.approx([score[p] for p in hits.passages[0, :5].tolist()], abs=1e-6)


def test_within_is_exact_whatever_the_index(model, tmp_path):
    within = np.arange(0, 60, 7)[None, :]
    narrow = Approximate(Ivf(centroids=16, probes=1, candidates=1))
    found, wanted = (
        opened(model, tmp_path / "index", search).search(["castle"], within.shape[1], within)
        for search in ("exact", narrow)
    )
    assert found.passages.tolist() == wanted.passages.tolist()


def test_an_empty_corpus_has_nothing_to_build(model, tmp_path):
    search = opened(model, tmp_path / "index", Approximate(Ivf()), texts=[])
    assert (search.search(["castle"], 3).passages == -1).all()
    assert "recall" not in search.report()


# not those that kill a process while it builds the index, which is the one of exact search
CASES = [case for case in testing.cases("retriever", "colbert") if "killed" not in case.name]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_approximate_search_keeps_the_contract(case, model, tmp_path):
    given = {"model": str(model), "dtype": "fp32", "search": {"ivf": {}}}
    dataclasses.replace(case, given=given)(tmp_path)


def test_systems_that_search_otherwise_share_one_encoding_and_tell_their_recall(model, tmp_path):
    method = f"{{colbert: {{model: {model}, dtype: fp32"
    exact, probed, _ = tiny_models.ran(
        tmp_path, exact=f"retriever: {method}}}}}",
        probed=f"retriever: {method}, search: {{ivf: {{centroids: 2, probes: 2}}}}}}}}",
        reranked=f"of: exact, rerank: {method}}}}}",
    ).rows  # fmt: skip
    assert probed.measures["nDCG@10"].mean == pytest.approx(exact.measures["nDCG@10"].mean)
    told = {key: value for step in probed.reported for key, value in step.facts.items()}
    assert (told["recall"], told["centroids"]) == (1.0, 2)
