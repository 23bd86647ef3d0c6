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
from harness_colbert.codec import BITS, Codec, Compressed

FORMAT = files.Format("harness-colbert", 3)
TYPES: dict[str, np.dtype[Any]] = {"fp16": np.dtype(np.float16), "fp32": np.dtype(np.float32)}
SHARD = 4096  # texts of a shard
CODEC = "codec.npz"


class Part(NamedTuple):
    """The vectors of a range of texts."""

    bounds: Ints  # int64[n + 1]: text i has the vectors bounds[i] to bounds[i + 1] - 1
    vectors: Any  # [t, dimension]: float16 or float32, mapped; or `Compressed`


class Index(NamedTuple):
    positions: Ints  # int64[N], ascending: text -> position in the corpus
    first: Ints  # int64[parts + 1]: the first text of each part
    parts: Sequence[Part]
    dimension: int
    codec: Codec | None = None  # of compressed vectors


def encoded_as(stored: str) -> str:
    """The type in which vectors come from the model. Compression begins with fp16."""
    return "fp16" if stored in BITS else stored


def writer(folder: Path, dimension: int, stored: str) -> Write:
    """A `Write` that puts each shard into two files. Complete files of an earlier run are kept, compressed or
    not."""
    size, known = dimension * TYPES[encoded_as(stored)].itemsize, codec(folder)
    distrust(
        folder,
        lambda number: (
            whole(folder, number, size) or (known is not None and whole(folder, number, known.width, "rows"))
        ),
    )

    def write(shard: Shard) -> None:
        matrices: Sequence[NDArray[Any]] = shard.rows
        with replacing(path_of(folder, shard.number)) as path, path.open("wb") as file:
            for matrix in matrices:
                matrix.tofile(file)
        counts = np.array([len(matrix) for matrix in matrices], np.int64)
        with replacing(_texts(folder, shard.number)) as path:
            np.save(path, np.stack([shard.positions, counts]))

    return write


def whole(folder: Path, number: int, size: int, kind: str = "vectors") -> bool:
    """Whether a shard's file holds as many vectors (of `size` bytes each) as the shard's texts state."""
    try:
        counted = int(np.load(_texts(folder, number))[1].sum())
        return path_of(folder, number, kind).stat().st_size == counted * size
    except (OSError, ValueError, EOFError):
        return False


def finish(folder: Path, dimension: int, stored: str) -> tuple[int, int]:
    """Writes the header, which comes last. Returns the number of vectors and the bytes of all files."""
    counted = sorted(folder.glob("[0-9]*.texts.npy"))
    kept = [*counted, *sorted(folder.glob("[0-9]*.bin")), *folder.glob(CODEC)]
    facts = {"dimension": dimension, "stored": stored, "parts": len(counted)}
    files.finish(folder, FORMAT, [path.name for path in kept], facts)
    vectors = sum(int(np.load(path)[1].sum()) for path in counted)
    return vectors, sum(path.stat().st_size for path in kept)


def finish_empty(folder: Path) -> None:
    """Writes the header of an index that stores no vectors."""
    files.finish(folder, FORMAT, [], {"stored": "none"})


def read(folder: Path) -> Index:
    """The index in a folder, mapped into memory. Raises HarnessError if it is unfinished or damaged."""
    facts = files.read_facts(folder, FORMAT)
    known = codec(folder) if facts["stored"] in BITS else None
    return read_parts(folder, facts["parts"], facts["dimension"], facts["stored"], known)


def read_parts(folder: Path, count: int, dimension: int, stored: str, known: Codec | None = None) -> Index:
    """The index of `count` shards, which may have no header yet."""
    texts = [files.array(_texts(folder, number)) for number in range(count)]  # int64[2, n] each
    parts = []
    for number, (_, counts) in enumerate(texts):
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        if known is None:
            shape = (int(bounds[-1]), dimension)
            parts.append(Part(bounds, files.raw(path_of(folder, number), TYPES[stored], shape)))
        else:
            path, shape = path_of(folder, number, "rows"), (int(bounds[-1]), known.width)
            parts.append(Part(bounds, Compressed(known, files.raw(path, np.dtype(np.uint8), shape))))
    first = np.cumsum([0, *(counts.shape[1] for counts in texts)], dtype=np.int64)
    positions = np.concatenate([*(both[0] for both in texts), np.empty(0, np.int64)])
    return Index(positions, first, parts, dimension, known)


def codec(folder: Path) -> Codec | None:
    """The codec in a folder, if there is one."""
    path = folder / CODEC
    if not path.exists():
        return None
    with np.load(path) as arrays:
        return Codec(*(arrays[name].astype(np.float32) for name in Codec._fields))


def write_codec(folder: Path, known: Codec) -> None:
    """Writes a codec. Its centroids have the precision of fp16."""
    arrays = {**known._asdict(), "centroids": known.centroids.astype(np.float16)}
    with replacing(folder / CODEC) as path, path.open("wb") as file:
        np.savez(file, **arrays)


def path_of(folder: Path, number: int, kind: str = "vectors") -> Path:
    """The file of a shard's vectors, or of their compressed rows."""
    return folder / f"{number:06}.{kind}.bin"


def _texts(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.texts.npy"
