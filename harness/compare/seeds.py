"""Compares recipes over their seeds: whether a difference is more than the luck of a seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.compare.data import Loaded
from harness.compare.fields import Column, Field
from harness.compare.stats import family
from harness.compare.stats.block import pseudo_values
from harness.leaderboard.text_tables import Table, sign
from harness.scoring import seeds


class Recipes(NamedTuple):
    """A pair of recipes in one measure on one dataset: `first` minus `second`, over queries and seeds
    together. A system without seeds counts as one seed, taken as given."""

    dataset: str
    measure: str
    first: str
    second: str
    seeds: tuple[int, int]
    queries: int
    difference: float
    interval: tuple[float, float]  # 95 %, for this difference alone
    seed_error: float  # the part of the standard error that comes from the seeds
    p: float
    corrected: float  # corrected by Holm, over the pairs of recipes of this measure and dataset


def compared(loaded: Loaded, baseline: str | None = None) -> tuple[Recipes, ...]:
    """All pairs in which at least one recipe has several seeds; with a baseline, only its pairs."""
    return tuple(item for field in loaded.fields for column in field.columns
                 for item in _pairs(field, column, baseline))  # fmt: skip


def _pairs(field: Field, column: Column, baseline: str | None) -> Iterator[Recipes]:
    members = _members(field, column)
    each, scale = pseudo_values(column.block), column.block.scale
    chosen = [
        (one, other)
        for one, other in itertools.combinations(members, 2)
        if max(len(members[one]), len(members[other])) > 1
    ]
    if baseline is not None:
        base = next(
            (name for name in members if baseline in (name, *_names(field, column, members[name]))), None
        )
        chosen = [pair if pair[1] == base else pair[::-1] for pair in chosen if base in pair]
    spreads = [seeds.difference(*(each[:, members[name]].T for name in pair)) for pair in chosen]
    p = np.array([spread.p for spread in spreads])
    corrected = family.holm(p, np.zeros(len(p), np.int64)) if len(p) else p
    for (one, other), spread, adjusted in zip(chosen, spreads, corrected.tolist(), strict=True):
        low, high = spread.interval
        yield Recipes(
            field.dataset, column.label, one, other, (len(members[one]), len(members[other])), field.queries,
            spread.value * scale, (low * scale, high * scale), sum(spread.variances[1:]) ** 0.5 * scale,
            spread.p, adjusted,
        )  # fmt: skip


def _members(field: Field, column: Column) -> dict[str, list[int]]:
    """The columns of the block that belong to each recipe, or to each system without seeds."""
    members: dict[str, list[int]] = {}
    for place, number in enumerate(column.systems):
        entry = field.entries[number]
        name = entry.name if not entry.row.recipe else entry.name.replace(entry.system, entry.row.recipe)
        members.setdefault(name, []).append(place)
    return members


def _names(field: Field, column: Column, places: Sequence[int]) -> list[str]:
    return [field.entries[column.systems[place]].system for place in places]


def tables(items: Sequence[Recipes], alpha: float) -> list[Table]:
    """The tables that compare recipes, one for each dataset and measure."""
    shown = []
    head = ("pair", "seeds", "difference", "95 %", "se of seeds", "p", "corrected", "verdict")
    for (dataset, measure), group in itertools.groupby(items, key=lambda item: (item.dataset, item.measure)):
        lines = tuple(
            (
                f"{item.first} - {item.second}",
                f"{item.seeds[0]}/{item.seeds[1]}",
                f"{item.difference:+.4f}{sign(item.difference, item.corrected < alpha)}",
                f"[{item.interval[0]:+.3f}, {item.interval[1]:+.3f}]",
                f"{item.seed_error:.4f}",
                f"{item.p:.4f}",
                f"{item.corrected:.4f}",
                verdict(item, alpha),
            )
            for item in group
        )
        shown.append(Table(f"{dataset}: {measure}, over seeds", head, lines))
    return shown


def verdict(item: Recipes, alpha: float) -> str:
    """What the test allows to conclude about the difference."""
    if item.corrected < alpha:
        return "more than luck"
    if abs(item.difference) <= 2 * item.seed_error:
        return "within the luck of seeds"
    return "not shown"
