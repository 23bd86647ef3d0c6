"""Compares pairs of systems: differences, intervals, tests, and tiers of systems."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from harness.compare import judges, seeds
from harness.compare.averages import AveragedPair, averaged
from harness.compare.data import Loaded
from harness.compare.fields import Column, Field
from harness.compare.judges import OrderAgreement
from harness.compare.seeds import Recipes
from harness.compare.stats import family, paired, signs, tiers
from harness.compare.stats.block import Block, Floats, levels, pseudo_values, ratio, values
from harness.compare.stats.family import Group, Tested
from harness.compare.stats.signs import Pairs
from harness.errors import HarnessError
from harness.scoring import bootstrap
from harness.types import Ints

PERMUTATIONS = 10_000
FAMILIES = {
    "column": "within a dataset and measure",
    "dataset": "within a dataset, over all measures",
    "measure": "within a measure, over all datasets",
    "all": "over all datasets and measures",
}


class Settings(NamedTuple):
    """How to compare. `pairs` is `all`, or `baseline`: each system with the baseline, or `name`: each system
    with the system of its name in the first leaderboard."""

    pairs: Literal["all", "baseline", "name"] = "all"
    baseline: str | None = None
    family: str = "column"
    test: Literal["randomisation", "t", "wilcoxon"] = "randomisation"
    correction: Literal["max-t", "holm", "none"] | None = None  # None: max-t with randomisation, else Holm
    permutations: int | None = None  # None: as many as the family needs
    alpha: float = 0.05


class Comparison(NamedTuple):
    """A pair of systems in one measure on one dataset: `first` minus `second`."""

    dataset: str
    measure: str
    first: str
    second: str
    queries: int
    means: tuple[float, float]
    difference: float
    interval: tuple[float, float]  # 95 %, for this difference alone
    p: float  # for this pair alone
    corrected: float  # corrected within its family
    effect: float | None  # Hedges' g; None if it is infinite
    won: int
    tied: int
    lost: int
    detectable: float | None  # the difference that a test in this family would find with a power of 0.8
    family: str
    exact: bool  # whether p is over all sign patterns; if not, patterns were drawn


class Standing(NamedTuple):
    """A system in one measure on one dataset, with its mean."""

    dataset: str
    measure: str
    system: str
    mean: float
    tier: str | None  # letters, if all pairs are compared


class Compared(NamedTuple):
    settings: Settings
    correction: str
    permutations: int | None  # None if the test is not randomisation
    families: dict[str, int]  # name -> number of tests
    standings: tuple[Standing, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    averages: tuple[AveragedPair, ...] = ()
    recipes: tuple[Recipes, ...] = ()  # pairs of recipes, if models have several seeds
    judges: tuple[OrderAgreement, ...] = ()  # if people and a machine judged the same data


class _Cell(NamedTuple):
    field: Field
    column: Column
    pairs: Pairs


def compare(loaded: Loaded, settings: Settings) -> Compared:
    cells = [
        _Cell(field, column, pairs)
        for field in loaded.fields
        for column in field.columns
        if len((pairs := _pairs(field, column, settings)).first)
    ]
    if not cells:
        raise HarnessError("compare: there is no pair to compare; name at least two systems of one dataset")
    names = [_family(cell, settings.family) for cell in cells]
    sizes: dict[str, int] = {}
    for name, cell in zip(names, cells, strict=True):
        sizes[name] = sizes.get(name, 0) + len(cell.pairs.first)
    number = {name: i for i, name in enumerate(sizes)}
    families = np.repeat([number[name] for name in names], [len(cell.pairs.first) for cell in cells])
    correction = settings.correction or ("max-t" if settings.test == "randomisation" else "holm")
    permutations = _permutations(settings, correction, max(sizes.values()))
    tested = _tested(cells, families, settings, correction, permutations)
    sure = [
        _significance(settings, correction, size, tested.critical.get(i))
        for i, size in enumerate(sizes.values())
    ]
    intervals = [
        pair for field in loaded.fields for pair in _intervals([c for c in cells if c.field is field])
    ]
    comparisons: list[Comparison] = []
    for name, cell in zip(names, cells, strict=True):
        comparisons += _comparisons(cell, name, sure[number[name]], tested, intervals, len(comparisons))
    standings = _standings(loaded, comparisons, settings)
    shown = permutations if settings.test == "randomisation" else None
    notes = (*loaded.notes, *_hopeless(cells, settings))
    means = tuple(averaged(loaded, comparisons, permutations))
    recipes = () if settings.pairs == "name" else seeds.compared(loaded, settings.baseline)
    orders = judges.agreements(loaded.judged, standings, comparisons, settings.alpha)
    return Compared(
        settings, correction, shown, sizes, standings, tuple(comparisons), notes, means, recipes, orders
    )


def _pairs(field: Field, column: Column, settings: Settings) -> Pairs:
    """The pairs to compare, as column numbers of the block."""
    entries = [field.entries[i] for i in column.systems]
    chosen: list[tuple[int, int]]
    if settings.pairs == "all":
        chosen = list(itertools.combinations(range(len(entries)), 2))
    elif settings.pairs == "name":
        first = {entry.system: i for i, entry in reversed(list(enumerate(entries))) if entry.board == 0}
        chosen = [
            (i, first[entry.system])
            for i, entry in enumerate(entries)
            if entry.board > 0 and entry.system in first
        ]
    else:
        base = [i for i, entry in enumerate(entries) if settings.baseline in (entry.name, entry.system)]
        if len(base) > 1:
            same = ", ".join(f"'{entries[i].name}'" for i in base)
            raise HarnessError(f"--baseline {settings.baseline}: may be {same}; name one of these")
        chosen = [(i, base[0]) for i in range(len(entries)) if i != base[0]] if base else []
    sides = np.array(chosen, np.int64).reshape(-1, 2)
    return Pairs(sides[:, 0], sides[:, 1])


def _family(cell: _Cell, by: str) -> str:
    dataset, label = cell.field.dataset, cell.column.label
    return {"column": f"{dataset} / {label}", "dataset": dataset, "measure": label, "all": "all"}[by]


def _permutations(settings: Settings, correction: str, largest: int) -> int:
    """The number of permutations to draw. With B permutations the smallest p is 1 / (B + 1). This p, times
    the size of the family for Holm, must be well below alpha, or no difference could be significant."""
    least = math.ceil((largest if correction == "holm" else 1) / settings.alpha)
    if settings.permutations is None:
        return max(PERMUTATIONS, 4 * least)
    if settings.test == "randomisation" and settings.permutations < least:
        problem = f"can make none of {largest} tests significant at {settings.alpha:g} by {correction}"
        raise HarnessError(f"--permutations {settings.permutations}: {problem}; give {least} or more")
    return settings.permutations


def _tested(
    cells: Sequence[_Cell], families: Ints, settings: Settings, correction: str, permutations: int
) -> Tested:
    if settings.test == "randomisation":
        groups = []
        for field, members in itertools.groupby(cells, key=lambda cell: cell.field.dataset):
            blocks = tuple(signs.prepare(cell.column.block, cell.pairs) for cell in members)
            groups.append(Group(blocks, _seed(field)))
        tested = family.randomised(groups, families, permutations, settings.alpha)
    else:
        p = np.concatenate([_alone(cell, settings.test) for cell in cells])
        tested = Tested(p, p, {}, np.zeros(len(p), np.bool_))
    if correction == "holm":
        tested = tested._replace(adjusted=family.holm(tested.p, families))
    elif correction == "none":
        tested = tested._replace(adjusted=tested.p)
    return tested


def _alone(cell: _Cell, test: str) -> Floats:
    block = cell.column.block
    if test == "wilcoxon" and block.average == "ratio":
        problem = f"{cell.column.label} is a ratio of sums, which has no ranks of queries"
        raise HarnessError(f"--test wilcoxon: {problem}; test it by randomisation or t")
    each = pseudo_values(block)
    one = paired.t_test if test == "t" else paired.wilcoxon
    return np.array([one(each[:, a] - each[:, b]).p for a, b in zip(*cell.pairs, strict=True)])


def _seed(dataset: str) -> int:
    """A seed derived from the dataset's name. So its numbers do not depend on other datasets."""
    return int.from_bytes(hashlib.sha256(dataset.encode()).digest()[:8], "little")


