"""Writes and reads the index: every text as term numbers, the places of each term, and the sorted terms."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Texts
from harness.toolkit.index import files
from harness.toolkit.text.analysis import Analyse, Vocabulary
from harness_sdm import kernels

FORMAT = files.Format("harness-sdm", 1)
BATCH = 4096
THREADS = 2  # threads that analyse texts; any number gives the same index
DTYPES: dict[str, np.dtype[Any]] = {
    "tokens": np.dtype(np.int32),  # [T]: all texts, one after the other
    "bounds": np.dtype(np.int64),  # [n + 1]: text i has the tokens bounds[i] to bounds[i + 1] - 1
    "positions": np.dtype(np.int64),  # [n]: ascending, the position of each text
    "starts": np.dtype(np.int64),  # [V + 1]: term t occurs starts[t + 1] - starts[t] times
    "occurrences": np.dtype(np.uint32),  # [T]: the places in `tokens` of each term, ascending, term by term
    "letters": np.dtype(np.uint8),  # the terms in order of their UTF-8 bytes, one after the other
    "ends": np.dtype(np.int64),  # [V]: the end of each term in `letters`
    "numbers": np.dtype(np.int32),  # [V]: the number of each term in `letters`
}


class Index(NamedTuple):
    """The files of an index as arrays, mapped into memory. DTYPES describes each."""

    tokens: NDArray[np.int32]
    bounds: NDArray[np.int64]
    positions: NDArray[np.int64]
    starts: NDArray[np.int64]
    occurrences: NDArray[np.uint32]
    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int32]


def build(texts: Texts, folder: Path, analyse: Analyse) -> None:
    """Write the index of `texts`, and overwrite the folder's files. Memory holds the vocabulary and 16 bytes
    per text. Tokens are written to disk at once."""
    files.begin(folder)
    vocabulary = Vocabulary(analyse)
    positions: list[NDArray[np.int64]] = []
    lengths: list[NDArray[np.int64]] = []
    occurring = np.zeros(0, np.int64)

    def rows() -> Iterator[list[str]]:
        for batch in texts.batches(BATCH):
            positions.append(batch.positions.astype(np.int64))
            yield batch.texts

    with _path(folder, "tokens").open("wb") as file:
        for encoded in vocabulary.encode(rows(), THREADS):
            encoded.terms.astype(np.int32).tofile(file)
            lengths.append(np.diff(encoded.ends, prepend=0))
            counts = np.bincount(encoded.terms, minlength=len(occurring))
            counts[: len(occurring)] += occurring
            occurring = counts
    _write(folder, "positions", np.concatenate([np.empty(0, np.int64), *positions]))
    _write(folder, "bounds", _sums(np.concatenate([np.empty(0, np.int64), *lengths])))
    starts = _sums(occurring)
    _write(folder, "starts", starts)
    _write_occurrences(folder, starts)
    _write_terms(folder, vocabulary.terms)
    files.finish(folder, FORMAT, [_path(folder, name).name for name in Index._fields])


def _write_occurrences(folder: Path, starts: NDArray[np.int64]) -> None:
    tokens = _read(folder, "tokens")
    if len(tokens) > np.iinfo(np.uint32).max:
        raise OverflowError(f"{len(tokens)} tokens are more than this index can number")
    with _path(folder, "occurrences").open("wb") as file:
        file.truncate(4 * len(tokens))
    if len(tokens):
        occurrences = np.memmap(_path(folder, "occurrences"), np.uint32, mode="r+")
        kernels.place(tokens, starts, np.asarray(occurrences))
        occurrences.flush()


def _write_terms(folder: Path, terms: Sequence[str]) -> None:
    encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
    numbers = np.array(sorted(range(len(encoded)), key=encoded.__getitem__), np.int32)
    _path(folder, "letters").write_bytes(b"".join(encoded[number] for number in numbers.tolist()))
    _write(folder, "ends", np.cumsum([len(encoded[n]) for n in numbers.tolist()], dtype=np.int64))
    _write(folder, "numbers", numbers)


def load(folder: Path) -> Index:
    """The index in a folder, mapped into memory. Raises HarnessError if it is damaged."""
    files.read_facts(folder, FORMAT)
    index = Index(*(_read(folder, name) for name in Index._fields))
    fits = (
        len(index.bounds) == len(index.positions) + 1
        and int(index.bounds[-1]) == int(index.starts[-1]) == len(index.tokens) == len(index.occurrences)
        and len(index.ends) == len(index.numbers) == len(index.starts) - 1
        and int(index.ends[-1] if len(index.ends) else 0) == len(index.letters)
    )
    if not fits:
        raise files.damaged(folder)
    return index


def number(index: Index, term: str) -> int:
    """The number of a term, or -1 if no text has it, by binary search in the mapped file."""
    wanted = term.encode("utf-8", "surrogatepass")
    place = bisect.bisect_left(range(len(index.ends)), wanted, key=lambda i: _term(index, i))
    known = place < len(index.ends) and _term(index, place) == wanted
    return int(index.numbers[place]) if known else -1


def _term(index: Index, place: int) -> bytes:
    start = index.ends[place - 1] if place else 0
    return index.letters[start : index.ends[place]].tobytes()


def _sums(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _write(folder: Path, name: str, array: NDArray[Any]) -> None:
    array.astype(DTYPES[name]).tofile(_path(folder, name))


def _read(folder: Path, name: str) -> NDArray[Any]:
    path, dtype = _path(folder, name), DTYPES[name]
    return files.raw(path, dtype, (path.stat().st_size // dtype.itemsize,))


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.{DTYPES[name].name}"
