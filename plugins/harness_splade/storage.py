"""Writes and reads the files of an impact index: encoded shards, and the postings made from them."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import JSON, HarnessError, Ints
from harness.toolkit.files.writing import replace_file
from harness.toolkit.index import files
from harness.toolkit.neural.encoding.loop import MARKS, distrust
from harness.toolkit.neural.encoding.parts import Shard, Write
from harness_splade import kernels

FORMAT, SHARDS = files.Format("harness-splade", 2), "encoded"
ARRAYS = ("positions", "first", "starts", "peaks")


class Row(NamedTuple):
    """An encoded text: its terms, ascending, and their weights."""

    terms: NDArray[np.int32]  # int32[t]
    weights: NDArray[np.float32]  # float32[t], above 0


class Index(NamedTuple):
    positions: Ints  # int64[N], ascending: text -> position in the corpus
    postings: kernels.Postings
    quantise: int | None  # impacts are weights times this number, rounded; None: impacts are weights


def writer(folder: Path, quantise: int | None) -> Write:
    """A function that writes a shard into a file. The file is whole or absent, even if the run is killed."""
    (folder / SHARDS).mkdir(exist_ok=True)
    distrust(folder / SHARDS, lambda number: _whole(_shard(folder, number)))

    def write(shard: Shard) -> None:
        rows: Sequence[Row] = shard.rows
        terms = np.concatenate([*(row.terms for row in rows), np.empty(0, np.int32)])
        weights = np.concatenate([*(row.weights for row in rows), np.empty(0, np.float32)])
        counts = np.array([len(row.terms) for row in rows], np.int64)
        if quantise is not None:
            terms, weights, counts = _rounded(terms, weights, counts, quantise)
        file = io.BytesIO()
        np.savez(
            file, positions=shard.positions, counts=counts, terms=terms.astype(np.int32), impacts=weights
        )
        replace_file(_shard(folder, shard.number), file.getvalue())

    return write


def _whole(path: Path) -> bool:
    """Whether the file of a shard is complete. A cut file lacks the table of contents, its end."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return set(file.files) == set(_Window._fields)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return False


def _rounded(
    terms: NDArray[np.int32], weights: NDArray[np.float32], counts: Ints, quantise: int
) -> tuple[NDArray[np.int32], NDArray[np.uint16], Ints]:
    """The terms, whole-numbered impacts and counts of texts. Impacts that round to 0 are left out."""
    rounded = np.rint(weights * np.float32(quantise))
    if rounded.max(initial=0) > np.iinfo(np.uint16).max:
        raise HarnessError(f"quantise: {quantise} makes impacts that are too large to store; give less")
    kept = rounded > 0
    owner = np.repeat(np.arange(len(counts)), counts)
    return terms[kept], rounded[kept].astype(np.uint16), np.bincount(owner[kept], minlength=len(counts))


def finish(folder: Path, vocabulary: int, quantise: int | None) -> int:
    """Write the postings of all shards, and return their number. Memory holds one window of texts."""
    files.begin(folder)
    positions, first, starts, peaks = [np.empty(0, np.int64)], [0], [], []
    total = 0
    with (folder / "texts.bin").open("wb") as text_file, (folder / "impacts.bin").open("wb") as impact_file:
        for window in _windows(folder):
            begins, most = np.zeros(vocabulary + 1, np.int64), np.zeros(vocabulary, np.float32)
            places, impacts = np.empty(len(window.terms), np.uint16), np.empty_like(window.impacts)
            ends = np.cumsum(window.counts, dtype=np.int64)
            kernels.invert(ends, window.terms, window.impacts, begins, most, places, impacts)
            places.tofile(text_file)
            impacts.tofile(impact_file)
            positions.append(window.positions)
            first.append(first[-1] + len(ends))
            starts.append(begins + total)
            peaks.append(most)
            total += len(places)
    arrays: dict[str, NDArray[Any]] = {
        "positions": np.concatenate(positions),
        "first": np.array(first, np.int64),
        "starts": np.array(starts, np.int64).reshape(len(starts), vocabulary + 1),
        "peaks": np.array(peaks, np.float32).reshape(len(peaks), vocabulary),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    facts: dict[str, JSON] = {"quantise": quantise, "postings": total, "vocabulary": vocabulary}
    names = ["texts.bin", "impacts.bin", *(f"{name}.npy" for name in ARRAYS)]
    files.finish(folder, FORMAT, names, facts)
    shutil.rmtree(folder / SHARDS / MARKS)  # removed first, because a mark without its shard would be trusted
    shutil.rmtree(folder / SHARDS)
    return total


class _Window(NamedTuple):
    positions: Ints
    counts: Ints
    terms: NDArray[np.int32]
    impacts: NDArray[Any]  # float32 or uint16


def _windows(folder: Path) -> Iterator[_Window]:
    """The windows, each of several whole shards joined together."""
    parts: list[_Window] = []
    for path in sorted((folder / SHARDS).glob("[0-9]*.npz")):
        with np.load(path, allow_pickle=False) as file:
            part = _Window(*(file[name] for name in _Window._fields))
        if parts and sum(len(item.counts) for item in parts) + len(part.counts) > kernels.WINDOW:
            yield _Window(*map(np.concatenate, zip(*parts, strict=True)))
            parts = []
        parts.append(part)
    if parts:
        yield _Window(*map(np.concatenate, zip(*parts, strict=True)))


def read(folder: Path) -> Index:
    """The index in a folder, mapped into memory. Raises HarnessError if it is damaged."""
    facts = files.read_facts(folder, FORMAT)
    positions, first, starts, peaks = (files.array(folder / f"{name}.npy") for name in ARRAYS)
    impact = np.dtype(np.float32 if facts["quantise"] is None else np.uint16)
    texts = files.raw(folder / "texts.bin", np.dtype(np.uint16), (facts["postings"],))
    impacts = files.raw(folder / "impacts.bin", impact, (facts["postings"],))
    fits = (
        len(positions) == first[-1]
        and starts.shape == (len(first) - 1, facts["vocabulary"] + 1)
        and peaks.shape == (len(first) - 1, facts["vocabulary"])
    )
    if not fits:
        raise files.damaged(folder)
    return Index(positions, kernels.Postings(first, starts, peaks, texts, impacts), facts["quantise"])


def _shard(folder: Path, number: int) -> Path:
    return folder / SHARDS / f"{number:06}.npz"
