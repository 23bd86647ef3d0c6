"""How systems stand: the best column of a dataset, tiers, means over seeds, and ranks across datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from harness.plugin import HarnessError
from harness.toolkit.boards import Leaderboard, Row, compared, results
from harness_site.collected import Entry, Line

Floats = NDArray[np.float64]
MOST = 1_000_000  # the most values of queries that are compared for the tiers of one table
RESAMPLES = 1000
FEWEST = 5  # the fewest datasets that are resampled: fewer say nothing about the next one

Key = tuple[str, str, float]  # the system, its origin and its mean: what a row is in any leaderboard


class Placed(NamedTuple):
    """A system of a card: a row, or a recipe as the mean of its seeds."""

    name: str
    mean: float
    low: float | None
    high: float | None
    lines: tuple[Line, ...]


class Ranked(NamedTuple):
    """A system's ranks on the datasets of a group, and their mean with its interval."""

    system: str
    origin: str
    ranks: tuple[float, ...]
    scores: tuple[float, ...]
    mean: float
    low: float | None
    high: float | None


class Group(NamedTuple):
    """The systems of a leaderboard that stand on the same datasets."""

    entry: Entry
    datasets: tuple[str, ...]
    labels: tuple[str, ...]
    systems: tuple[Ranked, ...]
    over: str  # what was resampled: "queries", "datasets" or nothing


def primary(rows: Sequence[Row], columns: Sequence[str]) -> str | None:
    """The first column that at least half of the scored rows have; if there is none, the most frequent."""
    scored = [row for row in rows if row.measures]
    counts = {label: sum(label in row.measures for row in scored) for label in columns}
    half = [label for label in columns if 2 * counts[label] >= len(scored)]
    return next(iter(half), max(counts, key=lambda label: counts[label], default=None)) if scored else None


def columns(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(label for line in lines for label in line.entry.board.columns))


class Tiers:
    """The letters of the tables of a site. Those of the same rows are computed once."""

    def __init__(self) -> None:
        self.known: dict[tuple[str | None, frozenset[Key]], dict[Key, str]] = {}

    def __call__(self, lines: Sequence[Line], label: str | None) -> dict[Key, str]:
        keys = frozenset(key_of(line.row, label) for line in lines if label and label in line.row.measures)
        key = (f"{label} of {lines[0].row.dataset} in {lines[0].contents}", keys)
        if key not in self.known:
            self.known[key] = _letters(lines, label)
        return self.known[key]


def _letters(lines: Sequence[Line], label: str | None) -> dict[Key, str]:
    """The letters of the rows of one dataset in one column, as `harness compare` finds them for all pairs of
    these leaderboards; systems that share a letter do not differ significantly. Empty if the leaderboards
    cannot be compared, or if there are too many values."""
    tested = [line for line in lines if line.row.status == "ok" and "per_query" in line.row.files]
    values = sum(line.row.measures[label].queries or 0 for line in tested if label in line.row.measures)
    if label is None or len(tested) < 2 or values > MOST:
        return {}
    boards = {}
    for line in tested:
        rows = tuple(other.row for other in tested if other.entry is line.entry)
        data = structs.replace(line.entry.board.data, datasets=(line.dataset,), rows=rows)
        boards[line.entry.slug] = Leaderboard(data, line.entry.board.folder)
    wanted = compared.Filters(measures=(literal(label),))
    try:
        loaded = compared.of_boards(list(boards.values()), list(boards), wanted)
        outcome = compared.compare(loaded._replace(averages=()), compared.Settings())
    except HarnessError:
        return {}
    named = {entry.name: entry.row for field in loaded.fields for entry in field.entries}
    return {
        key_of(named[item.system], label): item.tier for item in outcome.standings if item.tier is not None
    }


def key_of(row: Row, label: str) -> Key:
    return row.system, row.origin, row.measures[label].mean


def by_recipe(lines: Sequence[Line], label: str) -> list[Placed]:
    """The systems of one dataset, best first. The seeds of a recipe are one system: their mean, with the
    interval over seeds and queries from the leaderboard's own table of seeds. Rows of one name with equal
    scores and intervals in several leaderboards are one system."""
    members: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        if label in line.row.measures:
            name = line.row.recipe or line.row.system
            members.setdefault((name, line.entry.slug, line.row.origin), []).append(line)
    placed: dict[object, Placed] = {}
    for (name, _, _), group in members.items():
        first = group[0].row.measures[label]
        low, high = first.ci95 or (None, None)
        if len(group) == 1:
            name = group[0].row.system
            same = placed.get((name, first), Placed(name, first.mean, low, high, ()))
            placed[name, first] = same._replace(lines=(*same.lines, *group))
            continue
        mean = float(np.mean([line.row.measures[label].mean for line in group]))
        low, high = _over_seeds(group[0], name, label)
        placed[name, group[0].entry.slug] = Placed(name, mean, low, high, tuple(group))
    return sorted(placed.values(), key=lambda item: (-item.mean, item.name))


