"""What a combiner has scored again: remembered while there is room, asked for in blocks of queries."""

import numpy as np

from harness.execution.combine import _Remembered
from harness.types import Hits


def test_an_answer_is_remembered_until_the_room_is_full():
    asked = []

    def ask(number, positions, first):
        asked.append((number, first, positions.tolist()))
        return Hits(positions, positions.astype(np.float32))

    rescore = _Remembered(ask, room=4)
    small, large = np.array([[1, 2]]), np.array([[3, 4, 5]])
    for _ in range(2):
        for first in (0, 7):
            assert rescore(0, small, first).passages.tolist() == [[1, 2]]
        assert rescore(0, large).passages.tolist() == [[3, 4, 5]]
    assert asked == [(0, 0, [[1, 2]]), (0, 7, [[1, 2]]), (0, 0, [[3, 4, 5]]), (0, 0, [[3, 4, 5]])]
