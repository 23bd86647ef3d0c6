"""Compares averages over datasets: queries are resampled, and signs flipped, within each dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.compare.data import Loaded
from harness.compare.fields import Column, Field
from harness.compare.stats import family
from harness.compare.stats.block import Block, Floats, levels, pseudo_values, ratio, values
from harness.scoring import bootstrap

if TYPE_CHECKING:
    from harness.compare.significance import Comparison

BLOCK = 1 << 21  # how many signs are drawn at once


class AveragedPair(NamedTuple):
    """A pair of systems in one measure, averaged over datasets: `first` minus `second`."""

    average: str
    datasets: tuple[str, ...]
    measure: str
    first: str
    second: str
    queries: int  # the queries of all datasets together
    means: tuple[float, float]
    difference: float
    interval: tuple[float, float]  # 95 %, for this difference alone
    p: float  # for this pair alone, by randomisation
    corrected: float  # corrected by Holm, over the pairs of this average and measure


class _Part(NamedTuple):
    """One dataset of an average, with one column."""

    field: Field
    column: Column

    def place(self, name: str) -> int | None:
        names = [self.field.entries[i].name for i in self.column.systems]
        return names.index(name) if name in names else None


def averaged(loaded: Loaded, pairs: Sequence[Comparison], permutations: int) -> list[AveragedPair]:
    """The pairs of every average that the suite of the first leaderboard names. A pair is in an average if it
    is compared on each of its datasets. An average is left out if the filters drop one of its datasets."""
    fields = {field.dataset: field for field in loaded.fields}
    compared = dict.fromkeys((item.measure, item.first, item.second) for item in pairs)
    made: list[AveragedPair] = []
    for name, datasets in loaded.averages:
        if not all(dataset in fields for dataset in datasets):
            continue
        for label in dict.fromkeys(measure for measure, _, _ in compared):
            columns = [
                next((column for column in fields[dataset].columns if column.label == label), None)
                for dataset in datasets
            ]
            parts = [
                _Part(fields[dataset], column)
                for dataset, column in zip(datasets, columns, strict=True)
                if column is not None
            ]
            wanted = [(first, second) for measure, first, second in compared if measure == label]
            if len(parts) == len(datasets):
                made += _of_measure(name, label, parts, wanted, permutations)
    return made


def _of_measure(
    name: str, label: str, parts: Sequence[_Part], wanted: Sequence[tuple[str, str]], permutations: int
) -> list[AveragedPair]:
    resampled = [_resampled_levels(part) for part in parts]
    lines = []
    for first, second in wanted:
        places = [(part.place(first), part.place(second)) for part in parts]
        known = [(a, b) for a, b in places if a is not None and b is not None]
        if len(known) < len(parts):
            continue
        level = np.array(
            [levels(part.column.block)[[a, b]] for part, (a, b) in zip(parts, known, strict=True)]
        ).mean(axis=0)  # float64[2]
        drawn = np.mean(
            [each[:, a] - each[:, b] for each, (a, b) in zip(resampled, known, strict=True)], axis=0
        )
        low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
        # each dataset has the same weight; for ratios of sums, the linearised values of queries are used
        shares = [
            _differences(part.column.block, a, b) / len(parts)
            for part, (a, b) in zip(parts, known, strict=True)
        ]
        lines.append(((first, second), level, (low, high), np.concatenate(shares)))
    if not lines:
        return []
    p = _randomised(np.stack([line[3] for line in lines], axis=1), permutations, f"{name}\0{label}")
    corrected = family.holm(p, np.zeros(len(lines), np.int64))
    datasets = tuple(part.field.dataset for part in parts)
    queries = sum(part.field.queries for part in parts)
    return [
        AveragedPair(
            name, datasets, label, *pair, queries, (float(level[0]), float(level[1])),
            float(level[0] - level[1]), ends, alone, adjusted,
        )
        for (pair, level, ends, _), alone, adjusted in zip(lines, p.tolist(), corrected.tolist(), strict=True)
    ]  # fmt: skip


def _resampled_levels(part: _Part) -> Floats:
    """float64[R, S]: the score of each system on each resample of the queries: a mean, or a ratio of sums."""
    block, seed = part.column.block, _seed(part.field.dataset)
    if block.average == "ratio":
        sums = bootstrap.resampled(
            np.concatenate([bootstrap.exact(block.part), bootstrap.exact(block.whole)], axis=1), seed
        )
        systems = block.part.shape[1]
        return ratio(sums[:, :systems], sums[:, systems:])
    return bootstrap.resampled(bootstrap.exact(values(block)), seed) / len(block.part) * block.scale


def _randomised(weighted: Floats, permutations: int, seed: str) -> Floats:
    """float64[P]: the two-sided p-values of weighted differences float64[Q, P], by randomisation. If systems
    did not differ, each difference's sign would be random. All pairs are flipped alike."""
    total = weighted.sum(axis=0)
    observed = np.abs(total) * (1 - 1e-9)  # the last digits of a sum depend on its order
    stream = np.random.PCG64(_seed(seed))
    step = max(1, BLOCK // len(weighted))
    extreme = np.zeros(weighted.shape[1], np.int64)
    for start in range(0, permutations, step):
        rows = min(step, permutations - start)
        raw = stream.random_raw(-(-rows * len(weighted) // 64)).astype("<u8", copy=False)
        flipped = np.unpackbits(raw.view(np.uint8))[: rows * len(weighted)].reshape(rows, -1)
        extreme += (np.abs(total - 2 * (flipped.astype(np.float64) @ weighted)) >= observed).sum(axis=0)
    return (1 + extreme) / (1 + permutations)


def _differences(block: Block, first: int, second: int) -> Floats:
    """float64[Q]: the part of each query in the difference of the levels. The parts add up to it."""
    each = pseudo_values(block)
    return np.asarray((each[:, first] - each[:, second]) * block.scale / len(block.part))


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