def _significance(settings: Settings, correction: str, size: int, critical: float | None) -> float:
    """The level that one test of a family has to reach by itself."""
    if correction == "max-t" and critical:
        return paired.normal_two_sided(critical)
    return settings.alpha / size if correction == "holm" else settings.alpha


def _intervals(cells: Sequence[_Cell]) -> list[tuple[float, float]]:
    """The 95 % percentile bootstrap interval of every pair of a dataset. All systems and all columns are
    resampled by the same queries."""
    if not cells:
        return []
    columns = [column for cell in cells for column in _columns(cell.column.block)]
    sums = bootstrap.resampled(np.concatenate(columns, axis=1), _seed(cells[0].field.dataset))
    intervals: list[tuple[float, float]] = []
    place = 0
    for cell in cells:
        block, width = cell.column.block, cell.column.block.part.shape[1]
        top = sums[:, place : place + width]
        if block.average == "ratio":
            level = ratio(top, sums[:, place + width : place + 2 * width])
        else:
            level = top / len(block.part) * block.scale
        place += width * len(_columns(block))
        ends = np.quantile(level[:, cell.pairs.first] - level[:, cell.pairs.second], (0.025, 0.975), axis=0)
        intervals += [(float(low), float(high)) for low, high in ends.T]
    return intervals


