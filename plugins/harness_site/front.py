"""The front page: a card for each dataset, ranks across datasets, and all rows folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.plugin import JSON
from harness_site import standings
from harness_site.cells import ORIGINS, grouped, link, score, table
from harness_site.collected import Entry, Line, slug_of, states
from harness_site.standings import Group, Placed, Ranked, Tiers

SHOWN = 3  # systems of a card
POINTS = 40  # the most systems of a plot: the best ones

OVER = {
    "queries": (
        f"Intervals: 95 % of {standings.RESAMPLES:,} bootstrap resamples of the queries of each dataset; "
        "all systems are ranked on the same resamples."
    ),
    "datasets": (
        f"Intervals: 95 % of {standings.RESAMPLES:,} bootstrap resamples of the datasets, since values "
        "of queries are not known; all systems are ranked on the same resamples."
    ),
    "": "Without values of queries, and with so few datasets, ranks have no intervals.",
}


def front(entries: Sequence[Entry], lines: Sequence[Line], tiers: Tiers) -> dict[str, JSON]:
    """The parts of the front page beside its tables."""
    cards = [
        card
        for name, group in grouped(lines, lambda line: line.row.dataset)
        if (card := _card(name, group, tiers))
    ]
    cards.sort(key=lambda card: (card["date"], len(card["points"]), card["name"]), reverse=True)
    return {"cards": cards, "groups": [_ranks(group) for group in standings.groups(entries)]}


def tables(entries: Sequence[Entry], lines: Sequence[Line]) -> list[dict[str, JSON]]:
    now = [line for line in lines if not line.entry.earlier]
    boards = [
        [
            link(entry.name, "boards", entry.slug, entry.board.data.description),
            len(entry.board.data.datasets), len({row.system for row in entry.board.rows}),
            ", ".join(sorted({ORIGINS[row.origin] for row in entry.board.rows})), entry.date,
        ]
        for entry in entries if not entry.earlier
    ]  # fmt: skip
    heads = [
        "dataset",
        "language",
        "#leaderboards",
        "#systems",
        "measure",
        "#best run here",
        "by",
        "#best published",
    ]
    datasets = [_dataset_row(name, group) for name, group in grouped(now, lambda line: line.row.dataset)]
    rows = ["system", "dataset", "leaderboard", "origin", "measure", "#score"]
    return [
        {
            **table("Leaderboards", ["leaderboard", "#datasets", "#systems", "rows", "changed"], boards),
            "first": 8,
        },
        {**table("All datasets", heads, datasets), "folded": True},
        {**table("All rows", rows, [_row(line) for line in now]), "folded": True},
    ]


def _card(name: str, lines: Sequence[Line], tiers: Tiers) -> dict[str, JSON] | None:
    """The best systems of a dataset: of its data and split with the most current rows, without trials."""
    scored = [line for line in lines if line.row.origin != "published" and not line.dataset.limited]
    parted = states([line for line in scored if line.row.measures])
    if not parted:
        return None
    state = max(parted, key=lambda lines: sum(not line.entry.earlier for line in lines))
    now = [line for line in state if not line.entry.earlier]
    label = standings.primary([line.row for line in now], standings.columns(now))
    if not now or label is None:
        return None
    placed = standings.by_recipe(now, label)
    letters, within = tiers(now, label), ""
    if not letters:  # the leaderboards cannot be compared: the letters of the one with the best system
        board = placed[0].lines[0].entry
        letters = tiers([line for line in now if line.entry is board], label)
        within = board.name if letters else ""
    split = state[0].row.split
    papers = [line for line in lines if line.row.origin == "published" and line.row.split == split]
    papers = [line for line in papers if label in line.row.measures]
    best = max(papers, key=lambda line: line.row.measures[label].mean, default=None)
    counts = state[0].dataset.counts
    return {
        "name": name,
        "href": f"datasets/{slug_of(name)}.html",
        "split": split,
        "language": state[0].dataset.language,
        "queries": counts.get("judged_queries"),
        "passages": counts.get("passages"),
        "measure": label,
        "date": max(line.entry.date for line in now),
        "within": within,
        "systems": [_placed(item, label, letters) for item in placed[:SHOWN]],
        "count": len(placed),
        "published": best and [best.row.system, score(best.row.measures[label])],
        "points": [_placed(item, label, letters) for item in placed[:POINTS]],
        "history": _history(state, label),
    }


def _placed(item: Placed, label: str, letters: Mapping[standings.Key, str]) -> dict[str, JSON]:
    first = item.lines[0]
    seconds = [line.row.cost.seconds for line in item.lines if line.row.cost.seconds is not None]
    own = {letters.get(standings.key_of(line.row, label)) for line in item.lines} - {None}
    boards = ", ".join(dict.fromkeys(line.entry.name for line in item.lines))
    seeds = len({line.row.system for line in item.lines})
    return {
        "name": item.name,
        "href": f"systems/{slug_of(first.row.system)}.html",
        "says": (f"mean of {seeds} seeds, " if seeds > 1 else "") + boards,
        "mean": item.mean,
        "low": item.low,
        "high": item.high,
        "tier": own.pop() if len(own) == 1 else None,
        "seconds": float(np.mean(seconds)) if seconds else None,
    }


def _history(lines: Sequence[Line], label: str) -> list[JSON]:
    """[date, best score, system] of each date on which a leaderboard of this data changed."""
    dated: list[JSON] = []
    for date, group in grouped(lines, lambda line: line.entry.date):
        having = [line for line in group if label in line.row.measures]
        if having:
            best = max(having, key=lambda line: line.row.measures[label].mean)
            dated.append([date, best.row.measures[label].mean, best.row.system])
    return dated


def _ranks(group: Group) -> dict[str, JSON]:
    heads = ["system", "#mean rank", *(f"#{name}" for name in group.datasets)]
    rows = [_ranked(item) for item in group.systems]
    measures = ", ".join(dict.fromkeys(group.labels))
    note = (
        f"Ranks by {measures} among {len(rows)} systems of one leaderboard that ran on all of these datasets."
    )
    return {
        **table(f"Ranks in {group.entry.name}", heads, rows, f"{note} {OVER[group.over]}", sort=1),
        "name": group.entry.name,
        "href": f"boards/{group.entry.slug}.html",
        "ascending": True,
        "drawn": 1,
    }


def _ranked(item: Ranked) -> JSON:
    name = item.system if item.origin != "published" else f"{item.system} (published)"
    ranks: list[JSON] = [
        {"mean": rank, "low": None, "high": None, "digits": 0 if rank == int(rank) else 1, "best": rank == 1,
         "beside": f"{value:.4f}"}
        for rank, value in zip(item.ranks, item.scores, strict=True)
    ]  # fmt: skip
    mean = {"mean": item.mean, "low": item.low, "high": item.high, "digits": 2, "best": False}
    return [link(name, "systems", slug_of(item.system)) if item.origin == "published" else name, mean, *ranks]


def _dataset_row(name: str, lines: Sequence[Line]) -> JSON:
    """The table row of a dataset: its best run and its best published row in the dataset's first column."""
    label = standings.primary([line.row for line in lines], standings.columns(lines))
    here = _best([line for line in lines if line.row.origin != "published"], label)
    published = _best([line for line in lines if line.row.origin == "published"], label)
    return [
        link(name, "datasets", slug_of(name)),
        ", ".join(sorted({line.dataset.language for line in lines if line.dataset.language})),
        len({line.entry.slug for line in lines}),
        len({line.row.system for line in lines}),
        label or "",
        score(here.row.measures[label]) if here and label else None,
        link(here.row.system, "systems", slug_of(here.row.system)) if here else None,
        score(published.row.measures[label]) if published and label else None,
    ]


def _row(line: Line) -> JSON:
    label = standings.primary([line.row], line.entry.board.columns)
    return [
        link(line.row.system, "systems", slug_of(line.row.system)),
        link(line.row.dataset, "datasets", slug_of(line.row.dataset)),
        link(line.entry.name, "boards", line.entry.slug),
        ORIGINS[line.row.origin],
        label or "failed",
        score(line.row.measures[label]) if label else None,
    ]


def _best(lines: Sequence[Line], label: str | None) -> Line | None:
    having = [line for line in lines if label in line.row.measures and not line.dataset.limited]
    return max(having, key=lambda line: line.row.measures[label].mean) if having and label else None
