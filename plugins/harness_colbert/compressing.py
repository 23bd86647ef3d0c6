"""Compresses the vectors of an index: learns centroids and buckets, then goes shard by shard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Floats
from harness.toolkit.files.writing import replacing
from harness.toolkit.index import files
from harness_colbert import clusters, kernels, storage
from harness_colbert.codec import Codec
from harness_colbert.storage import Index

SEED = 0
HELD_OUT = 50_000  # vectors from which buckets are learnt, and at most a twentieth of all


def compress(folder: Path, dimension: int, bits: int, device: str) -> None:
    """Replaces the fp16 vectors of all shards in `folder` by rows of a codec. A killed run continues with its
    first unfinished shard. The rows depend neither on who encoded the vectors nor on the number of
    threads."""
    count = len(list(folder.glob("[0-9]*.texts.npy")))
    codec = storage.codec(folder)
    if codec is None:
        codec = learnt(storage.read_parts(folder, count, dimension, "fp16"), bits, device)
        storage.write_codec(folder, codec)
    for number in range(count):
        vectors = storage.path_of(folder, number)
        if not storage.whole(folder, number, codec.width, "rows"):
            counted = vectors.stat().st_size // (2 * dimension)
            matrix = files.raw(vectors, np.dtype(np.float16), (counted, dimension))
            with replacing(storage.path_of(folder, number, "rows")) as path, path.open("wb") as file:
                for some in clusters.spans(matrix):
                    rows(codec, some, device).tofile(file)
        vectors.unlink(missing_ok=True)


def rows(codec: Codec, vectors: Floats, device: str = "cpu") -> NDArray[np.uint8]:
    """uint8[t, width]: the rows of some vectors (float32[t, d])."""
    packed = np.zeros((len(vectors), codec.width), np.uint8)
    numbers = clusters.nearest(vectors, codec.centroids, device)
    kernels.pack(vectors, codec.centroids, numbers, codec.borders, codec.code, codec.bits, packed)
    return packed


def learnt(index: Index, bits: int, device: str = "cpu") -> Codec:
    """Centroids in the precision of fp16, and buckets that hold equal shares of the residuals of held-out
    vectors and stand for their medians, as in ColBERT's code."""
    total = sum(len(part.vectors) for part in index.parts)
    if total == 0:
        count = 1 << bits
        nothing = np.zeros((1, index.dimension), np.float32)
        return Codec(nothing, np.zeros(count - 1, np.float32), np.zeros(count, np.float32))
    held = clusters.spread(total, max(1, min(total // 20, HELD_OUT)), np.random.default_rng(SEED + 1))
    count = max(1, min(clusters.usual(total), total - len(held)))
    centroids = clusters.learnt(index, count, SEED, device, held if total > 1 else ())
    centroids = centroids.astype(np.float16).astype(np.float32)
    vectors = np.concatenate([*clusters.spans(clusters.vectors_at(index, held))])
    residuals = vectors - centroids[clusters.nearest(vectors, centroids, device)]
    shares = np.arange(1, 2 << bits) / (2 << bits)  # medians at odd places, borders at even ones
    quantiles = np.quantile(residuals, shares).astype(np.float32)
    return Codec(centroids, quantiles[1::2], quantiles[::2])
