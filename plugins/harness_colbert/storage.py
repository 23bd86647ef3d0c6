"""The vectors of all passages on disk: one file for each shard of texts, memory-mapped by searches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Ints
from harness.toolkit.files.writing import replacing
from harness.toolkit.index import files
from harness.toolkit.neural.encoding.loop import distrust
from harness.toolkit.neural.encoding.parts import Shard, Write

FORMAT = files.Format("harness-colbert", 2)
SHARD = 4096  # texts of a shard


class Part(NamedTuple):
    """The vectors of a range of texts."""

    bounds: Ints  # int64[n + 1]: text i has the vectors bounds[i] to bounds[i + 1] - 1
    vectors: NDArray[Any]  # float16 or float32 [t, dimension], mapped


class Index(NamedTuple):
    positions: Ints  # int64[N], ascending: text -> position in the corpus
    first: Ints  # int64[parts + 1]: the first text of each part
    parts: Sequence[Part]
    dimension: int


def writer(folder: Path, dimension: int, stored: np.dtype[Any]) -> Write:
    """A `Write` that puts each shard into two files. Complete files of an earlier run are kept."""
    row = dimension * stored.itemsize
    distrust(folder, lambda number: _whole(folder, number, row))

    def write(shard: Shard) -> None:
        matrices: Sequence[NDArray[Any]] = shard.rows
        with replacing(_vectors(folder, shard.number)) as path, path.open("wb") as file:
            for matrix in matrices:
                matrix.tofile(file)
        counts = np.array([len(matrix) for matrix in matrices], np.int64)
        with replacing(_texts(folder, shard.number)) as path:
            np.save(path, np.stack([shard.positions, counts]))

    return write


def _whole(folder: Path, number: int, row: int) -> bool:
    """Whether a shard's file holds as many vectors (of `row` bytes each) as the shard's texts state."""
    try:
        counted = int(np.load(_texts(folder, number))[1].sum())
        return _vectors(folder, number).stat().st_size == counted * row
    except (OSError, ValueError, EOFError):
        return False


def finish(folder: Path, dimension: int, stored: np.dtype[Any]) -> int:
    """Writes the header, which comes last, and returns the number of vectors."""
    counted = sorted(folder.glob("[0-9]*.texts.npy"))
    names = [path.name for path in [*counted, *sorted(folder.glob("[0-9]*.vectors.bin"))]]
    files.finish(
        folder, FORMAT, names, {"dimension": dimension, "stored": stored.name, "parts": len(counted)}
    )
    return sum(int(np.load(path)[1].sum()) for path in counted)


def finish_empty(folder: Path) -> None:
    """Writes the header of an index that stores no vectors."""
    files.finish(folder, FORMAT, [], {"stored": "none"})


def read(folder: Path) -> Index:
    """The index in a folder, mapped into memory. Raises HarnessError if it is unfinished or damaged."""
    facts = files.read_facts(folder, FORMAT)
    dimension, stored = facts["dimension"], np.dtype(facts["stored"])
    texts = [files.array(_texts(folder, number)) for number in range(facts["parts"])]  # int64[2, n] each
    parts = []
    for number, (_, counts) in enumerate(texts):
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        vectors = files.raw(_vectors(folder, number), stored, (int(bounds[-1]), dimension))
        parts.append(Part(bounds, vectors))
    first = np.cumsum([0, *(counts.shape[1] for counts in texts)], dtype=np.int64)
    positions = np.concatenate([*(both[0] for both in texts), np.empty(0, np.int64)])
    return Index(positions, first, parts, dimension)


def _vectors(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.vectors.bin"


def _texts(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.texts.npy"
