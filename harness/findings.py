"""Findings: the results of analyses, each a small table and how to draw it. The report shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

from harness.errors import ContractError, HarnessError, check_is
from harness.types import JSON

Cell: TypeAlias = str | int | float | bool | None
Kind: TypeAlias = Literal["table", "line", "bar", "point", "heat"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One entry of a leaderboard's `analyses`: a table, and how to draw it. A picture uses up to three
    columns: `x`, `y`, and `series`, which is shown by colour. In a `heat` map, `series` is the number in each
    field. Points have intervals if there are columns `low` and `high`."""

    name: str  # unique in a leaderboard, such as `depth/condqa`
    title: str
    kind: Kind
    columns: tuple[str, ...]  # the headings of the table
    rows: tuple[tuple[Cell, ...], ...]
    x: str | None = None
    y: str | None = None
    series: str | None = None
    dataset: str | None = None  # None: the finding is of the whole leaderboard
    says: str = ""  # what is computed, and from which data, in words
    flags: tuple[str, ...] = ()  # warnings for readers


def entry(analysis: Finding) -> dict[str, JSON]:
    """The finding as plain data, as a leaderboard holds it. Raises ContractError if it cannot be shown."""
    import msgspec

    check_is(analysis.name, str, "names of findings")
    plain = asdict(analysis)
    try:
        msgspec.convert(plain, Finding)
        problem = fault(analysis)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        problem = str(error)
    if problem:
        raise ContractError(f"the analysis '{analysis.name}': {problem}")
    return plain


def together(analyses: Sequence[Finding], datasets: Sequence[str]) -> list[Finding]:
    """The findings that all of these datasets have, each joined into one finding over all of them. A column
    names the dataset, and colours show dataset and series."""
    by_name: dict[str, dict[str, Finding]] = {}
    for finding in analyses:
        if finding.dataset in datasets:
            name = finding.name.removesuffix(f"/{finding.dataset}")
            by_name.setdefault(name, {})[str(finding.dataset)] = finding
    shown = []
    for name, parts in by_name.items():
        first = next(iter(parts.values()))
        if len(parts) < len(datasets) or any(part.columns != first.columns for part in parts.values()):
            continue
        series = None if first.series is None or first.kind == "heat" else first.columns.index(first.series)
        label = "dataset" if series is None else f"dataset: {first.series}"
        rows = [
            (dataset if series is None else f"{dataset}: {row[series]}", *row)
            for dataset in datasets
            for row in parts[dataset].rows
        ]
        coloured = first.kind in ("line", "bar", "point")
        shown.append(
            replace(
                first,
                name=f"{name}/{'+'.join(datasets)}",
                title=f"{first.title}: {', '.join(datasets)}",
                columns=(label, *first.columns),
                rows=tuple(rows),
                dataset=None,
                flags=tuple(dict.fromkeys(flag for part in parts.values() for flag in part.flags)),
                kind=first.kind if coloured else "table",
                series=label if coloured else None,
            )
        )
    return shown


def read(entries: JSON, where: str) -> tuple[Finding, ...]:
    """The findings in plain data. Raises HarnessError for a finding that cannot be shown."""
    import msgspec

    try:
        analyses = msgspec.convert(entries, tuple[Finding, ...])
    except msgspec.ValidationError as error:
        raise HarnessError(f"{where}: analyses: {error}; make it again") from None
    seen: set[str] = set()
    for analysis in analyses:
        problem = "stands twice" if analysis.name in seen else fault(analysis)
        if problem:
            raise HarnessError(f"{where}: analyses: '{analysis.name}': {problem}; make it again")
        seen.add(analysis.name)
    return analyses


def fault(analysis: Finding) -> str | None:
    """The reason why a finding cannot be shown, in words, or None if it can be shown."""
    columns = analysis.columns
    if len(set(columns)) != len(columns) or not columns:
        return "needs columns with different names"
    drawn = (analysis.x, analysis.y, *(() if analysis.series is None else (analysis.series,)))
    if analysis.kind != "table" and (strange := [name for name in drawn if name not in columns]):
        return f"draws {strange[0]!r}, which is none of its columns"
    if analysis.kind == "heat" and analysis.series is None:
        return "a heat map needs a series: the column of its numbers"
    for number, row in enumerate(analysis.rows, 1):
        if len(row) != len(columns):
            return f"row {number} has {len(row)} cells for {len(columns)} columns"
        if any(isinstance(cell, float) and not math.isfinite(cell) for cell in row):
            return f"row {number} has a number that is not finite"
        if any(isinstance(cell, int) and not -(2**63) <= cell < 2**63 for cell in row):
            return f"row {number} has a whole number of more than 64 bits"
    return None
