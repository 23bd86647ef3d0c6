"""Compiled loops over similarities of tokens, query vectors and centroids, and over inverted lists."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray


@nb.njit(nogil=True, cache=True)
def sum_of_best(
    similar: NDArray[np.float32],  # float32[t, Q * L]: every token against every query vector
    bounds: NDArray[np.int64],  # int64[n + 1]: the tokens of text i start at bounds[i] - bounds[0]
    length: int,  # L
    scores: NDArray[np.float32],  # float32[Q, n]: out
) -> None:
    """Fills `scores`: s(q, d) = sum over i of max over j of E_qi . E_dj (Khattab and Zaharia 2020, equation
    3)."""
    columns = similar.shape[1]
    best = np.empty(columns, np.float32)
    for text in range(len(bounds) - 1):
        begin, end = bounds[text] - bounds[0], bounds[text + 1] - bounds[0]
        best[:] = -np.inf
        for token in range(begin, end):
            for c in range(columns):  # written in the form that LLVM vectorises
                value = similar[token, c]
                best[c] = value if value > best[c] else best[c]
        for q in range(columns // length):
            total = np.float32(0)
            for c in range(q * length, (q + 1) * length):
                total += best[c]
            scores[q, text] = total


@nb.njit(nogil=True, cache=True)
def raise_nearest(
    similar: NDArray[np.float32],  # float32[c, t]: centroids `first` to first + c - 1 against vectors
    first: int,
    best: NDArray[np.float32],  # float32[t]: in and out, the highest similarity so far
    nearest: NDArray[np.int32],  # int32[t]: in and out, its centroid; of equal ones the first
) -> None:
    for c in range(len(similar)):
        number = np.int32(first + c)
        for t in range(similar.shape[1]):  # written in the form that LLVM vectorises
            value = similar[c, t]
            better = value > best[t]
            best[t] = value if better else best[t]
            nearest[t] = number if better else nearest[t]


@nb.njit(nogil=True, cache=True)
def add_to_sums(
    vectors: NDArray[np.float32],  # float32[n, d]
    nearest: NDArray[np.int32],  # int32[n]
    sums: NDArray[np.float64],  # float64[C, d]: in and out
) -> None:
    for i in range(len(vectors)):
        for j in range(vectors.shape[1]):
            sums[nearest[i], j] += vectors[i, j]


@nb.njit(nogil=True, cache=True)
def distinct(
    nearest: NDArray[np.int32],  # int32[t]: the centroid of each vector
    bounds: NDArray[np.int64],  # int64[n + 1]: text i has the vectors bounds[i] to bounds[i + 1] - 1
    counts: NDArray[np.int64],  # int64[n]: out, how many centroids each text has
) -> NDArray[np.int32]:
    """The different centroids of each text, ascending, text by text."""
    numbers, size = np.empty(len(nearest), np.int32), 0
    for text in range(len(bounds) - 1):
        begin = size
        for number in np.sort(nearest[bounds[text] : bounds[text + 1]]):
            if size == begin or numbers[size - 1] != number:
                numbers[size] = number
                size += 1
        counts[text] = size - begin
    return numbers[:size].copy()


@nb.njit(nogil=True, cache=True)
def turned(
    centroids: NDArray[np.int32],  # int32[n]: the centroids of each text, text by text
    bounds: NDArray[np.int64],  # int64[N + 1]: text i has centroids[bounds[i] : bounds[i + 1]]
    starts: NDArray[np.int64],  # int64[C + 1]: where the list of each centroid begins
) -> NDArray[np.int32]:
    """The inverted lists: the texts of each centroid, ascending, centroid by centroid."""
    texts, ends = np.empty(len(centroids), np.int32), starts.copy()
    for text in range(len(bounds) - 1):
        for i in range(bounds[text], bounds[text + 1]):
            texts[ends[centroids[i]]] = text
            ends[centroids[i]] += 1
    return texts


@nb.njit(nogil=True, cache=True)
def sum_of_best_centroids(
    similar: NDArray[np.float32],  # float32[C, L]: every centroid against every vector of one query
    texts: NDArray[np.int64],  # int64[n]
    centroids: NDArray[np.int32],
    bounds: NDArray[np.int64],  # int64[N + 1]: text i has centroids[bounds[i] : bounds[i + 1]]
    scores: NDArray[np.float32],  # float32[n]: out
) -> None:
    """Fills `scores` with MaxSim, computed from a text's centroids instead of its vectors (centroid
    interaction: PLAID, Santhanam et al. 2022, section 4.2)."""
    best = np.empty(similar.shape[1], np.float32)
    for place in range(len(texts)):
        text = texts[place]
        best[:] = -np.inf
        for i in range(bounds[text], bounds[text + 1]):
            row = similar[centroids[i]]
            for c in range(len(best)):
                best[c] = row[c] if row[c] > best[c] else best[c]
        total = np.float32(0)
        for c in range(len(best)):
            total += best[c]
        scores[place] = total


@nb.njit(nogil=True, cache=True)
def pack(
    vectors: NDArray[np.float32],  # float32[t, d]
    centroids: NDArray[np.float32],  # float32[C, d]
    nearest: NDArray[np.int32],  # int32[t]
    borders: NDArray[np.float32],  # float32[2^bits - 1], ascending
    code: int,
    bits: int,
    rows: NDArray[np.uint8],  # uint8[t, width], zeros: out
) -> None:
    """Writes each vector as `codec.Codec` says. A residual on a border belongs to the bucket below."""
    for i in range(len(vectors)):
        for byte in range(code):
            rows[i, byte] = (nearest[i] >> (8 * byte)) & 255
        for j in range(vectors.shape[1]):
            residual, bucket = vectors[i, j] - centroids[nearest[i], j], 0
            for border in borders:
                bucket += residual > border
            bit = j * bits
            rows[i, code + bit // 8] |= np.uint8(bucket << (8 - bits - bit % 8))


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def unpack(
    rows: NDArray[np.uint8],  # uint8[t, width]
    centroids: NDArray[np.float32],  # float32[C, d]
    values: NDArray[np.float32],  # float32[256, n]: what a byte says of n dimensions
    code: int,
    vectors: NDArray[np.float32],  # float32[t, d]: out
) -> None:
    """Fills `vectors` with the sums of centroid and residual, of length 1."""
    dimension, several = vectors.shape[1], values.shape[1]
    for i in range(len(rows)):
        number = 0
        for byte in range(code):
            number |= int(rows[i, byte]) << (8 * byte)
        centroid, vector = centroids[number], vectors[i]
        for byte in range(dimension // several):
            value = values[rows[i, code + byte]]
            for j in range(several):
                vector[byte * several + j] = centroid[byte * several + j] + value[j]
        for j in range(dimension - dimension % several, dimension):
            vector[j] = centroid[j] + values[rows[i, code + j // several], j % several]
        total = np.float32(0)
        for j in range(dimension):
            total += vector[j] * vector[j]
        scale = np.float32(1) / np.sqrt(total) if total > 0 else np.float32(1)
        for j in range(dimension):
            vector[j] *= scale
