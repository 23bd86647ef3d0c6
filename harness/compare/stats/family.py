"""Corrects the p-values of many pairs for their number, by step-down max-T over sign flips, or by Holm."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.compare.stats import signs
from harness.compare.stats.block import Floats
from harness.compare.stats.signs import Prepared
from harness.types import Ints

CELLS = 1 << 22  # how many statistics one chunk holds
TIES = 1e-7  # sums that differ by less, relatively, differ by the rounding of thirds and the like alone


class Group(NamedTuple):
    """Blocks over the same queries. The pairs of a group are the pairs of its blocks, block after block."""

    blocks: tuple[Prepared, ...]
    seed: int

    @property
    def queries(self) -> int:
        return len(self.blocks[0].columns)


class Tested(NamedTuple):
    """The results of randomisation for P pairs, one group after the other."""

    p: Floats  # float64[P]: for each pair alone
    adjusted: Floats  # float64[P]: corrected within its family
    critical: dict[int, float]  # family -> the 1 - alpha quantile of the family's maxima
    exact: NDArray[np.bool_]  # bool[P]: whether all sign patterns were tried


def randomised(groups: Sequence[Group], family: Ints, flips: int, alpha: float) -> Tested:
    """Sign-flip tests of all pairs, corrected by step-down max-T within each family (Westfall and Young 1993,
    algorithm 4.1; `family` is int64[P]). With drawn signs, p is (1 + the number of draws at least as extreme)
    / (1 + flips) (Phipson and Smyth 2010), so p is never 0 and the test never exceeds alpha."""
    counts = [sum(len(block.scale) for block in group.blocks) for group in groups]
    ends = np.cumsum([0, *counts])
    tested = Tested(np.ones(ends[-1]), np.ones(ends[-1]), {}, np.zeros(ends[-1], np.bool_))
    for numbers in _bundles(ends, family):
        where = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in numbers])
        if len(where):
            _bundle([groups[i] for i in numbers], where, family[where], flips, alpha, tested)
    return tested


def holm(p: Floats, family: Ints) -> Floats:
    """float64[P]: the p-values adjusted within each family (Holm 1979)."""
    adjusted = np.empty(len(p))
    for number in np.unique(family):
        where = np.flatnonzero(family == number)
        order = where[np.argsort(p[where], kind="stable")]
        steps = p[order] * np.arange(len(order), 0, -1)
        adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _bundles(ends: Ints, family: Ints) -> list[list[int]]:
    """The groups whose signs are drawn side by side, as lists of numbers. If any two groups share a family,
    all groups are one bundle; otherwise each is a bundle of its own."""
    groups = len(ends) - 1
    owner = np.repeat(np.arange(groups), np.diff(ends))
    pairs = np.unique(np.stack([family, owner]), axis=1)
    if len(np.unique(pairs[0])) == pairs.shape[1]:
        return [[i] for i in range(groups)]
    return [list(range(groups))]


def _bundle(
    groups: Sequence[Group], where: Ints, family: Ints, flips: int, alpha: float, tested: Tested
) -> None:
    seen = np.concatenate([signs.observed(block) for group in groups for block in group.blocks])
    by_family = sorted(range(len(seen)), key=lambda i: (family[i], -seen[i]))
    orders = {
        int(number): np.array(list(places), np.int64)
        for number, places in groupby(by_family, key=lambda i: family[i])
    }
    least = seen * (1 - TIES)
    widest = max(group.queries for group in groups)
    step = max(1, min(signs.DRAWS // widest, CELLS // len(seen), flips))
    alone, beside = np.zeros(len(seen)), np.zeros(len(seen))
    maxima: dict[int, list[Floats]] = {number: [] for number in orders}
    done = 0
    # an exact test over several datasets would need all combinations of their sign patterns, so signs are
    # drawn
    exact = len(groups) == 1 and signs.enumerates(widest, flips)
    streams = [signs.null(group.blocks, flips, group.seed, step, exact) for group in groups]
    for chunks in zip(*streams, strict=True):
        drawn = np.concatenate(chunks)  # float64[P, b]
        done += drawn.shape[1]
        alone += np.count_nonzero(drawn >= least[:, None], axis=1)
        for number, order in orders.items():
            tops = drawn[order[::-1]]
            np.maximum.accumulate(tops, axis=0, out=tops)  # the maximum over a pair and the pairs below it
            beside[order] += np.count_nonzero(tops >= least[order[::-1], None], axis=1)[::-1]
            maxima[number].append(tops[-1].copy())
    more = 0 if exact else 1  # the observed signs count as one of the draws
    tested.p[where] = (alone + more) / (done + more)
    tested.exact[where] = exact
    for number, order in orders.items():
        steps = (beside[order] + more) / (done + more)
        tested.adjusted[where[order]] = np.maximum.accumulate(steps)
        tested.critical[number] = float(np.quantile(np.concatenate(maxima[number]), 1 - alpha))
