"""Vectors of one length for every text, in a file that is mapped into memory when it is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.store import disk
from harness.toolkit.neural.encoding.loop import distrust
from harness.toolkit.neural.encoding.parts import Shard, Write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import IndexPart, Ints

VECTORS, POSITIONS = "vectors.npy", "positions.npy"
_EMPTY = 128  # bytes of an .npy file with a header alone, which cannot be mapped
ROWS = 1 << 16  # rows that `join` copies at a time
STORED: dict[str, np.dtype[Any]] = {"fp32": np.dtype("<f4"), "fp16": np.dtype("<f2")}


class Vectors(NamedTuple):
    """The written vectors, mapped into memory."""

    rows: NDArray[Any]  # float32 or float16 [n, d]
    positions: Ints  # int64[n], ascending: the position of each row


def writer(folder: Path, texts: int, dimension: int, dtype: str = "fp32") -> Write:
    """A `Write` that puts the rows of each shard at their places in `vectors.npy` and `positions.npy`. If
    these two files of an earlier run are whole, what they hold is kept. fp16 loses nothing that bf16 had: it
    has 11 significant bits, bf16 has 8."""
    kind = STORED[dtype]
    files = ((VECTORS, (texts, dimension), kind), (POSITIONS, (texts,), np.dtype("<i8")))
    if not all(_fits(folder / name, shape, dtype) for name, shape, dtype in files):
        distrust(folder, lambda shard: False)
    vectors, positions = (_file(folder / name, shape, dtype) for name, shape, dtype in files)

    def write(shard: Shard) -> None:
        rows = np.asarray(shard.rows, np.float32).reshape(len(shard.positions), dimension)
        with np.errstate(over="ignore"):
            stored = rows.astype(kind)
        _refuse_strange(rows, stored, shard.positions, dtype)
        _put(folder / VECTORS, vectors + shard.first * dimension * kind.itemsize, stored)
        _put(folder / POSITIONS, positions + shard.first * 8, shard.positions.astype("<i8"))

    return write


def join(parts: Sequence[IndexPart], folder: Path, texts: int, dtype: str) -> None:
    """Writes the files of all texts from the files of `parts`, each of which `writer` has written."""
    dimension = read(parts[0].folder).rows.shape[1]
    write = writer(folder, texts, dimension, dtype)
    for number, part in enumerate(parts):
        rows, positions = read(part.folder)
        for start in range(0, len(rows), ROWS):
            here = slice(start, start + ROWS)
            write(Shard(number, part.start + start, positions[here], list(rows[here])))


def read(folder: Path) -> Vectors:
    """The vectors and positions in a folder, mapped: only what is accessed is in memory."""
    mapped = [_mapped(folder / name) for name in (VECTORS, POSITIONS)]
    return Vectors(mapped[0], mapped[1])


def _mapped(path: Path) -> NDArray[Any]:
    mapped: NDArray[Any] = np.load(path, mmap_mode="r" if path.stat().st_size > _EMPTY else None)
    return mapped


def _file(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Makes a file for an array of this shape unless it exists, and returns the offset of the first
    number."""
    if not _fits(path, shape, dtype):
        with disk.replacing(path) as beside, beside.open("wb") as file:
            header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            file.truncate(file.tell() + int(np.prod(shape)) * dtype.itemsize)
    return path.stat().st_size - int(np.prod(shape)) * dtype.itemsize


def _fits(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    try:
        mapped = _mapped(path)
    except (OSError, ValueError):
        return False
    return mapped.shape == shape and mapped.dtype == dtype


def _put(path: Path, offset: int, values: NDArray[Any]) -> None:
    """Writes values at an offset. They are not written through a mapping, because a full disk would then kill
    the process by a signal instead of raising an error."""
    with path.open("r+b") as file:
        data = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
        while len(data):
            written = os.pwrite(file.fileno(), data.data, offset)
            data, offset = data[written:], offset + written
        disk.fsync(file.fileno())


def _refuse_strange(rows: NDArray[Any], stored: NDArray[Any], positions: Ints, dtype: str) -> None:
    whole = np.isfinite(stored).all(axis=1)
    if whole.all():
        return
    at = int(np.argmin(whole))
    if np.isfinite(rows[at]).all():
        raise HarnessError(
            f"vectors: the one of position {positions[at]} is too large for {dtype}; store fp32"
        )
    raise HarnessError(
        f"vectors: the one of position {positions[at]} is not finite; compute in fp32, and check the model"
    )
