"""Leaderboards as text: aligned tables for a terminal, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import orjson

from harness.errors import printable
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Measure, Row, Tuning
from harness.types import JSON

FORMATS = ("table", "markdown", "csv", "json")
Marks: TypeAlias = Mapping[tuple[str, str, str, str], str]  # (dataset, column, system, origin) -> sign
SHOWN = 3  # how many rows are named for each flag
BEST, BETTER, WORSE = "*", "†", "‡"  # the signs of all tables
BEST_SAYS = f"A star ({BEST}) marks the best value of a column."
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # what begins one in spreadsheets
CODE = re.compile(r"(?<!`)(`[^`]+`)(?!`)")
PAIR_SAYS = f"{BETTER} and {WORSE} mark a difference that is significantly above and below 0"


class Table(NamedTuple):
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sign(difference: float, significant: bool) -> str:
    """The sign of a difference: nothing if it is not significant."""
    return (BETTER if difference > 0 else WORSE) if significant else ""


def tables(board: Leaderboard, intervals: bool = False, marks: Marks | None = None) -> list[Table]:
    """One table for each dataset, with systems in the order of the leaderboard. A star marks the best value
    of each column. `marks` are written after the values."""
    return [_table(board, dataset, intervals, marks or {}) for dataset in board.data.datasets]


def averages(board: Leaderboard, intervals: bool = False) -> list[Table]:
    """One table for each average, with the systems that have a row on each of its datasets."""
    shown = []
    for average in board.data.averages or ():
        columns = [label for label in board.columns if any(label in row.measures for row in average.rows)]
        lines = []
        for row in average.rows:
            cells = [_cell(row.measures.get(label), None, intervals) for label in columns]
            name = row.system if row.origin == "run" else f"{row.system} ({row.origin})"
            lines.append((name, *cells))
        title = f"{average.name} (the mean of {', '.join(average.datasets)})"
        shown.append(Table(title, ("system", *columns), tuple(lines)))
    return [table for table in shown if table.rows]


def _table(board: Leaderboard, dataset: Dataset, intervals: bool, marks: Marks) -> Table:
    rows = board.rows_of(dataset.name)
    columns = [label for label in board.columns if any(label in row.measures for row in rows)]
    starred = any(row.origin != "published" for row in rows)  # a table of papers may lack the best
    means = {label: [row.measures[label].mean for row in rows if label in row.measures] for label in columns}
    # if all rows are equal, none is best
    best = {
        label: max(values)
        for label, values in means.items()
        if starred and (len(values) == 1 or len(set(values)) > 1)
    }
    costed = any(_seconds(row) for row in rows)  # runs made elsewhere have no cost
    lines = []
    for row in rows:
        cells = [_cell(row.measures.get(label), best.get(label), intervals) for label in columns]
        if marks:
            row_marks = [marks.get((dataset.name, label, row.system, row.origin), " ") for label in columns]
            cells = [f"{cell} {mark}" if cell else "" for cell, mark in zip(cells, row_marks, strict=True)]
        lines.append((shown_name(row, dataset.split), *cells, *([_seconds(row)] if costed else [])))
    head = ("system", *columns, *(["cost"] if costed else []))
    return Table(f"{dataset.name} ({_size(dataset)})", head, tuple(lines))


def render(board: Leaderboard, form: str, marks: Marks | None = None) -> str:
    """The leaderboard as `table`, `markdown`, `csv` or `json` (flat records)."""
    if form in ("csv", "json"):
        return of_records(board.records(), form)
    if form == "markdown":
        shown = [*tables(board, True, marks), *averages(board, True)]
        return "\n".join([*map(titled, shown), *(f"{line}\n" for line in _legend(shown))])
    shown = [*tables(board, marks=marks), *averages(board)]
    notes = [*_legend(shown), *(f"tuned: {line}" for line in tuned(board)), *flagged(board), *failures(board)]
    below = "".join(f"{line}\n" for line in notes)
    return "\n".join([*map(plain, shown), *([below] if notes else [])])


def _legend(shown: Sequence[Table]) -> list[str]:
    starred = any(BEST in cell for table in shown for row in table.rows for cell in row[1:])
    return [BEST_SAYS] if starred else []


def of_tables(shown: Sequence[Table], form: str) -> str:
    """The tables as `table`, `markdown`, `csv` or `json`. In `csv` and `json`, records name their table."""
    if form in ("csv", "json"):
        records = [
            {"table": table.title, **dict(zip(table.head, row, strict=True))}
            for table in shown
            for row in table.rows
        ]
        return of_records(records, form)
    return "\n".join(map(titled, shown)) if form == "markdown" else "\n".join(map(plain, shown))


def of_records(records: Sequence[Mapping[str, JSON]], form: str) -> str:
    """Flat records, all with the same keys, as `csv` or `json`."""
    if form == "json":
        return orjson.dumps(records, option=orjson.OPT_INDENT_2).decode() + "\n"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in record.items()} for record in records)
    return out.getvalue()


def harmless(value: JSON) -> JSON:
    """A cell of a CSV file. A text that a spreadsheet would compute as a formula gets an apostrophe before
    it, and control characters are escaped; numbers stay as they are."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    formula = text.lstrip().startswith(FORMULA) and not NUMBER.fullmatch(text)
    return f"'{text}" if formula else text


