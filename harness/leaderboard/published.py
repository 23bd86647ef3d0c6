"""The tables of papers as leaderboards: entered by hand as they are printed, shown beside one's own rows.

A folder holds `paper.yaml` and one `table-N.yaml` a table. `python -m harness.published FOLDER...` makes
`leaderboard.json` and `README.md` of it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.leaderboard import board_file, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.text_tables import Table
from harness.problems import shown_path
from harness.store import disk
from harness.suite import yaml_nodes
from harness.types import JSON

BLANK = ("-", "\\")  # how papers print that there is no number
MADE = "<!-- written by `python -m harness.published` -->"


class Column(NamedTuple):
    """What a printed column holds; `variant` is added to the names of the systems."""

    dataset: str
    label: str
    variant: str


class Line(NamedTuple):
    """A printed row. Every cell stands as it is printed, but for a setting that is in words."""

    system: str
    setting: str
    cells: tuple[str, ...]


class Printed(NamedTuple):
    """A table of a paper."""

    number: int
    page: int | None  # of the paper, counted from its first; None where it is not known
    section: str
    protocol: Any  # a name, none, or a name for each dataset
    scale: Any  # a printed number is this many times the mean; one for all columns, or by label
    columns: tuple[Column, ...]
    marks: Mapping[str, str]  # behind a number -> what the paper says it means
    notes: tuple[str, ...]
    lines: tuple[Line, ...]

    def protocol_of(self, dataset: str) -> str | None:
        found = self.protocol[dataset] if isinstance(self.protocol, dict) else self.protocol
        return None if found is None else str(found)

    def scale_of(self, label: str) -> int:
        return int(self.scale[label] if isinstance(self.scale, dict) else self.scale)


class Paper(NamedTuple):
    name: str
    citation: str
    url: str
    text: str  # the file of its text, for whoever has it
    datasets: Mapping[str, Mapping[str, JSON]]
    columns: Mapping[str, str]  # label -> what the paper calls it
    tables: tuple[Printed, ...]
    digest: str


def read(folder: Path) -> Paper:
    """What was entered of one paper."""
    paths = sorted(folder.glob("table-*.yaml"), key=lambda path: int(path.stem.partition("-")[2]))
    own = yaml_nodes.read(folder / "paper.yaml", {}).plain()
    _check_keys(folder / "paper.yaml", own, ("name", "citation", "url", "text", "datasets", "columns"))
    labels = tuple(own["columns"])
    tables = tuple(_table(path, tuple(own["datasets"]), labels) for path in paths)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (folder / "paper.yaml", *paths)))
    return Paper(**own, tables=tables, digest=digest.hexdigest())


def number(cell: str, marks: Mapping[str, str]) -> tuple[Decimal, str] | None:
    """The number of a printed cell and the marks behind it; None for a blank one."""
    if cell in BLANK:
        return None
    bare = cell.rstrip("".join(marks))
    return Decimal(bare), cell[len(bare) :]


def board(paper: Paper, folder: Path) -> Leaderboard:
    """All tables of a paper as one leaderboard. A number that stands in several tables cites them all.
    Raises HarnessError if they do not agree on it."""
    rows: dict[tuple[str, str], dict[str, JSON]] = {}
    for table in paper.tables:
        for line in table.lines:
            for column, cell in zip(table.columns, line.cells, strict=True):
                _enter(rows, paper, table, line, column, cell)
    order = list(paper.datasets)
    suite: dict[str, JSON] = {
        "digest": paper.digest,
        "depth": None,
        "seed": 0,
        "protocol": None,
        "measures": [],
    }
    data = {
        "schema": board_file.SCHEMA,
        "name": f"published/{paper.name}",
        "description": f"Numbers as printed in {paper.citation}. Nothing was run for them here.",
        "suite": suite,
        "datasets": [_dataset(paper, name) for name in order],
        "columns": [_column(label, says) for label, says in paper.columns.items()],
        "rows": sorted(rows.values(), key=lambda row: order.index(row["dataset"])),
        "analyses": [],
        "environment": {},
    }
    return Leaderboard(data, folder)


def readme(paper: Paper) -> str:
    """The tables for people, with their cells as printed."""
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
        said = [*(f"{mark}: {meaning}" for mark, meaning in table.marks.items()), *table.notes]
        parts += [*(f"- {text[0].upper()}{text[1:]}." for text in said), *([""] if said else [])]
    return "\n".join(parts)


def beside(own: Leaderboard, others: Sequence[Leaderboard]) -> Leaderboard:
    """A leaderboard with the published rows of others behind its own, where they have the same dataset, split
    and column. Raises HarnessError for one that has nothing to add."""
    splits = {item["name"]: item["split"] for item in own.data["datasets"]}
    same = {item["label"]: (item["measure"], item["unit"]) for item in own.data["columns"]}
    rows = list(own.rows)
    for other in others:
        shared = {
            item["label"]
            for item in other.data["columns"]
            if same.get(item["label"]) == (item["measure"], item["unit"])
        }
        added = []
        for row in other.rows:
            measures = {label: value for label, value in row["measures"].items() if label in shared}
            if row["origin"] == "published" and splits.get(row["dataset"]) == row["split"] and measures:
                added.append({**row, "measures": measures})
        if not added:
            name = other.data["name"]
            has = ", ".join(f"{item['name']}/{item['split']}" for item in other.data["datasets"])
            what = f"{name}: has no published row on a dataset, split and column of {own.data['name']}"
            raise HarnessError(f"{what}; it has {has}: name the datasets in the suite likewise")
        rows += added
    return Leaderboard({**own.data, "rows": rows}, own.folder)


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
    rows: dict[tuple[str, str], dict[str, JSON]],
    paper: Paper,
    table: Printed,
    line: Line,
    column: Column,
    cell: str,
) -> None:
    """Put one cell into the row that it belongs to."""
    found = number(cell, table.marks)
    if found is None:
        return
    value, marks = found
    system = ", ".join(filter(None, (line.system, column.variant)))
    protocol = table.protocol_of(column.dataset)
    row = rows.setdefault((column.dataset, system), _row(paper, column.dataset, system, protocol))
    scaled = value * (1 / Decimal(table.scale_of(column.label)))  # keeps the zeros at its end
    source: dict[str, JSON] = {
        "url": paper.url,
        "table": table.number,
        "page": table.page,
        "section": table.section,
        "printed": cell,
        "digits": -int(scaled.as_tuple().exponent),
    }
    mean = float(scaled)
    known = row["measures"].setdefault(
        column.label, {"mean": mean, "ci95": None, "queries": None, "sources": []}
    )
    if known["mean"] != mean or row["protocol"] != protocol:
        what = f"{column.dataset} / {system}: table {table.number} has {cell} for {column.label}"
        raise HarnessError(f"{paper.name}: {what}, another table has another; name the systems apart")
    known["sources"].append(source)
    for mark in marks:
        flag = f"{column.label}: {table.marks[mark]}"
        row["flags"] += [] if flag in row["flags"] else [flag]


def _row(paper: Paper, dataset: str, system: str, protocol: str | None) -> dict[str, JSON]:
    return {
        "dataset": dataset,
        "split": paper.datasets[dataset]["split"],
        "system": system,
        "unit": "passage",
        "protocol": protocol,
        "origin": "published",
        "status": "ok",
        "error": None,
        "flags": [],
        "measures": {},
        "slices": {},
        "scored": {},
        "limits": {},
        "reported": [],
        "tuning": [],
        "files": {},
        "provenance": {"fingerprint": None, "seed": 0, "steps": []},
        "cost": {},
    }


def _dataset(paper: Paper, name: str) -> dict[str, JSON]:
    given = paper.datasets[name]
    return {
        "name": name,
        "split": given["split"],
        "plugin": given.get("plugin"),
        "params": given.get("params", {}),
        "language": given.get("language"),
        "query_language": given.get("query_language", given.get("language")),
        "licence": None,
        "citation": paper.citation,
        "url": paper.url,
        "notes": given.get("notes", []),
        "unknown_judgements": "keep",
        "counts": {},
        "digests": {},
        "contents": {},
    }


def _column(label: str, says: str) -> dict[str, JSON]:
    whole, document, measure = label.partition("document ")
    measure, unit = (measure, "document") if document and not whole else (label, "passage")
    return {"label": label, "measure": measure, "unit": unit, "says": f"{says}, as the paper has it"}


def main(folders: Sequence[str]) -> None:
    for folder in map(Path, folders):
        paper = read(folder)
        made = board(paper, folder).write()
        disk.replace_file(folder / "README.md", readme(paper).encode())
        print(shown_path(made))


if __name__ == "__main__":
    main(sys.argv[1:])
