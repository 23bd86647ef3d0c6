"""The randomisation test's distribution, for all pairs of systems at once.

If two systems do not differ, the sign of each query's difference is random. All pairs are flipped at the same
queries. This keeps the dependence between pairs, and it needs only one matrix product: the signed sum of a
difference is the difference of two signed sums. So all systems of a dataset, with all their measures, are
columns of one matrix, however many pairs there are.

The statistic is |sum of s d| / sqrt(sum of d^2), which rises with Student's t. Its variance under the flips
is 1 for every pair, so pairs can be compared with each other. For a ratio of sums, a flip exchanges the
numerators and denominators of the pair at that query.

Values are rounded to a grid on which sums are exact (`harness.scoring.bootstrap`), so ties stay ties and
every machine computes the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.compare.stats.block import Block, Floats, ratio, values
from harness.scoring.bootstrap import exact
from harness.types import Ints

DRAWS = 1 << 20  # how many signs one chunk holds, so that they stay in a core's cache


class Pairs(NamedTuple):
    """The pairs of a block's systems that are compared: `first` minus `second`."""

    first: Ints  # int64[P]
    second: Ints  # int64[P]


class Prepared(NamedTuple):
    """A block with its pairs, ready for sign flips."""

    columns: Floats  # float64[Q, C]: values; for a ratio, numerators before denominators
    pairs: Pairs
    scale: Floats  # float64[P]: the factor that gives the statistic variance 1 under the flips
    ratio: bool


def prepare(block: Block, pairs: Pairs) -> Prepared:
    if block.average == "ratio":
        part, whole = exact(block.part), exact(block.whole)
        columns = np.concatenate([part, whole], axis=1)
    else:
        columns = part = exact(values(block))
        whole = None
    scale = np.array([_scale(part, whole, a, b) for a, b in zip(*pairs, strict=True)])
    return Prepared(columns, pairs, scale, whole is not None)


def _scale(part: Floats, whole: Floats | None, first: int, second: int) -> float:
    """1 / the root of the sum of squared differences; 0 if no query differs. For a ratio of sums, the
    differences are those of n - R d, with the common ratio R of the pair, divided by the mean denominator."""
    difference, base = part[:, first] - part[:, second], 1.0
    if whole is not None:
        base = float(whole[:, first].sum() + whole[:, second].sum()) / 2
        common = (part[:, first].sum() + part[:, second].sum()) / (2 * base) if base else 0.0
        difference = difference - common * (whole[:, first] - whole[:, second])
    size = float(np.sqrt(difference @ difference))
    return float(f"{base / size:.12g}") if size else 0.0  # the digits that are equal on all machines


def statistics(prepared: Prepared, sums: Floats) -> Floats:
    """float64[P, b]: the statistic of each pair, from the signed sums float64[C, b] of the columns."""
    first, second = prepared.pairs
    if not prepared.ratio:
        statistic = sums[first]
        statistic -= sums[second]
    else:
        totals = prepared.columns.sum(axis=0)[:, None]
        systems = len(totals) // 2
        moved = [(sums[i] - sums[j]) / 2 for i, j in _parts(first, second, systems)]
        middle = [(totals[i] + totals[j]) / 2 for i, j in _parts(first, second, systems)]
        ahead = ratio(middle[0] + moved[0], middle[1] + moved[1])
        statistic = ahead - ratio(middle[0] - moved[0], middle[1] - moved[1])
    np.abs(statistic, out=statistic)
    statistic *= prepared.scale[:, None]
    return statistic


def _parts(first: Ints, second: Ints, systems: int) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """The columns of the pairs' numerators, and the columns of their denominators."""
    return (first, second), (first + systems, second + systems)


def observed(prepared: Prepared) -> Floats:
    """float64[P]: the statistic of each pair with the observed signs."""
    return statistics(prepared, prepared.columns.sum(axis=0)[:, None])[:, 0]


def enumerates(queries: int, flips: int) -> bool:
    """Whether there are at most `flips` sign patterns, so that all are tried and the test is exact. A pattern
    and its opposite have the same statistic and count as one."""
    return queries - 1 < 60 and 1 << (queries - 1) <= flips


def null(prepared: Sequence[Prepared], flips: int, seed: int, step: int, every: bool) -> Iterator[Floats]:
    """Yields the statistics of all pairs of systems under sign flips, in chunks float64[P, b] with b up to
    `step`. The blocks in `prepared` have the same queries and get the same flips. With `every`, all sign
    patterns are tried; otherwise `flips` patterns are drawn."""
    columns = np.concatenate([item.columns for item in prepared], axis=1)
    totals = columns.sum(axis=0)[:, None]
    ends = np.cumsum([item.columns.shape[1] for item in prepared])[:-1]
    queries = len(columns)
    for kept in _every(queries, step) if every else _drawn(queries, flips, seed, step):
        sums = columns.T @ kept.T  # float64[C, b]
        sums *= 2
        sums -= totals
        yield np.concatenate(
            [statistics(item, part) for item, part in zip(prepared, np.split(sums, ends), strict=True)]
        )


def _every(queries: int, step: int) -> Iterator[Floats]:
    """float64[b, Q] in chunks, over all sign patterns: 1 if a query's sign is kept, 0 if it is flipped. The
    last query is always flipped."""
    patterns = 1 << (queries - 1)
    for start in range(0, patterns, step):
        codes = np.arange(start, min(start + step, patterns), dtype=np.int64)
        yield (codes[:, None] >> np.arange(queries) & 1).astype(np.float64)


def _drawn(queries: int, flips: int, seed: int, step: int) -> Iterator[Floats]:
    """float64[b, Q] in chunks, like `_every`, with signs drawn from the raw stream of PCG64, which NumPy
    promises never to change."""
    stream = np.random.PCG64(seed)
    for start in range(0, flips, step):
        rows = min(step, flips - start)
        words = stream.random_raw((rows * queries + 63) // 64).astype("<u8", copy=False)
        bits = np.unpackbits(words.view(np.uint8), count=rows * queries, bitorder="little")
        yield bits.reshape(rows, queries).astype(np.float64)
