"""Builds an index in bounded memory: threads invert windows of texts; then the windows are merged by term."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.contracts import Texts
from harness.toolkit.index import files
from harness.toolkit.text.analysis import Analyse, Encoded, Vocabulary
from harness_bm25 import storage
from harness_bm25.inverting import PAIRS, WINDOW, hash_terms, invert, place

BATCH = 8192


class Stretch(NamedTuple):
    """Adjacent texts as numbered terms, ready to be inverted."""

    terms: NDArray[np.int32]  # int32[T]
    ends: NDArray[np.int64]  # int64[n]
    shares: NDArray[np.float32]  # float32[T]: the weight of each occurrence; empty if all are 1
    lengths: NDArray[np.float32]  # float32[n]


class Window(NamedTuple):
    """The postings of one window of texts, sorted by term and then by text."""

    lengths: NDArray[np.float32]
    block_term: NDArray[np.int32]
    block_count: NDArray[np.int32]
    block_sum: NDArray[np.float64]
    block_peak: NDArray[np.uint16]
    pair_tf: NDArray[np.float32]
    pair_length: NDArray[np.float32]
    texts: NDArray[np.uint16]
    pairs: NDArray[np.uint16]


def build(texts: Texts, folder: Path, analyse: Analyse, title_weight: float, threads: int) -> None:
    """Writes the index of all texts into `folder`."""
    vocabulary, positions = Vocabulary(analyse), list[NDArray[np.int64]]()
    batches = vocabulary.encode(rows(texts, title_weight > 0, positions), threads)
    write(folder, batches, lambda: vocabulary.terms, positions, title_weight, threads)


def rows(
    texts: Texts, titles: bool, positions: list[NDArray[np.int64]], start: int = 0, stop: int | None = None
) -> Iterator[list[str]]:
    """Yields batches of texts, each followed by the titles of these texts if `titles` is true. The positions
    of the texts are appended to `positions`."""
    for batch in texts.batches(BATCH, start, stop):
        positions.append(batch.positions.astype(np.int64))
        yield [*batch.texts, *batch.titles] if titles else batch.texts


def write(
    folder: Path, batches: Iterable[Encoded], terms: Callable[[], list[str]],
    positions: list[NDArray[np.int64]], title_weight: float, threads: int,
) -> None:  # fmt: skip
    """Writes the index of texts that are given as numbered terms. `terms` returns the terms, and `positions`
    holds the positions of the texts, once all batches have been read."""
    files.begin(folder)
    windows: list[Window] = []
    with Spill(folder) as spill, ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[list[Window]]] = deque()
        for stretch in _stretches(batches, title_weight):
            waiting.append(pool.submit(_invert, stretch))
            if len(waiting) >= threads:
                windows += map(spill.keep, waiting.popleft().result())
        while waiting:
            windows += map(spill.keep, waiting.popleft().result())
        _merge(folder, windows, spill, len(terms()), pool)
    storage.write(folder, {"positions": np.concatenate([*positions, np.empty(0, np.int64)])})
    _write_terms(folder, terms())
    storage.finish(folder)


def _stretches(batches: Iterable[Encoded], title_weight: float) -> Iterator[Stretch]:
    """Yields stretches of about WINDOW texts. If titles count, their terms are added to those of the
    texts."""
    parts: list[Stretch] = []
    for encoded in batches:
        parts.append(_with_titles(encoded, title_weight) if title_weight else _plain(encoded))
        if sum(len(part.ends) for part in parts) >= WINDOW:
            yield _joined(parts)
            parts = []
    if parts:
        yield _joined(parts)


def _plain(encoded: Encoded) -> Stretch:
    lengths = np.diff(encoded.ends, prepend=0).astype(np.float32)
    return Stretch(encoded.terms, encoded.ends, np.empty(0, np.float32), lengths)


def _with_titles(encoded: Encoded, weight: float) -> Stretch:
    """The stretch of a batch that holds titles: the second half of its rows are the titles of the first
    half."""
    n = len(encoded.ends) // 2
    counts = np.diff(encoded.ends, prepend=0)
    owner = np.repeat(np.tile(np.arange(n), 2), counts)
    shares = np.repeat(np.repeat(np.array([1, weight], np.float32), n), counts)
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(counts[:n] + counts[n:])
    lengths = (counts[:n] + weight * counts[n:]).astype(np.float32)
    return Stretch(encoded.terms[order], ends, shares[order], lengths)


def _joined(parts: list[Stretch]) -> Stretch:
    offsets = np.cumsum([0, *(len(part.terms) for part in parts)])
    ends = np.concatenate([part.ends + offset for part, offset in zip(parts, offsets, strict=False)])
    terms = np.concatenate([part.terms for part in parts])
    shares = np.concatenate([part.shares for part in parts])
    return Stretch(terms, ends, shares, np.concatenate([part.lengths for part in parts]))


def _invert(stretch: Stretch) -> list[Window]:
    """The window of a stretch, or several windows if one has too few numbers for the pairs of frequency and
    length."""
    size, vocabulary = len(stretch.terms), int(stretch.terms.max(initial=-1)) + 1
    texts, pairs, tf = np.empty(size, np.uint16), np.empty(size, np.uint16), np.empty(size, np.float32)
    starts, cursors = np.zeros(vocabulary + 1, np.int32), np.empty(vocabulary, np.int32)
    term, count, total = np.empty(vocabulary, np.int32), np.empty(vocabulary, np.int32), np.empty(vocabulary)
    peak = np.empty(vocabulary, np.uint16)
    pair_tf, pair_length = np.empty(PAIRS, np.float32), np.empty(PAIRS, np.float32)
    slots = np.full(4 * PAIRS, -1, np.int32)
    room: tuple[Any, ...] = (
        starts,
        cursors,
        texts,
        tf,
        pairs,
        slots,
        term,
        count,
        total,
        peak,
        pair_tf,
        pair_length,
    )
    blocks, known = invert(*stretch, *room)
    if blocks < 0:
        half = len(stretch.ends) // 2
        return [
            *_invert(_part(stretch, 0, half)),
            *_invert(_part(stretch, half, None)),
        ]
    postings = int(count[:blocks].sum())
    return [
        Window(  # copies, because the buffers that they were made in are much larger
            stretch.lengths,
            term[:blocks].copy(),
            count[:blocks].copy(),
            total[:blocks].copy(),
            peak[:blocks].copy(),
            pair_tf[:known].copy(),
            pair_length[:known].copy(),
            texts[:postings],
            pairs[:postings],
        )
    ]


def _part(stretch: Stretch, first: int, last: int | None) -> Stretch:
    begin = int(stretch.ends[first - 1]) if first else 0
    ends = stretch.ends[first:last]
    cut = slice(begin, int(ends[-1]))
    shares = stretch.shares[cut] if len(stretch.shares) else stretch.shares
    return Stretch(stretch.terms[cut], ends - begin, shares, stretch.lengths[first:last])


class Spill:
    """Two files that hold the postings of windows until all windows are known."""

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / "texts.spill", folder / "pairs.spill"]
        self._postings = 0

    def __enter__(self) -> Spill:
        self._files = [path.open("wb") for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()
        for path in self._paths:
            path.unlink(missing_ok=True)

    def keep(self, window: Window) -> Window:
        """Writes the postings of a window to disk, and returns the window without them."""
        for file, array in zip(self._files, (window.texts, window.pairs), strict=True):
            array.tofile(file)
        self._postings += len(window.texts)
        empty = np.empty(0, np.uint16)
        return window._replace(texts=empty, pairs=empty)

    def arrays(self) -> list[NDArray[np.uint16]]:
        for file in self._files:
            file.flush()
        if not self._postings:
            return [np.empty(0, np.uint16)] * 2
        return [np.memmap(path, np.uint16, mode="r") for path in self._paths]


def _merge(folder: Path, windows: list[Window], spill: Spill, terms: int, pool: ThreadPoolExecutor) -> None:
    """Writes the index from all windows: the blocks of each term are put side by side, in the order of
    windows."""
    block_first = np.zeros(terms + 1, np.int64)
    occurrences = np.zeros(terms, np.float64)
    for window in windows:
        block_first[window.block_term + 1] += 1  # a term has at most one block in a window
        occurrences[window.block_term] += window.block_sum
    np.cumsum(block_first, out=block_first)
    cursor = block_first[:-1].copy()
    block_window = np.empty(block_first[-1], np.int32)
    block_peak = np.empty(block_first[-1], np.uint16)
    block_start = np.zeros(block_first[-1] + 1, np.int64)
    places = []
    for number, window in enumerate(windows):
        blocks = cursor[window.block_term]
        cursor[window.block_term] += 1
        block_window[blocks] = number
        block_peak[blocks] = window.block_peak
        block_start[blocks + 1] = window.block_count
        places.append(blocks)
    np.cumsum(block_start, out=block_start)
    targets = [storage.create(folder, name, int(block_start[-1])) for name in ("texts", "pairs")]
    sources = spill.arrays()
    offset, jobs = 0, []
    for window, blocks in zip(windows, places, strict=True):
        starts = np.concatenate([[0], np.cumsum(window.block_count, dtype=np.int64)])
        cut = slice(offset, offset + int(starts[-1]))
        jobs.append(
            pool.submit(place, sources[0][cut], sources[1][cut], starts, block_start[blocks], *targets)
        )
        offset = cut.stop
    for job in jobs:
        job.result()
    nothing = [np.empty(0, np.float32)]
    storage.write(folder, {
        "lengths": np.concatenate([*(window.lengths for window in windows), *nothing]),
        "window_first": np.cumsum([0, *(len(window.lengths) for window in windows)], dtype=np.int64),
        "pair_first": np.cumsum([0, *(len(window.pair_tf) for window in windows)], dtype=np.int64),
        "pair_tf": np.concatenate([*(window.pair_tf for window in windows), *nothing]),
        "pair_length": np.concatenate([*(window.pair_length for window in windows), *nothing]),
        "block_first": block_first,
        "block_window": block_window,
        "block_start": block_start,
            "block_peak": block_peak,
        "occurrences": occurrences,
    })  # fmt: skip


def _write_terms(folder: Path, terms: list[str]) -> None:
    """Writes all terms and their sorted hashes, so that opening an index need not read the terms."""
    encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    data = np.frombuffer(b"".join(encoded), np.uint8)
    hashes = np.empty(len(terms), np.uint64)
    hash_terms(data, ends, hashes)
    order = np.argsort(hashes, kind="stable")
    arrays: dict[str, NDArray[Any]] = {
        "term_bytes": data,
        "term_ends": ends,
        "term_hash": hashes[order],
        "term_number": order.astype(np.int32),
    }
    storage.write(folder, arrays)


def cores() -> int:
    """The number of cores that this process may use; results do not depend on it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
