"""Marks in a leaderboard's tables: which values are significantly better or worse than a baseline."""

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


def against(path: Path, baseline: str, datasets: tuple[str, ...], measures: tuple[str, ...]) -> Marked:
    """The marks of a leaderboard: a sign for rows that are significantly better and worse than the
    baseline, = for the baseline itself."""
    loaded = load([path], Filters(datasets, measures))
    entries = [entry for field in loaded.fields for entry in field.entries]
    check_baseline(baseline, entries)
    compared = compare(loaded, Settings("baseline", baseline))
    rows = {
        (field.dataset, entry.name): (entry.system, entry.row.origin)
        for field in loaded.fields
        for entry in field.entries
    }
    marks: dict[tuple[str, str, str, str], str] = {}
    for item in compared.comparisons:
        marks[item.dataset, item.measure, *rows[item.dataset, item.second]] = "="
        if item.corrected < compared.settings.alpha:
            mark = sign(item.difference, True)
            marks[item.dataset, item.measure, *rows[item.dataset, item.first]] = mark
    meaning = f"{BETTER} and {WORSE} mark what is significantly better and worse than {baseline} (=)"
    return Marked(marks, f"{meaning}; {method(compared)}")
