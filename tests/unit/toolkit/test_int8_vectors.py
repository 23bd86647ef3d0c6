"""Vectors in int8: as near as their scale allows, the same bytes whatever the parts, searched as they are."""

import filecmp

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.toolkit.neural.encoding import int8, vectors
from harness.toolkit.neural.encoding.parts import Shard
from harness.toolkit.search import exact
from harness.types import IndexPart

TEXTS, D = 2500, 24


@pytest.fixture
def rows():
    random = np.random.default_rng(3)
    rows = random.standard_normal((TEXTS, D), np.float32)
    rows[7], rows[8] = 0, rows[9]
    rows[10] *= 1e-30
    return rows


def write(folder, rows, first=0, texts=None, stored="int8"):
    """The rows from `first` on, in shards, as a step or a part of one writes them."""
    folder.mkdir(exist_ok=True)
    put = vectors.writer(folder, texts or len(rows), rows.shape[1], stored)
    for start in range(0, len(rows), int8.GROUP):
        piece = rows[start : start + int8.GROUP]
        put(
            Shard(
                start // int8.GROUP, start, np.arange(first + start, first + start + len(piece)), list(piece)
            )
        )
    return folder


def test_a_number_is_off_by_half_a_step_at_most_and_a_row_of_zeros_stays(rows, tmp_path):
    stored = vectors.read(write(tmp_path, rows)).rows
    steps = np.abs(rows).max(axis=1) / 127
    assert (np.abs(stored[:] - rows) <= steps[:, None] * 0.50001).all()
    assert not stored[7:8].any()
    assert (stored[9] == stored[8]).all()
    assert stored[np.array([2, 0])].dtype == np.float32
    size = (tmp_path / "vectors.npy").stat().st_size + (tmp_path / "scales.npy").stat().st_size
    assert size < TEXTS * (D + 4) + 512


@pytest.mark.parametrize("stored", ["fp32", "fp16", "int8"])
def test_parts_make_the_same_bytes_as_one_piece(rows, tmp_path, stored):
    rows = rows * np.float32(0.1)
    whole = write(tmp_path / "whole", rows, stored=stored)
    parts = []
    for start, stop in ((0, 1024), (1024, TEXTS)):
        folder = write(tmp_path / str(start), rows[start:stop], start, stored=stored)
        parts.append(IndexPart(start, stop, folder))
    joined = tmp_path / "joined"
    joined.mkdir()
    vectors.join(parts, joined, TEXTS, stored)
    names = sorted(path.name for path in whole.iterdir())
    assert names == sorted(path.name for path in joined.iterdir())
    assert filecmp.cmpfiles(whole, joined, names, shallow=False) == (names, [], [])
    assert vectors.facts(whole, stored) == vectors.facts(joined, stored)


@pytest.mark.extras
@pytest.mark.parametrize("queries", [3, 40])
def test_a_search_gives_what_it_gives_over_the_rows_that_are_read_back(rows, tmp_path, queries):
    stored = vectors.read(write(tmp_path, rows)).rows
    asked = np.random.default_rng(5).standard_normal((queries, D), np.float32)
    places, scores = exact.search(asked, stored, 20)
    plain_places, plain_scores = exact.search(asked, stored[:], 20)
    assert places.tolist() == plain_places.tolist()
    assert scores.tobytes() == plain_scores.tobytes()
    within = np.tile(np.array([5, 7, 2499, -1]), (queries, 1))
    for left, right in zip(
        exact.search(asked, stored, 3, within), exact.search(asked, stored[:], 3, within), strict=True
    ):
        assert left.tolist() == right.tolist()


def test_the_share_of_neighbours_that_are_found_is_told():
    random = np.random.default_rng(1)
    rows = random.standard_normal((300, 8)).astype(np.float32)
    assert int8.neighbours(rows, rows) == (160, 160)
    found, compared = int8.neighbours(rows, random.standard_normal((300, 8)).astype(np.float32))
    assert (found < 40, compared) == (True, 160)
    best = np.argsort(-(rows[:16] @ rows.T - 1e9 * np.eye(300)[:16]), axis=1)[:, :10]
    stored = int8.Scaled(*int8.scaled(rows))[:]
    near = np.argsort(-(rows[:16] @ stored.T - 1e9 * np.eye(300)[:16]), axis=1)[:, :10]
    shares = [len(set(a) & set(b)) for a, b in zip(best.tolist(), near.tolist(), strict=True)]
    assert int8.neighbours(rows, stored)[0] == sum(shares)
    assert int8.neighbours(rows[:1], rows[:1]) == (0, 0)


def test_copies_of_a_text_count_as_one_another():
    rows = np.repeat(np.eye(4, dtype=np.float32), 30, axis=0)
    assert int8.neighbours(rows, rows[::-1][::-1]) == (160, 160)


def test_few_texts_and_none_have_facts(tmp_path):
    assert "int8_recall" not in vectors.facts(write(tmp_path / "none", np.zeros((0, 3), np.float32)), "int8")
    assert vectors.facts(write(tmp_path / "two", np.eye(2, dtype=np.float32)), "int8")["int8_recall"] == 1


def test_a_number_that_is_not_finite_is_refused(tmp_path):
    with pytest.raises(HarnessError, match="position 1 "):
        write(tmp_path, np.array([[1, 2], [1, np.inf]], np.float32))
