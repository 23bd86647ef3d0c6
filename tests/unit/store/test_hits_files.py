"""Hits on disk, rows of batches put together, and what lies below a re-ranked head."""

import numpy as np

from harness.store import hits_files
from harness.types import Hits


def hits(passages, scores):
    return Hits(np.array(passages, np.int64), np.array(scores, np.float32))


def test_batches_of_different_width_are_joined_with_fills():
    joined = hits_files.joined([hits([[1, 2]], [[2, 1]]), hits([[3]], [[5]])], "passage")
    assert joined.passages.tolist() == [[1, 2], [3, -1]]
    assert joined.scores.tolist() == [[2, 1], [5, -np.inf]]


def test_no_batch_at_all_is_no_row():
    assert hits_files.joined([], "document").passages.shape == (0, 0)


def test_the_tail_keeps_its_order_below_the_lowest_of_the_head():
    whole = hits([[1, 2, 3, 4], [5, 6, -1, -1]], [[9, 8, 7, 6], [3, 2, -np.inf, -np.inf]])
    head = hits([[2, 1], [6, 5]], [[0.5, -4.0], [1e9, 5e8]])
    both = hits_files.with_tail(head, whole)
    assert both.passages.tolist() == [[2, 1, 3, 4], [6, 5, -1, -1]]
    assert both.scores[0].tolist() == [0.5, -4, -5, -6]
    assert both.scores[1, 2:].tolist() == [-np.inf, -np.inf]


def test_tail_scores_fall_strictly_even_where_float32_counts_no_ones():
    whole = hits([list(range(50))], [list(range(50, 0, -1))])
    both = hits_files.with_tail(hits([[0]], [[3e30]]), whole)
    assert (np.diff(both.scores[0]) < 0).all()


def test_an_empty_head_leaves_the_tail():
    whole = hits([[-1, -1]], [[-np.inf, -np.inf]])
    both = hits_files.with_tail(hits([[-1]], [[-np.inf]]), whole)
    assert both.passages.tolist() == [[-1, -1]]