def plain(table: Table, width: int | None = None) -> str:
    """The table as text in aligned columns. Widths are display widths: a Chinese character takes two places.
    A table wider than `width` is split into parts, each with the first column."""
    if width is not None:
        parts = _parts(table, width)
        if len(parts) > 1:
            return "\n".join(map(plain, parts))
    rows = [table.head, *table.rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(table.head))]
    lines = [table.title, ""]
    for row in rows:
        first = row[0] + " " * (widths[0] - _width(row[0]))
        cells = [" " * (widths[i] - _width(cell)) + cell for i, cell in enumerate(row) if i]
        lines.append("  ".join(["", first, *cells]).rstrip())
    lines.insert(3, "  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines) + "\n"


def _parts(table: Table, width: int) -> list[Table]:
    """The table split into tables that fit the width. A too wide column gets a table of its own."""
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(map(_width, column)) + 2 for column in columns]
    groups: list[list[int]] = [[]]
    for i in range(1, len(columns)):
        if groups[-1] and sum(widths[j] for j in (0, *groups[-1], i)) > width:
            groups.append([])
        groups[-1].append(i)
    return [
        Table(
            table.title if group is groups[0] else f"{table.title} (continued)",
            tuple(table.head[i] for i in (0, *group)),
            tuple(tuple(row[i] for i in (0, *group)) for row in table.rows),
        )
        for group in groups
    ]


def markdown(table: Table) -> str:
    rule = "| --- |" + " ---: |" * (len(table.head) - 1)
    rows = ["| " + " | ".join(escaped(cell) for cell in row) + " |" for row in (table.head, *table.rows)]
    return "\n".join([rows[0], rule, *rows[1:]]) + "\n"


def titled(table: Table) -> str:
    return f"### {escaped(table.title)}\n\n{markdown(table)}"


def failures(board: Leaderboard) -> list[str]:
    """One line for each reason of failure, with the rows that failed for it."""
    rows: dict[str, list[str]] = {}
    for row in board.rows:
        if row.status == "failed":
            rows.setdefault(row.error or "no reason is given", []).append(row.name)
    return [f"failed: {', '.join(names)}: {indented(reason)}" for reason, names in rows.items()]


def flagged(board: Leaderboard) -> list[str]:
    """One line for each flag, with the rows that have it. Of many rows, only the first are named."""
    rows: dict[str, list[str]] = {}
    for row in board.rows:
        for flag in row.notes:
            rows.setdefault(flag, []).append(row.name)
    lines = []
    for flag, names in rows.items():
        more = f" and {len(names) - SHOWN} more rows" if len(names) > SHOWN else ""
        lines.append(f"note: {', '.join(names[:SHOWN])}{more}: {indented(flag)}")
    return lines


