"""Writes `leaderboard.json` and `README.md` from the tables of a paper.

`python tools/published_tables.py FOLDER...`: a folder contains `paper.yaml` and a `table-N.yaml` for each
table. The tables were entered by hand, as they are printed.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from harness.errors import HarnessError
from harness.leaderboard import board_file, model, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Board, Dataset, Environment, Measure, Source, SuiteFacts
from harness.leaderboard.text_tables import Table
from harness.problems import shown_path
from harness.store import disk
from harness.suite import yaml_nodes
from harness.types import JSON, Unit

BLANK = ("-", "\\")  # what papers print in a cell without a number
MADE = "<!-- written by `python tools/published_tables.py` -->"


class Column(NamedTuple):
    """A printed column: its dataset and measure. `variant` is added to the names of the systems."""

    dataset: str
    label: str
    variant: str


class Line(NamedTuple):
    """A printed row. `cells` are as printed; a cell with words, such as a setting, is in `setting`
    instead."""

    system: str
    setting: str
    cells: tuple[str, ...]


class Printed(NamedTuple):
    """A table of a paper."""

    number: int
    page: int | None  # the page, counted from the first of the paper; None if not known
    section: str
    protocol: Any  # a name, None, or a name for each dataset
    scale: Any  # a printed number is this many times the mean; one value for all columns, or by label
    columns: tuple[Column, ...]
    marks: Mapping[str, str]  # a mark behind numbers -> its meaning in the paper
    notes: tuple[str, ...]
    lines: tuple[Line, ...]

    def protocol_of(self, dataset: str) -> str | None:
        name = self.protocol[dataset] if isinstance(self.protocol, dict) else self.protocol
        return None if name is None else str(name)

    def scale_of(self, label: str) -> int:
        return int(self.scale[label] if isinstance(self.scale, dict) else self.scale)


class Paper(NamedTuple):
    name: str
    citation: str
    url: str
    text: str | None  # the file with the paper's text, for those who have it; None for a README
    datasets: Mapping[str, Mapping[str, JSON]]
    columns: Mapping[str, str]  # label -> the paper's name of the column
    tables: tuple[Printed, ...]
    digest: str


def read(folder: Path) -> Paper:
    """The tables of one paper, as they were entered in the folder."""
    paths = sorted(folder.glob("table-*.yaml"), key=lambda path: int(path.stem.partition("-")[2]))
    given = yaml_nodes.read(folder / "paper.yaml", {}).plain()
    _check_keys(folder / "paper.yaml", given, ("name", "citation", "url", "text", "datasets", "columns"))
    labels = tuple(given["columns"])
    tables = tuple(_table(path, tuple(given["datasets"]), labels) for path in paths)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (folder / "paper.yaml", *paths)))
    return Paper(**given, tables=tables, digest=digest.hexdigest())


def number(cell: str, marks: Mapping[str, str]) -> tuple[Decimal, str] | None:
    """The number in a printed cell and the marks behind it; None for a blank cell."""
    if cell in BLANK:
        return None
    bare = cell.rstrip("".join(marks))
    return Decimal(bare), cell[len(bare) :]


def board(paper: Paper, folder: Path) -> Leaderboard:
    """All tables of a paper as one leaderboard. A number that several tables have cites all of them. Raises
    HarnessError if these tables do not agree on it."""
    rows: dict[tuple[str, str], model.Row] = {}
    for table in paper.tables:
        for line in table.lines:
            for column, cell in zip(table.columns, line.cells, strict=True):
                _enter(rows, paper, table, line, column, cell)
    order = list(paper.datasets)
    content = Board(
        schema=board_file.SCHEMA,
        name=f"published/{paper.name}",
        description=f"Numbers as printed in {paper.citation}. Nothing was run for them here.",
        suite=SuiteFacts(digest=paper.digest, depth=None, seed=0, protocol=None, measures=()),
        datasets=tuple(_dataset(paper, name) for name in order),
        columns=tuple(_column(label, says) for label, says in paper.columns.items()),
        rows=tuple(sorted(rows.values(), key=lambda row: order.index(row.dataset))),
        analyses=(),
        environment=Environment(),
    )
    return Leaderboard(content, folder)


def page(paper: Paper) -> str:
    """The README with the paper's tables. The cells are as printed."""
    parts = [MADE, f"# Published: {paper.name}", "", f"{paper.citation}. <{paper.url}>", ""]
    parts += ["`leaderboard.json` has the same numbers as rows of origin `published`.", ""]
    for table in paper.tables:
        page = f"page {table.page}, " if table.page else ""
        named = table.protocol.values() if isinstance(table.protocol, dict) else [table.protocol]
        scored = " and ".join(f"`{name}`" for name in named if name)
        parts += [f"## Table {table.number} ({page}section {table.section})", ""]
        parts += [f"Protocol: {scored}.", ""] if scored else []
        heads = [
            ", ".join(filter(None, (c.dataset, paper.columns[c.label], c.variant))) for c in table.columns
        ]
        lines = tuple((line.system, *line.cells) for line in table.lines)
        parts += [text_tables.markdown(Table("", ("system", *heads), lines))]
        notes = [*(f"{mark}: {meaning}" for mark, meaning in table.marks.items()), *table.notes]
        parts += [*(f"- {text[0].upper()}{text[1:]}." for text in notes), *([""] if notes else [])]
    return "\n".join(parts)


