"""An inverted file: for each centroid, it lists the texts with a vector nearest to that centroid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from harness.plugin import Floats, Ints
from harness_colbert import Ivf, clusters, kernels, matching
from harness_colbert.storage import Index


class Inverted(NamedTuple):
    centroids: Floats  # float32[C, d], each the nearest centroid of some vector
    of_texts: NDArray[np.int32]  # the centroids of each text, ascending, each once
    text_bounds: Ints  # int64[N + 1]: text i has of_texts[text_bounds[i] : text_bounds[i + 1]]
    of_centroids: NDArray[np.int32]  # the texts of each centroid, ascending
    centroid_bounds: Ints  # int64[C + 1], the same for of_centroids


def build(index: Index, options: Ivf, device: str = "cpu") -> Inverted:
    """The inverted file of an index with at least one vector. Memory holds a sample of the vectors and two
    numbers for each centroid of each text."""
    total = sum(len(part.vectors) for part in index.parts)
    if index.codec is not None:
        centroids = index.codec.centroids
    else:
        count = min(options.centroids or clusters.usual(total), total)
        centroids = clusters.learnt(index, count, options.seed, device)
    count = len(centroids)
    text_numbers, counts = [], []
    for part in index.parts:
        if index.codec is not None:
            numbers = part.vectors.numbers()
        else:
            some = [clusters.nearest(some, centroids, device) for some in clusters.spans(part.vectors)]
            numbers = np.concatenate([*some, np.empty(0, np.int32)])
        many = np.empty(len(part.bounds) - 1, np.int64)
        text_numbers.append(kernels.distinct(numbers, part.bounds, many))
        counts.append(many)
    of_texts = np.concatenate(text_numbers)
    texts_of = np.bincount(of_texts, minlength=count)
    used = texts_of > 0  # a centroid without texts would waste a probe
    of_texts = (np.cumsum(used) - 1).astype(np.int32)[of_texts]
    text_bounds = np.cumsum([0, *np.concatenate(counts)], dtype=np.int64)
    centroid_bounds = np.cumsum([0, *texts_of[used]], dtype=np.int64)
    of_centroids = kernels.turned(of_texts, text_bounds, centroid_bounds)
    return Inverted(centroids[used], of_texts, text_bounds, of_centroids, centroid_bounds)


def candidates(inverted: Inverted, query: Floats, options: Ivf) -> Ints:
    """int64[n], ascending: the texts of the `probes` nearest centroids of each query vector (float32[L, d]),
    cut to the `candidates` texts whose centroids score best."""
    torch.set_num_threads(1)  # for this thread: other threads use the other cores
    query = query[query.any(axis=1)]  # zeros only fill short queries
    similar = (torch.from_numpy(inverted.centroids) @ torch.from_numpy(query).T).numpy()  # float32[C, L]
    last = max(0, len(similar) - options.probes)
    least = np.partition(np.ascontiguousarray(similar.T), last, axis=1)[:, last]
    present = np.zeros(len(inverted.text_bounds) - 1, np.bool_)
    for centroid in np.flatnonzero((similar >= least).any(axis=1)).tolist():
        begin, end = inverted.centroid_bounds[centroid : centroid + 2]
        present[inverted.of_centroids[begin:end]] = True
    texts = np.flatnonzero(present)
    if len(texts) <= options.candidates:
        return texts
    scores = np.empty(len(texts), np.float32)
    kernels.sum_of_best_centroids(similar, texts, inverted.of_texts, inverted.text_bounds, scores)
    keys = np.partition(matching.encoded(scores, texts), options.candidates - 1)
    return np.sort(matching.decoded(keys[: options.candidates])[0])