def indented(text: str) -> str:
    """The message with all lines but the first indented."""
    return text.replace("\n", "\n    ")


def tuned(board: Leaderboard) -> list[str]:
    """One line for each value that tuning chose, with the rows that use it."""
    rows: dict[str, list[str]] = {}
    for row in board.rows:
        for tuning in row.tuning or ():
            rows.setdefault(_chosen(tuning), []).append(row.name)
    return [f"{', '.join(dict.fromkeys(names))}: {choice}" for choice, names in rows.items()]


def _chosen(tuning: Tuning) -> str:
    """The tuned value as text: `weight = 0.7 on tour/dev by nDCG@10`. If the folds chose different values,
    all are listed. If no value was better than another, the text says so."""
    chosen: Sequence[float | str] = tuning.folds or (() if tuning.value is None else (tuning.value,))
    values = [value if isinstance(value, str) else f"{value:g}" for value in chosen]
    shown = values[0] if len(set(values)) == 1 else ("; " if "=" in values[0] else ", ").join(values)
    what = shown if "=" in values[0] else f"{tuning.parameter} = {shown}"
    alike = len(tuning.curve) > 1 and len(set(tuning.curve)) == 1
    doubt = f", where all {len(tuning.curve)} values score {tuning.curve[0]:g}" if alike else ""
    if tuning.learned:
        what = f"{tuning.parameter} learned for each query (fixed: {what})"
    return f"{what} on {tuning.on} by {tuning.measure}{doubt}"


def _size(dataset: Dataset) -> str:
    counts = dataset.counts
    words = [dataset.split]
    words += [f"{counts['judged_queries']:,} queries"] if "judged_queries" in counts else []
    words += [f"{counts['passages']:,} passages"] if "passages" in counts else []
    words += ["a trial: not comparable"] if dataset.limited else []
    return ", ".join(words)


def _cell(measure: Measure | None, best: float | None, intervals: bool) -> str:
    if measure is None:
        return ""
    star = BEST if measure.mean == best else ""
    if measure.sources:  # a published number: only the digits that the paper prints
        return f"{measure.mean:.{measure.sources[0].digits}f}{star}"
    text = f"{measure.mean:.4f}{star}"
    if not intervals or measure.ci95 is None:
        return text
    return f"{text} [{measure.ci95[0]:.3f}, {measure.ci95[1]:.3f}]"


def shown_name(row: Row, split: str) -> str:
    """The row's system. If it was not run, also its origin, and its split if that differs from `split`."""
    if row.origin == "run":
        return row.system
    return f"{row.system} ({row.origin}{'' if row.split == split else f', {row.split}'})"


def _seconds(row: Row) -> str:
    """The time of a row's own steps, then what was spent once, for its models and tuned values."""
    if row.status == "failed":
        return "failed"
    spent = row.cost
    if spent.seconds is None:
        return ""
    once = {"training": spent.training_seconds, "tuning": spent.tuning_seconds}
    return " + ".join(
        [
            f"{spent.seconds:.1f} s",
            *(f"{seconds:.1f} s {name}" for name, seconds in once.items() if seconds is not None),
        ]
    )


def escaped(text: str) -> str:
    """The text on one line, with what is special in Markdown escaped: it gives no HTML, image or link."""
    return _inert(" ".join(printable(text).split()))


def prose(text: str) -> str:
    """Paragraphs that a person wrote, as Markdown. Only `code` stays code."""
    paragraphs = [" ".join(printable(part).split()) for part in re.split(r"\n\s*\n", text)]
    return "\n\n".join(
        "".join(part if place % 2 else _inert(part) for place, part in enumerate(CODE.split(paragraph)))
        for paragraph in paragraphs
    )


def _inert(text: str) -> str:
    text = re.sub(r"([\\|`<>]|\](?=[(\[:]))", r"\\\1", text)
    return re.sub(r":(?=//)|www(?=\.)", r"\g<0>\\", text, flags=re.IGNORECASE)  # GitHub makes links of these


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
