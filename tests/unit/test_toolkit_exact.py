"""Exact search against the plainest reading of it."""

import numpy as np
import pytest

from harness.toolkit import exact


def slow(queries, vectors, k):
    """Every inner product in double precision, sorted."""
    scores = queries.astype(np.float64) @ vectors.astype(np.float64).T
    places = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return places, np.take_along_axis(scores, places, axis=1)


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_k_best_are_found(random, dtype):
    queries = random.standard_normal((5, 24), np.float32)
    vectors = random.standard_normal((20_000, 24), np.float32).astype(dtype)
    places, scores = exact.search(queries, vectors, 10)
    wanted, values = slow(queries, vectors, 10)
    assert places.tolist() == wanted.tolist()
    assert scores == pytest.approx(values, abs=1e-5)
    assert (places.dtype, scores.dtype) == (np.int64, np.float32)


def test_ties_are_in_order_of_place():
    vectors = np.array([[1, 0], [0, 1], [1, 0], [1, 0]], np.float32)
    places, scores = exact.search(np.array([[1, 0]], np.float32), vectors, 2)
    assert places.tolist() == [[0, 2]]
    assert scores.tolist() == [[1, 1]]


def test_asking_for_more_than_there_is_gives_what_there_is():
    vectors = np.array([[-1.0], [-2.0]], np.float32)
    places, scores = exact.search(np.ones((1, 1), np.float32), vectors, 5)
    assert places.tolist() == [[0, 1]]
    assert scores.tolist() == [[-1, -2]]


def test_no_vectors_and_no_queries_are_no_error():
    assert exact.search(np.ones((2, 3), np.float32), np.ones((0, 3), np.float32), 5)[0].shape == (2, 0)
    assert exact.search(np.ones((0, 3), np.float32), np.ones((4, 3), np.float32), 5)[0].shape[0] == 0


def test_within_looks_only_at_the_places_named():
    vectors = np.array([[3.0], [-2.0], [1.0], [9.0]], np.float32)
    places, scores = exact.search(np.ones((2, 1), np.float32), vectors, 2, np.array([[2, 0, 1], [-1, 1, -1]]))
    assert places.tolist() == [[0, 2], [1, -1]]
    assert scores.tolist() == [[3, 1], [-2, -np.inf]]


def test_score_keeps_the_order_of_the_places():
    vectors = np.array([[3.0], [-2.0]], np.float32)
    scores = exact.score(np.ones((1, 1), np.float32), vectors, np.array([[1, -1, 0]]))
    assert scores.tolist() == [[-2, -np.inf, 3]]
