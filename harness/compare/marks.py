"""Marks in a leaderboard's tables: what is significantly better or worse than a baseline, and tiers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.compare.data import Filters, check_baseline, load
from harness.compare.significance import Settings, compare
from harness.compare.text import method
from harness.leaderboard.text_tables import BETTER, WORSE, Marks, sign


class Marked(NamedTuple):
    marks: Marks
    note: str  # what the marks mean


def of(path: Path, settings: Settings, filters: Filters) -> Marked:
    """The marks of a leaderboard. With a baseline: a sign for rows and averages that are significantly better
    and worse, and = for the baseline itself. Without one: the letters of each row's tier."""
    loaded = load([path], filters)
    entries = [entry for field in loaded.fields for entry in field.entries]
    check_baseline(settings.baseline, entries)
    compared = compare(loaded, settings)
    rows = {
        (field.dataset, entry.name): (entry.system, entry.row.origin)
        for field in loaded.fields
        for entry in field.entries
    }
    marks: dict[tuple[str, str, str, str], str] = {}
    if settings.pairs == "all":
        for place in compared.standings:
            marks[place.dataset, place.measure, *rows[place.dataset, place.system]] = place.tier or ""
        return Marked(marks, f"systems that share a letter cannot be told apart; {method(compared)}")
    for item in compared.comparisons:
        marks[item.dataset, item.measure, *rows[item.dataset, item.second]] = "="
        if item.corrected < settings.alpha:
            mark = sign(item.difference, True)
            marks[item.dataset, item.measure, *rows[item.dataset, item.first]] = mark
    for pair in compared.averages:
        mark = sign(pair.difference, pair.corrected < settings.alpha)
        marks[pair.average, pair.measure, *rows[pair.datasets[0], pair.first]] = mark
    meaning = f"{BETTER} and {WORSE} mark what is significantly better and worse than {settings.baseline} (=)"
    return Marked(marks, f"{meaning}; {method(compared)}")
