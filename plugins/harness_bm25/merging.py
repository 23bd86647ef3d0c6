"""Merges windows by term. Their blocks and postings wait on disk, so that memory does not grow with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness_bm25 import storage
from harness_bm25.inverting import place


class Spilled(NamedTuple):
    """What waits on disk: the blocks and postings of one window, or of all windows one after another."""

    block_term: NDArray[np.int32]
    block_count: NDArray[np.int32]
    block_peak: NDArray[np.uint16]
    texts: NDArray[np.uint16]
    pairs: NDArray[np.uint16]


class Window(NamedTuple):
    """The postings of one window of texts, sorted by term and then by text."""

    lengths: NDArray[np.float32]
    pair_tf: NDArray[np.float32]
    pair_length: NDArray[np.float32]
    block_sum: NDArray[np.float64]
    spilled: Spilled


_TYPES = (np.int32, np.int32, np.uint16, np.uint16, np.uint16)  # of the fields of Spilled


class Windows:
    """All windows of an index in order, kept in files in `folder` until `write`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = [folder / f"{name}.spill" for name in Spilled._fields]
        self._sizes: list[tuple[int, int]] = []  # of each window: how many blocks and postings it has
        nothing = np.empty(0, np.float32)  # goes before the first window, so that sums of lengths begin at 0
        self._lengths, self._pair_tf, self._pair_length = [nothing], [nothing], [nothing]
        self._blocks = np.zeros(0, np.int64)  # int64[V]: how many blocks each term has
        self._occurrences = np.zeros(0, np.float64)  # float64[V]

    def __enter__(self) -> Windows:
        self._files = [path.open("wb") for path in self._paths]
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()
        for path in self._paths:
            path.unlink(missing_ok=True)

    def add(self, window: Window) -> None:
        arrays: tuple[NDArray[Any], ...] = window.spilled
        for file, array in zip(self._files, arrays, strict=True):
            array.tofile(file)
        terms = window.spilled.block_term
        self._make_room(int(terms.max(initial=-1)) + 1)
        self._blocks[terms] += 1  # a term has at most one block in a window
        self._occurrences[terms] += window.block_sum
        self._sizes.append((len(terms), len(window.spilled.texts)))
        self._lengths.append(window.lengths)
        self._pair_tf.append(window.pair_tf)
        self._pair_length.append(window.pair_length)

    def _make_room(self, terms: int) -> None:
        """Makes room for the sums of so many terms."""
        more = max(terms - len(self._blocks), 0)
        self._blocks = np.pad(self._blocks, (0, more))
        self._occurrences = np.pad(self._occurrences, (0, more))

    def write(self, terms: int, threads: int) -> None:
        """Writes the index of all windows, which has so many terms: the blocks of each term are put side by
        side, in the order of windows."""
        self._make_room(terms)
        block_first = np.concatenate([[0], np.cumsum(self._blocks)])
        blocks, postings = int(block_first[-1]), sum(postings for _, postings in self._sizes)
        block_window = storage.create(self._folder, "block_window", np.int32, blocks)
        block_peak = storage.create(self._folder, "block_peak", np.uint16, blocks)
        block_start = storage.create(self._folder, "block_start", np.int64, blocks + 1)
        for number, (window, targets) in enumerate(self._placed(block_first)):
            block_window[targets] = number
            block_peak[targets] = window.block_peak
            block_start[targets + 1] = window.block_count
        np.cumsum(block_start, out=block_start)
        texts = storage.create(self._folder, "texts", np.uint16, postings)
        pairs = storage.create(self._folder, "pairs", np.uint16, postings)
        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[None]] = deque()
            for window, targets in self._placed(block_first):
                starts = np.concatenate([[0], np.cumsum(window.block_count, dtype=np.int64)])
                where = block_start[targets]
                waiting.append(pool.submit(place, window.texts, window.pairs, starts, where, texts, pairs))
                if len(waiting) > threads:
                    waiting.popleft().result()
            for job in waiting:
                job.result()
        storage.write(self._folder, {
            "lengths": np.concatenate(self._lengths),
            "window_first": np.cumsum([len(lengths) for lengths in self._lengths], dtype=np.int64),
            "pair_first": np.cumsum([len(pair_tf) for pair_tf in self._pair_tf], dtype=np.int64),
            "pair_tf": np.concatenate(self._pair_tf),
            "pair_length": np.concatenate(self._pair_length),
            "block_first": block_first,
            "occurrences": self._occurrences,
        })  # fmt: skip

    def _placed(self, block_first: NDArray[np.int64]) -> Iterator[tuple[Spilled, NDArray[np.int64]]]:
        """Yields what is on disk of each window, with the place of each of its blocks in the index."""
        for file in self._files:
            file.flush()
        if not block_first[-1]:  # empty files cannot be mapped
            return
        mapped = [np.memmap(path, kind, "r") for path, kind in zip(self._paths, _TYPES, strict=True)]
        next_block, block, posting = block_first[:-1].copy(), 0, 0
        for block_count, posting_count in self._sizes:
            blocks, postings = slice(block, block + block_count), slice(posting, posting + posting_count)
            block, posting = blocks.stop, postings.stop
            cuts = [blocks] * 3 + [postings] * 2
            window = Spilled(*(array[cut] for array, cut in zip(mapped, cuts, strict=True)))
            targets = next_block[window.block_term]
            next_block[window.block_term] += 1
            yield window, targets
