"""Rows of hits that a killed step leaves are taken up by the next run, and only those."""

import numpy as np
import pytest

from harness.execution import resuming
from harness.execution.resuming import Rows
from harness.types import Hits


def block(*passages):
    found = np.array(passages, np.int64)[:, None]
    return Hits(found, found.astype(np.float32))


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(resuming, "EVERY", 0.0)


def test_rows_are_all_there_in_order_and_nothing_is_left_beside_them(eager, tmp_path):
    rows = Rows(tmp_path, "passage")
    rows.add(block(1, 2), 0.5, {})
    rows.add(block(3), 0.5, {})
    assert list(tmp_path.iterdir())
    assert rows.finish().passages.tolist() == [[1], [2], [3]]
    assert not list(tmp_path.iterdir())


def test_a_second_process_goes_on_after_the_first(eager, tmp_path):
    first = Rows(tmp_path, "document")
    first.add(block(1, 2), 0.5, {"cut": 1})
    first.add(block(3), 0.25, {"cut": 4})
    second = Rows(tmp_path, "document")
    assert (second.done, second.seconds, second.counts["cut"]) == (3, 0.75, 4)
    second.add(block(7), 1.0, {"cut": 2})
    third = Rows(tmp_path, "document")
    assert (third.done, third.seconds, third.counts["cut"]) == (4, 1.75, 6)
    assert third.finish().passages.tolist() == [[1], [2], [3], [7]]
    assert third.unit == "document"


def test_quick_work_is_not_written_on_the_way(tmp_path):
    rows = Rows(tmp_path, "passage")
    rows.add(block(1), 0.5, {})
    assert not list(tmp_path.iterdir())
    assert Rows(tmp_path, "passage").done == 0


def test_a_half_written_part_is_no_part(eager, tmp_path):
    (tmp_path / ".1.1.new.rows-000000000.npz").write_bytes(b"half")
    assert Rows(tmp_path, "passage").done == 0
