"""Percentile bootstrap intervals of means, sums and ratios of sums, with the same bits on every machine.

The bits are the same for two reasons. The resamples come from the raw 64-bit stream of PCG64, which NumPy
promises never to change. And sums over a resample are exact: values are first rounded to multiples of a power
of two, 2^-30 (about 1e-9) or coarser, chosen so that no sum needs more than the 53 bits of a float64. So
neither the order in which a BLAS library adds numbers, nor its number of threads, can change a bit. Results
are rounded to 6 decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from harness.scoring.measures.names import Average

RESAMPLES = 2000  # the ends of intervals then vary between seeds by 6 % of a standard error (4 % at 5000)
DECIMALS = 6
DRAWS = 1 << 20  # draws of one chunk, which bounds the memory, whatever the number of queries


class Sample(NamedTuple):
    """One column over Q queries, with the fields of `harness.scoring.score.Scored`."""

    numerator: NDArray[np.float64]  # float64[Q]
    denominator: NDArray[np.float64]
    average: Average


class Summary(NamedTuple):
    mean: float
    low: float  # the 2.5th percentile of the resampled means
    high: float  # the 97.5th percentile
    queries: int


def summaries(samples: Sequence[Sample], seed: int, resamples: int = RESAMPLES) -> list[Summary]:
    """The mean and the 95 % interval of each column. All columns share the resamples of their queries."""
    if not samples:
        return []
    queries = len(samples[0].numerator)
    columns, kinds = _columns(samples)
    sums = resampled(columns, seed, resamples)
    whole = columns.sum(axis=0)
    intervals = []
    for place, kind in enumerate(kinds):
        part, base = 2 * place, 2 * place + 1
        ends = np.quantile(_ratio(sums[:, part], sums[:, base]), (0.025, 0.975))
        mean = _ratio(whole[part : part + 1], whole[base : base + 1])[0]
        scale = queries if kind == "sum" else 1
        middle, low, high = (round(float(value) * scale, DECIMALS) for value in (mean, *ends))
        intervals.append(Summary(middle, low, high, queries))
    return intervals


def resampled(columns: NDArray[np.float64], seed: int, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """The sums of the columns (float64[Q, C]) over each resample of Q queries: float64[resamples, C]. The
    sums are exact if the columns were rounded by `exact`."""
    queries = len(columns)
    sums = np.empty((resamples, columns.shape[1]))
    step = max(1, DRAWS // queries)
    stream = np.random.PCG64(seed)
    for start in range(0, resamples, step):
        counts = _counts(stream, min(step, resamples - start), queries)
        sums[start : start + step] = counts @ columns
    return sums


def _columns(samples: Sequence[Sample]) -> tuple[NDArray[np.float64], list[Average]]:
    """The numbers to sum for the numerator and the denominator of each of M samples (float64[Q, 2 M]), and
    the samples' averages."""
    stacked = []
    for part, whole, average in samples:
        if average == "ratio":
            stacked += [exact(part), exact(whole)]
        else:
            values = np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)
            stacked += [exact(values), np.ones(len(part))]
    return np.stack(stacked, axis=1), [sample.average for sample in samples]


def exact(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values (float64[Q] or [Q, C]), rounded so that the sum of any resample is exact. The largest
    possible sum, Q times the largest value, then fits into 53 bits."""
    top = float(np.abs(values).max(initial=0.0)) * len(values)
    bits = min(30, 52 - math.frexp(top)[1])
    return np.ldexp(np.rint(np.ldexp(values, bits)), -bits)


def _counts(stream: np.random.PCG64, resamples: int, queries: int) -> NDArray[np.float64]:
    """How often each query was drawn: float64[resamples, Q]. Each resample has Q draws with replacement."""
    draws = resamples * queries
    words = stream.random_raw((draws + 1) // 2).astype("<u8", copy=False).view("<u4")[:draws]
    # the upper half of a 32-bit word times Q is uniform to within Q / 2^32 (Lemire 2019, without rejection)
    drawn = (words * np.uint64(queries)) >> np.uint64(32)
    drawn += np.repeat(np.arange(resamples, dtype=np.uint64) * np.uint64(queries), queries)
    counts = np.bincount(drawn.view(np.int64), minlength=draws)
    return counts.reshape(resamples, queries).astype(np.float64)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)
