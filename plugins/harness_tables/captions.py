"""The words of a table's caption, which say what its signs mean, and the notes above it."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.toolkit import boards
from harness.toolkit.boards import Leaderboard, compared
from harness_tables.cells import Column, Look


class Shown(NamedTuple):
    board: Leaderboard
    columns: Sequence[Column]
    means: Mapping[str, Any]  # by the names of the averages
    look: Look
    renamed: Mapping[str, str]
    marked: compared.Marked | None
    options: argparse.Namespace

    def name(self, text: str) -> str:
        return self.renamed.get(text, text)


class Signs(NamedTuple):
    """What the cells of the table have."""

    ranks: bool
    marks: bool
    intervals: bool
    published: bool
    sums: Sequence[str]  # the labels of columns that are not in percent, if others are


def first(shown: Shown) -> str:
    """The first sentence: what is measured on what."""
    datasets = [
        top for top in dict.fromkeys(column.top for column in shown.columns) if top not in shown.means
    ]
    labels = list(dict.fromkeys(column.label for column in shown.columns))
    what = shown.name(labels[0]) if len(labels) == 1 else "Results"
    return f"{what} on {_listed([shown.name(name) for name in datasets])}."


def signs(shown: Shown, has: Signs) -> str:
    """The sentences that explain what the table has."""
    return " ".join(_signs(shown, has))


def _signs(shown: Shown, has: Signs) -> Iterator[str]:
    data, options = shown.board.data, shown.options
    if shown.look.percent:
        but = f" but {_listed([*map(shown.name, has.sums)])}" if has.sums else ""
        yield f"All values{but} are in percent."
    if has.ranks:
        yield "The best value of each column is bold, the second underlined."
    if shown.marked is not None:
        method = shown.marked.note.partition("; ")[2].replace("; significant below ", ", corrected p < ")
        if options.tiers:
            yield f"Systems that share a letter in a column do not differ significantly: {method}."
        elif has.marks:
            better = f"{compared.BETTER} and {compared.WORSE}: significantly better and worse"
            on_means = (
                "; averages by Holm's correction over the systems" if shown.means and data.averages else ""
            )
            yield f"{better} than {shown.name(options.baseline)} by a {method}{on_means}."
        else:
            yield f"No difference from {shown.name(options.baseline)} is significant by a {method}."
    if has.intervals:
        yield "In brackets: 95 % bootstrap intervals over the queries."
    for average in data.averages or ():
        if average.name in shown.means:
            yield f"{shown.name(average.name)}: the mean of {_listed([*map(shown.name, average.datasets)])}."
    if shown.means and not data.averages:
        yield f"{shown.name('Average')}: the mean of the datasets."
    if has.published:
        yield "Published values are as their papers print them."
    if options.tuned and (tuned := boards.tuned(shown.board)):
        yield f"Tuned: {'; '.join(tuned)}."
    if trials := [shown.name(item.name) for item in data.datasets if item.limited]:
        yield f"A trial, on a part of {_listed(trials)}: not comparable with other results."


def notes(shown: Shown, systems: Collection[str]) -> Iterator[str]:
    """What the reader of the source should know of the rows: failures, flags, and what is left out."""
    for row in shown.board.rows:
        if row.status == "failed":
            yield f"{row.name} failed: {row.error or 'no reason is given'}"
        elif row.system in systems:
            yield from (f"{row.name}: {flag}" for flag in row.flags)
        elif boards.fits(row.system, shown.options.system):
            yield f"{row.name} has no value in these columns, and is left out"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1] if names else ""]))
