"""Finds the nearly equal passages of a corpus. Memory holds numbers for all passages, but never all texts."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from harness.plugin import Ints, MakerInput
from harness_making import DeduplicateParams, minhash

PAIRS = 1 << 16  # pairs whose texts are in memory at once


def near_duplicates(data: MakerInput, params: DeduplicateParams, stands_for: Ints) -> Ints:
    """int64[N]: for each passage, the first passage of its group. Two passages are linked if they share the
    key of a band and their shingles are similar enough. Of the passages with the same key, each is compared
    with the first and with the one before it. A group is all passages that links connect. `stands_for` has
    the first passage of each group of equal texts."""
    characters = params.unit == "characters"
    files = _band_files(data, params.shingle, characters)
    parent = stands_for.copy()
    compared = linked = 0
    for band, file in enumerate(files):
        keys = np.fromfile(file, np.uint64)
        file.unlink()
        for pairs in _candidates(keys, parent, stands_for, data.corpus.candidate):
            similar = _similar(data, pairs, params, characters)
            compared += len(pairs)
            linked += int(similar.sum())
            _join()(parent, pairs[similar])
        data.progress(band + 1, len(files), "near duplicates, bands")
    data.tally.note("candidate pairs compared", compared)
    data.tally.note("pairs similar enough", linked)
    return _roots(parent)


def _band_files(data: MakerInput, shingle: int, characters: bool) -> list[Path]:
    """Write a file for each band with the keys of all passages, uint64[N], and return the files."""
    files = [data.folder / f"band-{band:02}" for band in range(minhash.BANDS)]
    done = 0
    handles = [file.open("wb") for file in files]
    try:
        for texts in data.corpus.text_columns():
            keys = minhash.band_keys(*_bytes_of(texts), shingle, characters)
            for band, handle in enumerate(handles):
                np.ascontiguousarray(keys[:, band]).tofile(handle)
            done += len(texts)
            data.progress(done, data.corpus.passages, "signatures")
    finally:
        for handle in handles:
            handle.close()
    return files


def _bytes_of(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The UTF-8 bytes of a column's texts, and the bounds of the texts in them, int64[texts + 1]."""
    large = texts.cast(pa.large_string())
    _, offsets, data = large.buffers()
    bounds = np.frombuffer(offsets, np.int64)[large.offset : large.offset + len(large) + 1]
    empty = np.zeros(0, np.uint8)
    return (empty if data is None else np.frombuffer(data, np.uint8)), bounds


def _candidates(
    keys: NDArray[np.uint64], parent: Ints, stands_for: Ints, candidate: NDArray[np.bool_]
) -> Iterator[Ints]:
    """int64[n, 2]: blocks of pairs of passages that have the same key in this band and are not in one group
    yet. The earlier passage comes first."""
    alone = np.flatnonzero((stands_for == np.arange(len(stands_for))) & candidate)
    keys_alone = keys[alone]
    order = np.argsort(keys_alone, kind="stable")
    keys_alone, rows = keys_alone[order], alone[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = keys_alone[1:] != keys_alone[:-1]
    first = rows[np.maximum.accumulate(np.where(new, np.arange(len(rows)), 0))]
    later = np.flatnonzero(~new)
    with_first = np.stack([first[later], rows[later]], axis=1)
    before = np.stack([rows[later - 1], rows[later]], axis=1)
    for pairs in (with_first, before[before[:, 0] != with_first[:, 0]]):
        for low in range(0, len(pairs), PAIRS):
            block = pairs[low : low + PAIRS]
            roots = _roots_of()(parent, block.ravel()).reshape(-1, 2)
            block = block[roots[:, 0] != roots[:, 1]]
            if len(block):
                yield block


def _similar(data: MakerInput, pairs: Ints, params: DeduplicateParams, characters: bool) -> NDArray[np.bool_]:
    positions, places = np.unique(pairs, return_inverse=True)
    texts = pa.array(data.corpus.texts(positions), pa.large_string())
    local = places.reshape(-1, 2).astype(np.int64)
    values = minhash.similarities(*_bytes_of(texts), local, params.shingle, characters)
    similar: NDArray[np.bool_] = values >= params.similarity
    return similar


def _roots(parent: Ints) -> Ints:
    roots: Ints = _roots_of()(parent, np.arange(len(parent)))
    return roots


@functools.cache
def _roots_of() -> Any:
    @njit(cache=True)
    def roots(parent: Any, rows: Any) -> Any:
        root_of = np.empty(len(rows), np.int64)
        for i in range(len(rows)):
            row = rows[i]
            while parent[row] != row:
                parent[row] = parent[parent[row]]
                row = parent[row]
            root_of[i] = row
        return root_of

    return roots


@functools.cache
def _join() -> Any:
    @njit(cache=True)
    def join(parent: Any, pairs: Any) -> None:
        """Join the groups of the two passages of each pair. The root of a group is its first passage."""
        for i in range(len(pairs)):
            one, two = pairs[i, 0], pairs[i, 1]
            while parent[one] != one:
                one = parent[one]
            while parent[two] != two:
                two = parent[two]
            if one < two:
                parent[two] = one
            else:
                parent[one] = two

    return join
