"""Where positions of a corpus stand in an index of some of its texts."""

import numpy as np

from harness.toolkit.index.positions import rows_of


def found(positions, known):
    rows = rows_of(np.array(positions, np.int64), np.array(known, np.int64))
    assert rows.dtype == np.int64
    return rows.tolist()


def test_each_position_that_is_known_has_its_row_and_the_others_minus_one():
    assert found([[2, 9, 5], [0, 3, 100]], [2, 5, 9]) == [[0, 2, 1], [-1, -1, -1]]


def test_a_filler_is_no_row():
    assert found([[-1, 0], [-1, -1]], [0, 1]) == [[-1, 0], [-1, -1]]


def test_nothing_is_known_of_an_empty_index():
    assert found([[0, -1]], []) == [[-1, -1]]
