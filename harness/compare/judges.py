"""Compares the orders of systems by people's judgements and by a machine's judgements of the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from harness.compare.data import Judged
from harness.leaderboard.text_tables import Table

if TYPE_CHECKING:
    from harness.compare.significance import Comparison, Standing

EXPLAINED = (
    "Of people's and a machine's judgements of the same queries and passages, tau is Kendall's tau-b of the "
    "systems' means; told apart are pairs of systems whose difference is significant by people's judgements."
)


class OrderAgreement(NamedTuple):
    """One measure on two datasets that differ only in who judged them."""

    people: str
    machine: str
    measure: str
    systems: int
    pairs: int
    alike: int  # pairs of systems in the same order
    told_apart: int  # pairs that differ significantly by people's judgements
    told_apart_alike: int
    tau: float | None  # None if all systems are tied in one of the two orders


def agreements(
    judged: Sequence[Judged], standings: Sequence[Standing], comparisons: Sequence[Comparison], alpha: float
) -> tuple[OrderAgreement, ...]:
    """The agreement of each dataset that a machine judged, at least in part, with each dataset of the same
    queries and passages that people judged."""
    means: dict[str, dict[str, dict[str, float]]] = {}  # dataset -> measure -> system -> mean
    for item in standings:
        means.setdefault(item.dataset, {}).setdefault(item.measure, {})[item.system] = item.mean
    sure = {
        (item.dataset, item.measure, frozenset((item.first, item.second)))
        for item in comparisons
        if item.corrected < alpha
    }
    made = []
    for machine in (item for item in judged if item.by_machine):
        for people in (item for item in judged if not item.by_machine):
            if (people.corpus, people.queries) != (machine.corpus, machine.queries):
                continue
            for measure, by_people in means.get(people.dataset, {}).items():
                by_machine = means.get(machine.dataset, {}).get(measure, {})
                systems = [name for name in by_people if name in by_machine]
                if len(systems) > 1:
                    distinguished = {
                        pair
                        for pair in combinations(systems, 2)
                        if (people.dataset, measure, frozenset(pair)) in sure
                    }
                    names = people.dataset, machine.dataset, measure
                    made.append(_agreement(names, systems, by_people, by_machine, distinguished))
    return tuple(made)


def _agreement(
    names: tuple[str, str, str], systems: Sequence[str], by_people: dict[str, float],
    by_machine: dict[str, float], distinguished: set[tuple[str, str]],
) -> OrderAgreement:  # fmt: skip
    pairs = list(combinations(systems, 2))
    signs = [
        (_sign(by_people[one] - by_people[other]), _sign(by_machine[one] - by_machine[other]))
        for one, other in pairs
    ]
    alike = [pair for pair, (first, second) in zip(pairs, signs, strict=True) if first == second]
    untied = [sum(pair[side] != 0 for pair in signs) for side in (0, 1)]
    tau = (
        sum(first * second for first, second in signs) / (untied[0] * untied[1]) ** 0.5
        if all(untied)
        else None
    )
    return OrderAgreement(
        *names,
        len(systems),
        len(pairs),
        len(alike),
        len(distinguished),
        len(distinguished.intersection(alike)),
        tau,
    )


def _sign(value: float) -> int:
    return int(value > 1e-12) - int(value < -1e-12)  # smaller differences come from the order of summation


def tables(items: Sequence[OrderAgreement]) -> list[Table]:
    rows = [
        (
            f"{item.people} / {item.machine}",
            item.measure,
            f"{item.alike} of {item.pairs}",
            f"{item.told_apart_alike} of {item.told_apart}",
            "" if item.tau is None else f"{item.tau:+.3f}",
        )
        for item in items
    ]
    head = ("people / machine", "measure", "pairs in the same order", "of those told apart", "tau")
    return (
        [Table("The order of systems by people's and by a machine's judgements", head, tuple(rows))]
        if rows
        else []
    )