def _columns(block: Block) -> list[Floats]:
    if block.average == "ratio":
        return [bootstrap.exact(block.part), bootstrap.exact(block.whole)]
    return [bootstrap.exact(values(block))]


def _comparisons(
    cell: _Cell,
    family_name: str,
    alpha: float,
    tested: Tested,
    intervals: list[tuple[float, float]],
    start: int,
) -> list[Comparison]:
    block = cell.column.block
    level, each, plain = levels(block), pseudo_values(block), values(block)
    names = [cell.field.entries[i].name for i in cell.column.systems]
    comparisons = []
    for at, (a, b) in enumerate(zip(*(side.tolist() for side in cell.pairs), strict=True), start):
        differences = each[:, a] - each[:, b]
        seen = paired.detectable(differences, alpha)
        effect = paired.effect(differences)
        won, tied, lost = paired.outcomes(plain[:, a] - plain[:, b])
        comparisons.append(
            Comparison(
                cell.field.dataset, cell.column.label, names[a], names[b], cell.field.queries,
                (float(level[a]), float(level[b])), float(level[a] - level[b]), intervals[at],
                float(tested.p[at]), float(tested.adjusted[at]), effect if math.isfinite(effect) else None,
                won, tied, lost, None if seen is None else seen * block.scale, family_name,
                bool(tested.exact[at]),
            )
        )  # fmt: skip
    return comparisons


def _standings(loaded: Loaded, comparisons: Sequence[Comparison], settings: Settings) -> tuple[Standing, ...]:
    significant = {
        (item.dataset, item.measure, item.first, item.second)
        for item in comparisons
        if item.corrected < settings.alpha
    }
    standings = []
    for field in loaded.fields:
        for column in field.columns:
            names = [field.entries[i].name for i in column.systems]
            level = levels(column.block)
            different = np.array(
                [[(field.dataset, column.label, a, b) in significant for b in names] for a in names], np.bool_
            ).reshape(len(names), len(names))
            letters: Sequence[str | None] = [None] * len(names)
            if settings.pairs == "all":
                letters = tiers.letters(level, different | different.T)
            standings += [
                Standing(field.dataset, column.label, *item)
                for item in zip(names, level.tolist(), letters, strict=True)
            ]
    return tuple(standings)


def _hopeless(cells: Sequence[_Cell], settings: Settings) -> list[str]:
    """A note on each dataset with so few queries that no randomisation test can be significant."""
    few = {
        cell.field.dataset: cell.field.queries
        for cell in cells
        if settings.test == "randomisation" and 2.0 ** (1 - cell.field.queries) >= settings.alpha
    }
    return [
        f"{name}: {queries} queries are too few for any difference to be significant"
        for name, queries in few.items()
    ]
