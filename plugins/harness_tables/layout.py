"""What a table for a paper holds: its columns, its rows in groups, their cells, and its caption."""

from __future__ import annotations

import argparse
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from harness.plugin import HarnessError
from harness.toolkit import boards
from harness.toolkit.boards import Leaderboard, Measure, compared
from harness_tables import captions
from harness_tables.cells import Cell, Column, Look, filled, is_share

PUBLISHED = "Published"
Means: TypeAlias = dict[
    str, dict[tuple[str, str], dict[str, Measure]]
]  # average -> (system, origin) -> column


class Row(NamedTuple):
    name: str
    cells: tuple[Cell, ...]


class Group(NamedTuple):
    """Rows between two rules."""

    title: str
    rows: tuple[Row, ...]


class Head(NamedTuple):
    """Columns that stand side by side, under a title if there are several heads."""

    title: str
    names: tuple[str, ...]


class Table(NamedTuple):
    heads: tuple[Head, ...]
    groups: tuple[Group, ...]
    caption: str
    label: str
    wide: bool
    notes: tuple[str, ...]  # written as comments

    @property
    def columns(self) -> int:
        return sum(len(head.names) for head in self.heads)

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @property
    def intervals(self) -> bool:
        return any(cell.interval for row in self.rows for cell in row.cells)

    def room(self, column: int) -> str:
        """The longest mark of a column, for which all its cells leave room."""
        return max((row.cells[column].mark for row in self.rows), key=len)


class _System(NamedTuple):
    name: str
    origin: str
    measures: dict[tuple[str, str], Measure]  # (dataset or average, column) -> its mean


def of(options: argparse.Namespace) -> Table:
    """The table that the options of `harness table` describe."""
    board = boards.beside(boards.read(options.leaderboard), [boards.read(path) for path in options.beside])
    board = boards.selected(board, options.dataset, options.measure, options.sort)
    names = {row.system for row in board.rows}
    titled = [_group(text) for text in options.group]
    boards.check_patterns("system", names, options.system)
    boards.check_patterns("system", names, [each for _, patterns in titled for each in patterns], "group")
    means = _means(board) if options.average else {}
    known = {*names, *board.columns, *(item.name for item in board.data.datasets), *means}
    renamed = _renamed(options.rename, known)
    systems = [
        system
        for system in _systems(board, means)
        if boards.fits(system.name, options.system) and system.measures
    ]
    datasets = _ordered([item.name for item in board.data.datasets], options.dataset)
    columns = _columns([*datasets, *means], _ordered(board.columns, options.measure), systems, options.by)
    if not columns:
        raise HarnessError(f"{board.data.name}: no row has a value for the table; check the filters")
    marked = _marked(options, board, systems)
    look = Look(options.decimals, options.percent, options.intervals == "below")
    measures = [system.measures for system in systems]
    cells = filled(measures, columns, look)
    if marked is not None:
        for system, row in zip(systems, cells, strict=True):
            for i, column in enumerate(columns):
                mark = marked.marks.get((*column, system.name, system.origin), "")
                row[i] = row[i]._replace(mark=mark.replace("=", ""))
    groups = _grouped(systems, cells, titled, options.system, renamed)
    shown = captions.Shown(board, columns, means, look, renamed, marked, options)
    has = captions.Signs(
        any(cell.rank for row in cells for cell in row),
        any(cell.mark for row in cells for cell in row),
        any(cell.interval for row in cells for cell in row),
        any(system.origin == "published" for system in systems),
        list(dict.fromkeys(column.label for column in columns if not is_share(measures, column))),
    )
    return Table(
        _heads(columns, options.by, renamed),
        tuple(groups),
        clean(options.caption or captions.first(shown)) + " " + clean(captions.signs(shown, has)),
        options.label or f"tab:{board.data.name}",
        options.wide,
        (f"{board.data.name}, by harness table", *captions.notes(shown, {system.name for system in systems})),
    )


def clean(text: str) -> str:
    """The text on one line, without characters that cannot be seen."""
    return "".join(
        each for each in " ".join(text.split()) if unicodedata.category(each) not in ("Cc", "Cf", "Co", "Cs")
    )


def _group(text: str) -> tuple[str, list[str]]:
    title, equals, patterns = text.partition("=")
    if not equals or not patterns:
        raise HarnessError(f"--group {text}: expected TITLE=GLOB,...; write it as 'Lexical=bm25*,ql'")
    return title, patterns.split(",")


def _renamed(given: Sequence[str], known: set[str]) -> dict[str, str]:
    renamed = {}
    for text in given:
        old = next(
            (name for name in sorted(known, key=len, reverse=True) if text.startswith(f"{name}=")), None
        )
        if old is None:
            boards.check_patterns("name", known, [text.partition("=")[0]], "rename")
            raise HarnessError(f"--rename {text}: expected OLD=NEW; write what stands in the table")
        renamed[old] = text[len(old) + 1 :]
    return renamed


