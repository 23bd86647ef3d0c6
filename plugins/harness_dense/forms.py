"""The forms in which vectors are stored: their first numbers, in fewer bytes, made from one encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness.plugin import JSON, Floats, HarnessError, IndexPart, Ints
from harness.toolkit.neural.encoding import binary, vectors
from harness.toolkit.neural.encoding.loop import SHARD
from harness.toolkit.neural.encoding.parts import Shard, Write
from harness.toolkit.search import exact
from harness_dense import DenseParams, hamming
from harness_dense.resolving import bytes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIECE = 16 * SHARD  # vectors written at once: each time the disk is waited for
COPY = "copy"  # the folder within an index with the vectors that score the candidates of a binary search


class Form(NamedTuple):
    """An index's vectors, mapped."""

    rows: Any  # as `vectors.Vectors.rows`
    positions: Ints
    copy: Any  # the rows that the candidates of a binary search are scored with
    candidates: int  # how many for each hit; 0: the bits in common are the score


def shaped(rows: Any, params: DenseParams) -> Floats:
    """The first `dimensions` of the vectors (float32[n, d]), of length 1 again if the model's vectors are."""
    whole: Floats = np.asarray(rows, np.float32)
    if params.dimensions is None or not whole.size:
        return whole
    if params.dimensions > whole.shape[1]:
        raise HarnessError(f"dimensions: the model's vectors have {whole.shape[1]} numbers; give no more")
    first = whole[:, : params.dimensions].copy()
    if params.normalise is True or params.similarity == "cosine":
        lengths = np.linalg.norm(first, axis=1, keepdims=True)
        first /= np.where(lengths > 0, lengths, 1)
    return first


def writer(folder: Path, texts: int, dimension: int, params: DenseParams, start: int = 0) -> Write:
    """A `Write` that puts vectors of `dimension` numbers on disk in the form of `params`. `start` is the
    number of the first text, for a part."""
    kept = params.dimensions or dimension
    writes = [vectors.writer(folder, texts, kept, params.stored, start)]
    if _copied(params):
        (folder / COPY).mkdir(exist_ok=True)
        writes.append(vectors.writer(folder / COPY, texts, kept, params.rescore_by, start))

    def write(shard: Shard) -> None:
        rows = list(shaped(np.asarray(shard.rows, np.float32).reshape(len(shard.rows), dimension), params))
        for each in writes:
            each(shard._replace(rows=rows))

    return write


def join(parts: Sequence[IndexPart], folder: Path, texts: int, params: DenseParams) -> None:
    vectors.join(parts, folder, texts, params.stored)
    if _copied(params):
        (folder / COPY).mkdir(exist_ok=True)
        copies = [part._replace(folder=part.folder / COPY) for part in parts]
        vectors.join(copies, folder / COPY, texts, params.rescore_by)


def derive(source: Path, folder: Path, params: DenseParams) -> Mapping[str, JSON]:
    """Write the vectors of the index in `source` into `folder`, in the form of `params`. Returns its
    facts."""
    rows, positions = vectors.read(source)
    write = writer(folder, len(rows), rows.shape[1], params)
    for number, start in enumerate(range(0, len(rows), PIECE)):
        piece = slice(start, start + PIECE)
        write(Shard(number, start, np.asarray(positions[piece]), rows[piece]))
    return facts(folder, params)


def facts(folder: Path, params: DenseParams) -> dict[str, JSON]:
    """The form, for the row."""
    dimension = int(vectors.read(folder).rows.shape[1])
    of_binary = {"rescore_by": params.rescore_by} if params.stored == "binary" else {}
    each = {"bytes_a_text": bytes_of(params, dimension)}
    return {"dimension": dimension, **vectors.facts(folder, params.stored), **of_binary, **each}


def read(folder: Path, params: DenseParams) -> Form:
    rows, positions = vectors.read(folder)
    copy = vectors.read(folder / COPY).rows if _copied(params) else rows
    return Form(rows, positions, copy, params.rescore if params.stored == "binary" else 0)


def search(queries: Floats, form: Form, k: int, within: Ints | None = None) -> tuple[Ints, Floats]:
    """The places and scores of the hits, as from `exact.search`. Binary codes are compared by Hamming
    distance; the nearest `candidates` for each hit are then scored: the query in fp32 by the codes' 1 and -1,
    or by the copy. Without candidates, both sides are 1 and -1."""
    if not isinstance(form.rows, binary.Codes):
        return exact.search(queries, form.rows, k, within)
    codes, rows = binary.packed(queries), form.copy
    if form.candidates == 0:
        queries, rows = binary.Codes(codes)[:], form.rows
    if within is None:
        within, _ = hamming.search(codes, form.rows.rows, k * max(1, form.candidates))
    return exact.search(queries, rows, k, within)


def floats(form: Form, rows: Ints) -> NDArray[Any]:
    """The vectors at these rows; those of binary codes have length 1."""
    chosen: NDArray[Any] = form.copy[rows]
    if isinstance(form.copy, binary.Codes):
        chosen /= np.sqrt(np.float32(chosen.shape[1]))
    return chosen


def _copied(params: DenseParams) -> bool:
    return params.stored == "binary" and params.rescore_by != "binary"
