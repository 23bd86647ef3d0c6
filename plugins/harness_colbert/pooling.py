"""Pools the token vectors of a passage: similar ones become their mean (Clavie et al. 2024)."""

from __future__ import annotations

import numpy as np
from scipy.cluster import hierarchy

from harness.plugin import Floats


def pooled(vectors: Floats, factor: int) -> Floats:
    """float32[m, d] with m of about n / factor, from the vectors of one passage (float32[n, d], of length 1).
    The first vector, of [CLS], is kept. The others are clustered by Ward's method over their cosine
    distances, and each cluster becomes its mean, whose length stays below 1, as in PyLate's code."""
    rest = vectors[1:]
    wanted = max(1, len(rest) // factor)
    if wanted >= len(rest):
        return vectors
    distances = (1 - rest @ rest.T)[np.triu_indices(len(rest), 1)]
    labels = hierarchy.fcluster(hierarchy.linkage(distances, "ward"), wanted, "maxclust")
    _, clusters = np.unique(labels, return_inverse=True)
    sums = np.zeros((int(clusters.max()) + 1, vectors.shape[1]), np.float32)
    np.add.at(sums, clusters, rest)
    means = sums / np.bincount(clusters)[:, None].astype(np.float32)
    return np.concatenate([vectors[:1], means])
