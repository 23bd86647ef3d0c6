"""Writes and reads the arrays of an index, and checks that they fit one another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness.toolkit.index import files

FORMAT = files.Format("harness-bm25", 2)
Number = TypeVar("Number", bound=np.generic)


class Index(NamedTuple):
    """An inverted index. Texts are numbered from 0, and windows are ranges of at most 65,536 texts.

    A posting has two bytes for its text (within the window) and two bytes for its *pair*: the number of its
    (term frequency, length) among the different pairs of the window. A weight is then one lookup in a small
    table, which is computed from k1, b and the form when the index is opened. A *block* is one term's
    postings in one window.
    """

    positions: NDArray[np.int64]  # int64[N]: text -> position in the corpus
    lengths: NDArray[np.float32]  # float32[N]
    window_first: NDArray[np.int64]  # int64[W + 1]: the first text of each window
    pair_first: NDArray[np.int64]  # int64[W + 1]: the first pair of each window
    pair_tf: NDArray[np.float32]  # float32[pairs]
    pair_length: NDArray[np.float32]  # float32[pairs]
    block_first: NDArray[np.int64]  # int64[V + 1]: the first block of each term
    block_window: NDArray[np.int32]  # int32[B]
    block_start: NDArray[np.int64]  # int64[B + 1]: the first posting of each block
    block_peak: NDArray[np.uint16]  # uint16[B]: the pair with the block's highest frequency
    texts: NDArray[np.uint16]  # uint16[P]: the text of each posting, counted from the window's first
    pairs: NDArray[np.uint16]  # uint16[P]: the pair of each posting, counted from the window's first
    occurrences: NDArray[np.float64]  # float64[V]: how often each term occurs
    term_bytes: NDArray[np.uint8]  # uint8[...]: all terms in UTF-8
    term_ends: NDArray[np.int64]  # int64[V + 1]
    term_hash: NDArray[np.uint64]  # uint64[V]: ascending
    term_number: NDArray[np.int32]  # int32[V]: the term of each hash


def create(folder: Path, name: str, kind: type[Number], length: int) -> NDArray[Number]:
    """An array of zeros that is mapped from a new file, for writing."""
    path = folder / f"{name}.npy"
    if length == 0:  # an empty file cannot be mapped
        np.save(path, np.empty(0, kind))
        return np.empty(0, kind)
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=(length,))


def write(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def finish(folder: Path) -> None:
    files.finish(folder, FORMAT, [f"{name}.npy" for name in Index._fields])


def read(folder: Path) -> Index:
    """The index in a folder, mapped into memory. Raises HarnessError if it is unfinished or damaged."""
    files.read_facts(folder, FORMAT)
    index = Index(*(files.array(folder / f"{name}.npy") for name in Index._fields))
    _check(index, folder)
    return index


_TYPES = {
    name: np.dtype(kind)
    for kind, names in {
        "i8": "positions window_first pair_first block_first block_start term_ends",
        "i4": "block_window term_number",
        "u8": "term_hash",
        "u2": "block_peak texts pairs",
        "u1": "term_bytes",
        "f8": "occurrences",
        "f4": "lengths pair_tf pair_length",
    }.items()
    for name in names.split()
}


def _check(index: Index, folder: Path) -> None:
    """Refuses an index with types or sizes that the compiled loops do not expect."""
    terms, blocks = len(index.occurrences), len(index.block_window)
    fits = all(
        array.dtype == _TYPES[name] and array.ndim == 1 for name, array in index._asdict().items()
    ) and (
        len(index.positions) == len(index.lengths) == int(index.window_first[-1])
        and len(index.window_first) == len(index.pair_first)
        and len(index.pair_tf) == len(index.pair_length) == int(index.pair_first[-1])
        and len(index.block_first) == terms + 1
        and int(index.block_first[-1]) == blocks == len(index.block_peak)
        and len(index.block_start) == blocks + 1
        and int(index.block_start[-1]) == len(index.texts) == len(index.pairs)
        and len(index.term_ends) == terms + 1
        and int(index.term_ends[-1]) == len(index.term_bytes)
        and len(index.term_hash) == len(index.term_number) == terms
    )
    if not fits:
        raise files.damaged(folder)
