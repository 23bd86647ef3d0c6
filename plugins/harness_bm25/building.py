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

from harness.plugin import Texts
from harness.toolkit.index import files
from harness.toolkit.text.analysis import Analyse, Encoded, Vocabulary
from harness_bm25 import storage
from harness_bm25.inverting import PAIRS, WINDOW, hash_terms, invert
from harness_bm25.merging import Spilled, Window, Windows

BATCH = 8192


class Stretch(NamedTuple):
    """Adjacent texts as numbered terms, ready to be inverted."""

    terms: NDArray[np.int32]  # int32[T]
    ends: NDArray[np.int64]  # int64[n]
    shares: NDArray[np.float32]  # float32[T]: the weight of each occurrence; empty if all are 1
    lengths: NDArray[np.float32]  # float32[n]


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
    with Windows(folder) as windows, ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[list[Window]]] = deque()
        for stretch in _stretches(batches, title_weight):
            waiting.append(pool.submit(_invert, stretch))
            if len(waiting) >= threads:
                _add(windows, waiting.popleft())
        while waiting:
            _add(windows, waiting.popleft())
        windows.write(len(terms()), threads)
    storage.write(folder, {"positions": np.concatenate([*positions, np.empty(0, np.int64)])})
    _write_terms(folder, terms())
    storage.finish(folder)


def _add(windows: Windows, inverted: Future[list[Window]]) -> None:
    for window in inverted.result():
        windows.add(window)


def _stretches(batches: Iterable[Encoded], title_weight: float) -> Iterator[Stretch]:
    """Yields stretches of about WINDOW texts. If titles count, their terms are added to the texts'."""
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
    """The stretch of a batch that holds titles: the second half of its rows, for the first half."""
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
    """The window of a stretch, or several windows if one has too few numbers for all pairs."""
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
        return [*_invert(_part(stretch, 0, half)), *_invert(_part(stretch, half, None))]
    postings = int(count[:blocks].sum())
    return [
        Window(  # copies, because the buffers that they were made in are much larger
            stretch.lengths,
            pair_tf[:known].copy(),
            pair_length[:known].copy(),
            total[:blocks].copy(),
            Spilled(
                term[:blocks].copy(),
                count[:blocks].copy(),
                peak[:blocks].copy(),
                texts[:postings],
                pairs[:postings],
            ),
        )
    ]


def _part(stretch: Stretch, first: int, last: int | None) -> Stretch:
    begin = int(stretch.ends[first - 1]) if first else 0
    ends = stretch.ends[first:last]
    cut = slice(begin, int(ends[-1]))
    shares = stretch.shares[cut] if len(stretch.shares) else stretch.shares
    return Stretch(stretch.terms[cut], ends - begin, shares, stretch.lengths[first:last])


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