def _ordered(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The names in the order of the first pattern that each matches."""
    place = {
        name: next((i for i, one in enumerate(patterns) if boards.fits(name, (one,))), 0) for name in names
    }
    return sorted(names, key=lambda name: place[name])


def _means(board: Leaderboard) -> Means:
    """Average -> system, and its origin -> column -> its mean: the averages that the suite
    names, or the mean over all datasets that are shown, of the systems that have each."""
    if board.data.averages:
        return {
            item.name: {(row.system, row.origin): row.measures for row in item.rows}
            for item in board.data.averages
        }
    datasets = [item.name for item in board.data.datasets]
    by_system: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for row in board.rows:
        columns = by_system.setdefault((row.system, row.origin), {})
        for label, measure in row.measures.items():
            columns.setdefault(label, {})[row.dataset] = measure.mean
    return {
        "Average": {
            system: {
                label: Measure(sum(values.values()) / len(datasets), None, None)
                for label, values in columns.items()
                if len(values) == len(datasets)
            }
            for system, columns in by_system.items()
        }
    } if len(datasets) > 1 else {}  # fmt: skip


def _systems(board: Leaderboard, means: Means) -> list[_System]:
    systems: dict[tuple[str, str], dict[tuple[str, str], Measure]] = {}
    for row in board.rows:
        measures = systems.setdefault((row.system, row.origin), {})
        measures |= {
            (row.dataset, label): value for label, value in row.measures.items() if label in board.columns
        }
    for average, rows in means.items():
        for system, values in rows.items():
            systems.setdefault(system, {}).update(
                {(average, label): value for label, value in values.items() if label in board.columns}
            )
    return [_System(*system, measures) for system, measures in systems.items()]


def _columns(tops: Sequence[str], labels: Sequence[str], systems: Sequence[_System], by: str) -> list[Column]:
    every = (
        [(top, label) for top in tops for label in labels]
        if by == "dataset"
        else [(top, label) for label in labels for top in tops]
    )
    return [Column(*each) for each in every if any(each in system.measures for system in systems)]


def _heads(columns: Sequence[Column], by: str, renamed: dict[str, str]) -> tuple[Head, ...]:
    tops, labels = ({column[i] for column in columns} for i in (0, 1))
    outer = 0 if by == "dataset" else 1
    if len(tops) == 1 or len(labels) == 1:  # the caption names the other
        inner = 1 if len(tops) == 1 else 0
        return (Head("", tuple(_name(column[inner], renamed) for column in columns)),)
    made: dict[str, list[str]] = {}
    for column in columns:
        made.setdefault(column[outer], []).append(_name(column[1 - outer], renamed))
    return tuple(Head(_name(title, renamed), tuple(names)) for title, names in made.items())


def _name(text: str, renamed: dict[str, str]) -> str:
    return clean(renamed.get(text, text))


def _marked(
    options: argparse.Namespace, board: Leaderboard, systems: Sequence[_System]
) -> compared.Marked | None:
    if options.baseline is None and not options.tiers:
        return None
    if options.baseline is not None and options.tiers:
        raise HarnessError("--tiers: compares all pairs, --baseline each with one; leave out one of the two")
    names = tuple(system.name for system in systems if system.origin != "published")
    if options.baseline is not None and options.baseline not in names:
        boards.check_patterns("system", set(names), [options.baseline], "baseline")
    filters = compared.Filters(tuple(item.name for item in board.data.datasets), tuple(board.columns), names)
    settings = compared.Settings(
        "all" if options.tiers else "baseline", options.baseline, options.family, options.test,
        options.correction, None, options.alpha,
    )  # fmt: skip
    return compared.of(options.leaderboard, settings, filters)


def _grouped(
    systems: Sequence[_System], cells: Sequence[Sequence[Cell]], titled: Sequence[tuple[str, list[str]]],
    order: Sequence[str], renamed: dict[str, str],
) -> list[Group]:  # fmt: skip
    """The rows in their groups: those that options name, then the rest, then the papers' own."""
    left = dict(enumerate(systems))
    groups = []
    for title, patterns in (*titled, ("", []), (PUBLISHED, [])):
        inside = [
            i
            for i, system in left.items()
            if boards.fits(system.name, patterns)
            and (patterns or (system.origin == "published") == bool(title))
        ]
        names = _ordered([systems[i].name for i in inside], patterns or order)
        inside.sort(key=lambda i: names.index(systems[i].name))
        rows = tuple(Row(_name(systems[i].name, renamed), tuple(cells[i])) for i in inside)
        if rows:
            groups.append(Group(clean(title), rows))
        for i in inside:
            del left[i]
    return groups