def _table(path: Path, datasets: Sequence[str], labels: Sequence[str]) -> Printed:
    given = {"marks": {}, "notes": [], **yaml_nodes.read(path, {}).plain()}
    where = shown_path(path)
    known = ("page", "section", "protocol", "scale", "columns", "marks", "notes", "rows")
    _check_keys(path, given, known)
    columns = []
    for text in given["columns"]:
        what, _, variant = (part.strip() for part in text.partition(" | "))
        dataset, _, label = what.partition(" ")
        if dataset not in datasets or label not in labels:
            raise HarnessError(
                f"{where}: columns: '{text}' is no dataset and column of paper.yaml; add it there"
            )
        columns.append(Column(dataset, label, variant))
    lines = []
    for text in given["rows"]:
        system, *setting, cells = (part.strip() for part in text.split(" | "))
        line = Line(system, " ".join(setting), tuple(cells.split()))
        if len(line.cells) != len(columns):
            raise HarnessError(
                f"{where}: '{text}' has {len(line.cells)} cells for {len(columns)} columns; mend it"
            )
        try:
            [number(cell, given["marks"]) for cell in line.cells]
        except InvalidOperation:
            raise HarnessError(
                f"{where}: '{text}' holds what is no number; name its mark in 'marks'"
            ) from None
        lines.append(line)
    return Printed(
        int(path.stem.partition("-")[2]), given["page"], str(given["section"]), given["protocol"],
        given["scale"], tuple(columns), given["marks"], tuple(given["notes"]), tuple(lines),
    )  # fmt: skip


def _check_keys(path: Path, given: Mapping[str, JSON], known: Sequence[str]) -> None:
    wrong = sorted(set(given) ^ set(known))
    if wrong:
        what = f"'{wrong[0]}' is missing or unknown"
        raise HarnessError(f"{shown_path(path)}: {what}; its keys are {', '.join(known)}")


def _enter(
    rows: dict[tuple[str, str], model.Row],
    paper: Paper,
    table: Printed,
    line: Line,
    column: Column,
    cell: str,
) -> None:
    """Enter one cell into the leaderboard row of its dataset and system."""
    printed = number(cell, table.marks)
    if printed is None:
        return
    value, marks = printed
    system = ", ".join(filter(None, (line.system, column.variant)))
    protocol = table.protocol_of(column.dataset)
    key = column.dataset, system
    row = rows[key] if key in rows else _row(paper, column.dataset, system, protocol)
    scaled = value * (1 / Decimal(table.scale_of(column.label)))  # keeps the zeros at its end
    digits = -int(scaled.as_tuple().exponent)
    source = Source(paper.url, table.number, table.page, table.section, cell, digits)
    known = row.measures.get(column.label, Measure(float(scaled), None, None, ()))
    if known.mean != float(scaled) or row.protocol != protocol:
        what = f"{row.name}: table {table.number} has {cell} for {column.label}"
        raise HarnessError(f"{paper.name}: {what}, another table has another; name the systems apart")
    cited = structs.replace(known, sources=(*(known.sources or ()), source))
    flags = dict.fromkeys((*row.flags, *(f"{column.label}: {table.marks[mark]}" for mark in marks)))
    measures = {**row.measures, column.label: cited}
    rows[key] = structs.replace(row, measures=measures, flags=tuple(flags))


def _row(paper: Paper, dataset: str, system: str, protocol: str | None) -> model.Row:
    return model.published_row(
        dataset=dataset, split=paper.datasets[dataset]["split"], system=system, protocol=protocol, measures={}
    )


def _dataset(paper: Paper, name: str) -> Dataset:
    given = paper.datasets[name]
    return Dataset(
        name=name,
        split=given["split"],
        plugin=given.get("plugin"),
        params=given.get("params", {}),
        language=given.get("language"),
        query_language=given.get("query_language", given.get("language")),
        licence=None,
        citation=paper.citation,
        url=paper.url,
        notes=tuple(given.get("notes", ())),
        unknown_judgements="keep",
        counts={},
        digests={},
        contents={},
    )


def _column(label: str, says: str) -> model.Column:
    whole, document, measure = label.partition("document ")
    unit: Unit = "document" if document and not whole else "passage"
    return model.Column(label, measure if unit == "document" else label, unit, f"{says}, as the paper has it")


def main(folders: Sequence[str]) -> None:
    for folder in map(Path, folders):
        paper = read(folder)
        path = board(paper, folder).write()
        disk.replace_file(folder / "README.md", page(paper).encode())
        print(shown_path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
