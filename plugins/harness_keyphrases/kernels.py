"""Compiled loops of TopicRank: clustering candidates into topics, the graph of topics, and its PageRank.

Candidates are numbered by their first occurrence, and topics by their first candidate. A tie goes to the
lower number, which means to the first occurrence in the document.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

# The denominators of Jaccard distances are sizes of unions. All numbers up to 20 divide this factor, so
# scaled distances of up to 20 stems are whole numbers. Their sums are exact, and so are ties of averages.
SCALE = 232_792_560


@nb.njit(nogil=True, cache=True)
def jaccard(stems: NDArray[np.int32], ends: NDArray[np.int64], i: int, j: int) -> int:
    """The Jaccard distance 1 - |A and B| / |A or B| of the stems of candidates i and j, times SCALE. The
    stems of candidate i are stems[ends[i] : ends[i + 1]], ascending."""
    a, b, both = ends[i], ends[j], 0
    while a < ends[i + 1] and b < ends[j + 1]:
        if stems[a] == stems[b]:
            both += 1
            a += 1
            b += 1
        elif stems[a] < stems[b]:
            a += 1
        else:
            b += 1
    either = ends[i + 1] - ends[i] + ends[j + 1] - ends[j] - both
    distance: int = SCALE * (either - both) // either
    return distance


@nb.njit(nogil=True, cache=True)
def components(stems: NDArray[np.int32], ends: NDArray[np.int64], vocabulary: int) -> NDArray[np.int32]:
    """int32[n]: for each candidate, the first candidate of its connected component. Candidates that share a
    stem are connected."""
    n = len(ends) - 1
    parent = np.arange(n).astype(np.int32)
    holder = np.full(vocabulary, -1, np.int32)
    for i in range(n):
        for at in range(ends[i], ends[i + 1]):
            if holder[stems[at]] < 0:
                holder[stems[at]] = i
                continue
            a, b = holder[stems[at]], i
            while parent[a] != a:
                a = parent[a]
            while parent[b] != b:
                b = parent[b]
            parent[max(a, b)] = min(a, b)
    for i in range(n):  # a parent comes before its children
        parent[i] = parent[parent[i]]
    return parent


@nb.njit(nogil=True, cache=True)
def cluster(
    members: NDArray[np.int32],
    stems: NDArray[np.int32],
    ends: NDArray[np.int64],
    cut: float,
    topic: NDArray[np.int32],
) -> None:
    """Cluster the candidates `members` (ascending) by average linkage, and write the first candidate of m's
    cluster into topic[m] for each member m. The two closest clusters are merged as long as the mean distance
    of their members is at most `cut`."""
    n = len(members)
    sums = np.zeros((n, n), np.int64)  # the sum of distances between the members of two clusters
    for i in range(n):
        for j in range(i + 1, n):
            sums[i, j] = sums[j, i] = jaccard(stems, ends, members[i], members[j])
    sizes = np.ones(n, np.int64)  # 0 for a cluster that was merged into another
    into = np.arange(n)
    nearest = np.full(n, -1, np.int64)  # for each cluster, the nearest of the later clusters
    near = np.full(n, np.inf)
    for i in range(n):
        look(i, sums, sizes, nearest, near)
    while True:
        a = int(np.argmin(near))
        if near[a] > cut * SCALE:
            break
        b = nearest[a]
        sums[a] += sums[b]
        sums[:, a] = sums[a]
        sizes[a] += sizes[b]
        sizes[b] = 0
        near[b] = np.inf
        into[b] = a
        for i in range(b):
            if sizes[i] == 0:
                continue
            if i == a or nearest[i] == a or nearest[i] == b:
                look(i, sums, sizes, nearest, near)
            elif i < a:
                distance = sums[i, a] / (sizes[i] * sizes[a])
                if distance < near[i] or (distance == near[i] and a < nearest[i]):
                    nearest[i], near[i] = a, distance
    for i in range(n):
        into[i] = into[into[i]]
        topic[members[i]] = members[into[i]]


@nb.njit(nogil=True, cache=True)
def look(
    i: int,
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    nearest: NDArray[np.int64],
    near: NDArray[np.float64],
) -> None:
    """Write into nearest[i] and near[i] the cluster after i that is closest to i, and its distance. Of
    equally close clusters, the first is taken."""
    nearest[i], near[i] = -1, np.inf
    for j in range(i + 1, len(sizes)):
        if sizes[j] > 0:
            distance = sums[i, j] / (sizes[i] * sizes[j])
            if distance < near[i]:
                nearest[i], near[i] = j, distance


@nb.njit(nogil=True, cache=True)
def edges(offsets: NDArray[np.int64], topics: NDArray[np.int32], count: int) -> NDArray[np.float64]:
    """float64[count, count]: the weight between two topics, which is the sum of 1 / |p - q| over all offsets
    p of one and q of the other (Bougouin et al. 2013, equations 1 and 2). The divisor is never 0, because no
    two longest sequences begin at the same offset."""
    weights = np.zeros((count, count))
    for i in range(len(offsets)):
        for j in range(i):
            if topics[i] != topics[j]:
                near = 1.0 / abs(offsets[i] - offsets[j])
                weights[topics[i], topics[j]] += near
                weights[topics[j], topics[i]] += near
    return weights


@nb.njit(nogil=True, cache=True)
def pagerank(weights: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """float64[n]: the PageRank of each topic. The scores sum to 1.

    S(i) = (1 - d) / n + d * sum over j of w(j, i) / sum over k of w(j, k) * S(j)
    (Bougouin et al. 2013, equation 3, divided by n). The iteration stops when a round changes the scores by
    less than 1e-12 in sum."""
    n = len(weights)
    scores = np.full(n, 1.0 / n)
    if n == 1:  # a single topic has no edge
        return scores
    totals = weights.sum(axis=1)
    while True:
        passed_on = scores / totals
        new = np.full(n, (1.0 - damping) / n)
        for j in range(n):
            share = damping * passed_on[j]
            for i in range(n):
                new[i] += share * weights[j, i]
        change = np.abs(new - scores).sum()
        scores = new
        if change < 1e-12:
            return scores


@nb.njit(nogil=True, cache=True)
def count_distances(stems: NDArray[np.int32], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64[n (n - 1) / 2]: of each two candidates, the share of their stems that do not occur equally
    often in both. The stems of candidate i are stems[ends[i] : ends[i + 1]], ascending."""
    n = len(ends) - 1
    distances = np.empty(n * (n - 1) // 2)
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            a, b, unequal, either = ends[i], ends[j], 0, 0
            while a < ends[i + 1] or b < ends[j + 1]:
                if b == ends[j + 1] or (a < ends[i + 1] and stems[a] <= stems[b]):
                    stem = stems[a]
                else:
                    stem = stems[b]
                times = 0
                while a < ends[i + 1] and stems[a] == stem:
                    times += 1
                    a += 1
                while b < ends[j + 1] and stems[b] == stem:
                    times -= 1
                    b += 1
                unequal += times != 0
                either += 1
            distances[at] = unequal / either
            at += 1
    return distances


@nb.njit(nogil=True, cache=True)
def gap_edges(
    offsets: NDArray[np.int64],
    ends: NDArray[np.int64],
    lengths: NDArray[np.int64],
    topic: NDArray[np.int64],
    count: int,
) -> NDArray[np.float64]:
    """float64[count, count]: the weight between two topics, which is the sum of 1 / gap over the occurrences
    of both. The gap is counted from the last word of the first occurrence to the first word of the second.
    Candidate i occurs at offsets[ends[i] : ends[i + 1]], and `topic` ascends. Sums are in pke's order."""
    weights = np.zeros((count, count))
    for i in range(len(lengths)):
        for j in range(i + 1, len(lengths)):
            if topic[i] == topic[j]:
                continue
            for p in offsets[ends[i] : ends[i + 1]]:
                for q in offsets[ends[j] : ends[j + 1]]:
                    gap = q - p - lengths[i] + 1 if p < q else p - q - lengths[j] + 1
                    weights[topic[i], topic[j]] += 1.0 / max(gap, 1)
    return weights + weights.T


@nb.njit(nogil=True, cache=True)
def passed(scores: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n]: scores @ step, summed in order, so that equal inputs of two topics remain equal."""
    n = len(scores)
    new = np.zeros(n)
    for j in range(n):
        for i in range(n):
            new[i] += scores[j] * step[j, i]
    return new