def _over_seeds(line: Line, recipe: str, label: str) -> tuple[float | None, float | None]:
    for finding in line.entry.board.data.analyses or ():
        if finding.name == f"{results.SEEDS}{line.row.dataset}":
            for row in finding.rows:
                numbers = dict(zip(finding.columns, row, strict=True))
                low, high = numbers.get("low"), numbers.get("high")
                same = (numbers.get("system"), numbers.get("measure")) == (recipe, label)
                if same and isinstance(low, int | float) and isinstance(high, int | float):
                    return low, high
    return None, None


def groups(entries: Sequence[Entry]) -> list[Group]:
    """The ranks of every leaderboard in which several systems stand on several datasets. Groups with
    intervals over queries come first, and larger groups before smaller ones."""
    found = [group for entry in entries if not entry.earlier and (group := _group(entry))]
    return sorted(
        found, key=lambda group: (group.over != "queries", -len(group.datasets) * len(group.systems))
    )


def _group(entry: Entry) -> Group | None:
    """The group of one leaderboard: those datasets that give the most numbers to rank. Trials are left out,
    and so is what no plugin reads, such as the averages of a paper's table."""
    real = [item.name for item in entry.board.data.datasets if not item.limited and item.plugin]
    tables: dict[str, dict[tuple[str, str], list[Row]]] = {}
    labels: dict[str, str] = {}
    for name in real:
        rows = [row for row in entry.board.rows_of(name) if row.status == "ok"]
        label = primary(rows, entry.board.columns)
        if label is None:
            continue
        labels[name] = label
        for row in rows:
            if label in row.measures:
                key = (row.recipe or row.system, row.origin)
                tables.setdefault(name, {}).setdefault(key, []).append(row)
    systems = dict.fromkeys(key for rows in tables.values() for key in rows)
    choices = {tuple(name for name in tables if key in tables[name]) for key in systems}
    shared = max(
        sorted(choices),
        key=lambda names: len(names) * sum(all(key in tables[name] for name in names) for key in systems),
        default=(),
    )
    kept = [key for key in systems if all(key in tables[name] for name in shared)]
    if len(shared) < 2 or len(kept) < 2:
        return None
    means = np.array(
        [
            [np.mean([row.measures[labels[name]].mean for row in tables[name][key]]) for name in shared]
            for key in kept
        ]
    )  # float64[S, D]
    ranks = ranked(means)
    drawn, over = _resampled(entry, tables, labels, shared, kept, ranks)
    ends = np.percentile(drawn, [2.5, 97.5], axis=0) if drawn is not None else None
    lines = [
        Ranked(
            system, origin, tuple(ranks[i].tolist()), tuple(means[i].tolist()), float(ranks[i].mean()),
            None if ends is None else float(ends[0, i]), None if ends is None else float(ends[1, i]),
        )
        for i, (system, origin) in enumerate(kept)
    ]  # fmt: skip
    lines.sort(key=lambda item: (item.mean, item.system))
    return Group(entry, shared, tuple(labels[name] for name in shared), tuple(lines), over)


def ranked(scores: Floats) -> Floats:
    """float64[S, ...]: the rank of each system (the first axis), 1 for the highest score. Equal scores share
    the mean of their ranks."""
    above = (scores[None, :] > scores[:, None]).sum(axis=1)
    equal = (scores[None, :] == scores[:, None]).sum(axis=1)
    ranks: Floats = above + (equal + 1) / 2
    return ranks


def _resampled(
    entry: Entry,
    tables: Mapping[str, Mapping[tuple[str, str], Sequence[Row]]],
    labels: Mapping[str, str],
    shared: Sequence[str],
    kept: Sequence[tuple[str, str]],
    ranks: Floats,
) -> tuple[Floats | None, str]:
    """float64[R, S]: the mean rank of each system on resamples, and what was resampled. All systems see the
    same resamples. Queries are resampled within each dataset if all their values are kept; otherwise the
    datasets, if there are enough."""
    draws = np.random.default_rng(0)
    total = np.zeros((RESAMPLES, len(kept)))
    for name in shared:
        values = _values(entry, [tables[name][key] for key in kept], labels[name])
        if values is None:
            if len(shared) < FEWEST:
                return None, ""
            chosen = draws.integers(0, len(shared), size=(RESAMPLES, len(shared)))
            return ranks[:, chosen].mean(axis=2).T, "datasets"
        count = values.shape[1]
        drawn = draws.multinomial(count, [1 / count] * count, size=RESAMPLES)
        total += ranked(np.round(values @ drawn.T / count, 12)).T
    return total / len(shared), "queries"


def _values(entry: Entry, systems: Sequence[Sequence[Row]], label: str) -> Floats | None:
    """float64[S, Q]: the values of the queries that all systems have, each system the mean of its seeds; None
    if they do not make up the rows' means."""
    rows = [row for members in systems for row in members]
    values = results.queries_of(entry.board, rows, label).values
    if not values.size or not np.allclose(
        np.nanmean(values, axis=1) if np.isfinite(values).any(axis=1).all() else np.nan,
        [row.measures[label].mean for row in rows],
        atol=1e-4,
    ):
        return None
    values = values[:, np.isfinite(values).all(axis=0)]
    ends = np.cumsum([0, *map(len, systems)])
    means = [values[a:b].mean(axis=0) for a, b in pairwise(ends)]
    return np.stack(means) if values.size else None


def literal(text: str) -> str:
    """The text as a pattern that fits only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)
