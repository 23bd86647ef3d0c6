"""Reads judgements with their provenance, from JSON lines of decisions or a table of one a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.reading import lines, refuse, text_of

Kind = Literal["person", "machine"]
DIGEST = re.compile("[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
REQUIRED = ("query", "passage", "grade")
_NOBODY = "if `harness annotate --export` wrote it, nobody has judged; machines' grades are in machine.jsonl"
OPTIONAL = ("document", "sha256", "judge", "kind", "time", "comment")


class Single(msgspec.Struct):
    """One person's or machine's judgement."""

    judge: str
    kind: Kind
    grade: int | None
    time: str = ""
    labels: list[str] = []
    comment: str = ""


class Decision(msgspec.Struct):
    """The decision about a pair, with every judgement that led to it. A `grade` of null is no decision.
    `sha256` is that of the passage's text as it was judged; a decision without it is of any text that has the
    passage's id."""

    query: str
    passage: str
    grade: int | None
    kind: Kind = "person"
    rule: str = "single"
    labels: list[str] | None = None
    judgements: list[Single] = []
    document: str = ""
    sha256: str | None = None


_KEYS = Keys(
    REQUIRED,
    {
        "query": ("str",),
        "passage": ("str",),
        "grade": ("int", "NoneType"),
        "kind": ("str",),
        "rule": ("str",),
        "labels": ("list", "NoneType"),
        "judgements": ("list",),
        "document": ("str",),
        "sha256": ("str", "NoneType"),
    },
)


def decisions(path: Path) -> Iterator[Decision]:
    """The decisions of a file in order. Two on one pair by one kind of judge are refused."""
    seen: dict[tuple[str, str, str], int] = {}
    read = _of_lines(path) if path.name.removesuffix(".gz").endswith((".jsonl", ".json")) else _of_table(path)
    for line, decision in read:
        if not decision.query or not decision.passage:
            refuse(path, line, "the id of the query or of the passage is empty; give both")
        if decision.sha256 is not None and not DIGEST.fullmatch(decision.sha256):
            what = f"the sha256 '{decision.sha256[:70]}' is not 64 hexadecimal digits"
            refuse(path, line, f"{what}; write that of the passage's text, or leave it out")
        key = (decision.query, decision.passage, decision.kind)
        if key in seen:
            what = f"query '{key[0]}' and passage '{key[1]}' are already decided at line {seen[key]}"
            refuse(path, line, f"{what}; keep one decision")
        seen[key] = line
        yield decision


def _of_lines(path: Path) -> Iterator[tuple[int, Decision]]:
    if path.is_file() and not path.stat().st_size:
        refuse(path, 1, f"there is no decision in it; {_NOBODY}")
    for line, decision in Records(path, (Decision,), _KEYS).numbered():
        for single in decision.judgements:
            if single.time and not TIME.fullmatch(single.time):
                refuse(path, line, f"the time '{single.time}' is not like 2026-03-01T09:12:44Z; write it so")
        yield line, decision


class _Row(NamedTuple):
    line: int
    single: Single
    document: str
    sha256: str | None


def _of_table(path: Path) -> Iterator[tuple[int, Decision]]:
    """The decisions of a table. The judgements of a pair become one decision: the grade that more than half
    of them give, or no grade if there is none."""
    header: list[str] = []
    pairs: dict[tuple[str, str, Kind], list[_Row]] = {}
    for number, data in lines(path):
        cells = text_of(path, number, data).split("\t")
        if not header:
            header = _header(path, number, cells)
            continue
        if len(cells) != len(header):
            refuse(
                path,
                number,
                f"expected {len(header)} columns between tabs, got {len(cells)}; correct the line",
            )
        row = dict(zip(header, cells, strict=True))
        written = row.get("kind") or "person"
        if written not in ("person", "machine"):
            refuse(path, number, f"the kind '{written}' is neither person nor machine; write one of them")
        kind: Kind = "machine" if written == "machine" else "person"
        if row["grade"] and not re.fullmatch(r"-?\d{1,9}", row["grade"]):
            refuse(
                path,
                number,
                f"the grade must be a whole number or empty, got '{row['grade']}'; correct the line",
            )
        grade = int(row["grade"]) if row["grade"] else None
        single = Single(row.get("judge", ""), kind, grade, row.get("time", ""), [], row.get("comment", ""))
        known = pairs.setdefault((row["query"], row["passage"], kind), [])
        known.append(_Row(number, single, row.get("document", ""), row.get("sha256") or None))
        if known[-1].sha256 != known[0].sha256:
            what = f"the sha256 of this passage is another one than in line {known[0].line}"
            refuse(path, number, f"{what}; keep the judgements of one text")
    if not header:
        refuse(path, 1, f"the table is empty; begin it with a header: {', '.join(REQUIRED)}")
    for (query, passage, kind), rows in pairs.items():
        singles = [row.single for row in rows]
        grade = majority([single.grade for single in singles if single.grade is not None])
        rule = "single" if len(singles) == 1 else "majority"
        first = rows[0]
        yield (
            first.line,
            Decision(query, passage, grade, kind, rule, None, singles, first.document, first.sha256),
        )


def _header(path: Path, number: int, cells: list[str]) -> list[str]:
    lacking = [name for name in REQUIRED if name not in cells]
    unknown = [name for name in cells if name not in (*REQUIRED, *OPTIONAL)]
    if lacking:
        refuse(path, number, f"the header lacks the column '{lacking[0]}'; it needs {', '.join(REQUIRED)}")
    if unknown or len(set(cells)) < len(cells):
        what = f"the column '{unknown[0]}' is unknown" if unknown else "a column stands twice"
        refuse(path, number, f"{what}; use {', '.join((*REQUIRED, *OPTIONAL))}, each once")
    return cells


def majority(grades: list[int]) -> int | None:
    """The grade that more than half of the judgements give; None if there is no such grade."""
    counts = Counter(grades)
    for grade, count in counts.items():
        if 2 * count > len(grades):
            return grade
    return None
