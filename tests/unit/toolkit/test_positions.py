"""Where positions of a corpus stand in an index of some of its texts."""

import numpy as np

from harness.toolkit.index.positions import hits_of, rows_of


def rows(positions, known):
    places = rows_of(np.array(positions, np.int64), np.array(known, np.int64))
    assert places.dtype == np.int64
    return places.tolist()


def test_each_position_that_is_known_has_its_row_and_the_others_minus_one():
    assert rows([[2, 9, 5], [0, 3, 100]], [2, 5, 9]) == [[0, 2, 1], [-1, -1, -1]]


def test_a_filler_is_no_row():
    assert rows([[-1, 0], [-1, -1]], [0, 1]) == [[-1, 0], [-1, -1]]


def test_nothing_is_known_of_an_empty_index():
    assert rows([[0, -1]], []) == [[-1, -1]]


def test_rows_become_hits_of_their_positions_filled_to_k():
    scores = np.array([[3.0, 2.0], [1.0, 9.0]], np.float32)
    hits = hits_of(np.array([[2, 0], [1, -1]]), scores, 3, np.array([4, 5, 9]), "document")
    assert hits.passages.tolist() == [[9, 4, -1], [5, -1, -1]]
    assert hits.scores.tolist() == [[3.0, 2.0, -np.inf], [1.0, -np.inf, -np.inf]]
    assert hits.unit == "document"
