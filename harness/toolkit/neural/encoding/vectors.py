"""Vectors of one length for every text, in a file that is mapped into memory when it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.errors import HarnessError
from harness.store import disk
from harness.toolkit.neural.encoding import binary, int8
from harness.toolkit.neural.encoding.loop import distrust
from harness.toolkit.neural.encoding.parts import Shard, Write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import JSON, IndexPart, Ints

VECTORS, POSITIONS = "vectors.npy", "positions.npy"
_SCALES, _NEIGHBOURS = "scales.npy", "neighbours.npy"  # only beside vectors in int8
_EMPTY = 128  # bytes of an .npy file with a header alone, which cannot be mapped
ROWS = 1 << 16  # rows that `join` copies at a time
_STORED: dict[str, np.dtype[Any]] = {
    "fp32": np.dtype("<f4"), "fp16": np.dtype("<f2"), "int8": np.dtype("|i1"), "binary": np.dtype("|u1"),
}  # fmt: skip


class Vectors(NamedTuple):
    """The written vectors, mapped into memory."""

    rows: Any  # [n, d]: float32 or float16, or an `int8.Scaled` or `binary.Codes`
    positions: Ints  # int64[n], ascending: the position of each row


class _File(NamedTuple):
    """One of the files that hold the vectors of `texts` texts."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    each: int = 1  # the number of texts that share one row of the file


def _files(texts: int, dimension: int, stored: str, start: int = 0) -> list[_File]:
    """The files of `texts` texts, of which the first has the number `start`."""
    if stored == "binary" and dimension % 8:
        raise HarnessError(f"stored: binary takes numbers by eights, not {dimension}; give `dimensions` so")
    width = dimension // 8 if stored == "binary" else dimension
    files = [_File(VECTORS, (texts, width), _STORED[stored]), _File(POSITIONS, (texts,), np.dtype("<i8"))]
    if stored == "int8":
        groups = -(-(start + texts) // int8.GROUP) - start // int8.GROUP
        files.append(_File(_SCALES, (texts,), np.dtype("<f4")))
        files.append(_File(_NEIGHBOURS, (groups, 2), np.dtype("<i4"), int8.GROUP))
    return files


def writer(folder: Path, texts: int, dimension: int, stored: str = "fp32", start: int = 0) -> Write:
    """A `Write` that puts the rows of each shard at their places in the files of the vectors. If an earlier
    run left these files whole, their content is kept. fp16 loses nothing of vectors that were computed in
    bf16: it has 11 significant bits, bf16 has 8. In int8, no two shards may begin within the same
    `int8.GROUP` texts, counted from 0. `start` is the number of the first text, for a part."""
    put = _putting(folder, _files(texts, dimension, stored, start), start)

    def write(shard: Shard) -> None:
        rows = np.asarray(shard.rows, np.float32).reshape(len(shard.positions), dimension)
        arrays: dict[str, NDArray[Any]] = {POSITIONS: shard.positions}
        if stored in ("int8", "binary"):
            _refuse_strange(rows, rows, shard.positions, stored)
        if stored == "binary":
            arrays[VECTORS] = binary.packed(rows)
        elif stored == "int8":
            arrays[VECTORS], arrays[_SCALES] = int8.scaled(rows)
            read_back = int8.Scaled(arrays[VECTORS], arrays[_SCALES])[:]
            end = shard.first + len(rows)  # the next shard writes the group in which it begins
            ends = end // int8.GROUP if end < start + texts else -(-end // int8.GROUP)
            places = range(max(1, ends - shard.first // int8.GROUP))
            groups = [slice(g * int8.GROUP, (g + 1) * int8.GROUP) for g in places]
            neighbours = [int8.neighbours(rows[group], read_back[group]) for group in groups]
            arrays[_NEIGHBOURS] = np.array(neighbours, np.int32).reshape(len(groups), 2)
        else:
            with np.errstate(over="ignore"):
                arrays[VECTORS] = rows.astype(_STORED[stored])
            _refuse_strange(rows, arrays[VECTORS], shard.positions, stored)
        for name, values in arrays.items():
            put(name, shard.first, values)

    return write


def join(parts: Sequence[IndexPart], folder: Path, texts: int, stored: str) -> None:
    """Writes the files of all texts from the files of `parts`, each of which `writer` has written."""
    files = _files(texts, read(parts[0].folder).rows.shape[1], stored)
    put = _putting(folder, files)
    for part in parts:
        for file in files:
            rows = _mapped(part.folder / file.name)
            for start in range(0, len(rows), ROWS):
                put(file.name, part.start + start * file.each, rows[start : start + ROWS])


def _putting(
    folder: Path, files: Sequence[_File], begin: int = 0
) -> Callable[[str, int, NDArray[Any]], None]:
    """A function that puts values into one of the files. It takes the name of the file, the number of the
    first text, and the values. The marks of finished shards are removed unless all files are whole."""
    if not all(_fits(folder / file.name, file.shape, file.dtype) for file in files):
        distrust(folder, lambda shard: False)
    offsets = {file.name: _file(folder / file.name, file.shape, file.dtype) for file in files}
    by_name = {file.name: file for file in files}

    def put(name: str, first: int, values: NDArray[Any]) -> None:
        file = by_name[name]
        width = int(np.prod(file.shape[1:])) * file.dtype.itemsize
        row = first // file.each - begin // file.each
        _put(folder / name, offsets[name] + row * width, values.astype(file.dtype, copy=False))

    return put


def read(folder: Path) -> Vectors:
    """The vectors and positions in a folder, mapped: only what is accessed is in memory."""
    rows: Any = _mapped(folder / VECTORS)
    if rows.dtype == _STORED["int8"]:
        rows = int8.Scaled(rows, _mapped(folder / _SCALES))
    elif rows.dtype == _STORED["binary"]:
        rows = binary.Codes(rows)
    return Vectors(rows, _mapped(folder / POSITIONS))


def facts(folder: Path, stored: str) -> dict[str, JSON]:
    """The facts to report about written vectors: how they are stored, and for int8 the measured recall, which
    is the share of the nearest neighbours within each group that the stored vectors find."""
    if stored != "int8":
        return {"stored": stored}
    kept, compared = _mapped(folder / _NEIGHBOURS).sum(axis=0, dtype=np.int64).tolist()
    share = {"int8_recall": round(kept / compared, 6)} if compared else {}
    return {"stored": stored, **share, "int8_recall_at": int8.NEAREST, "int8_recall_among": int8.GROUP}


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
