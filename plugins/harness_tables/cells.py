"""The cells of a table: values as they are printed, with their place in the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.toolkit.boards import Measure

NONE = "\u2013"  # for a value that is missing


class Column(NamedTuple):
    top: str  # the dataset, or the average
    label: str


class Look(NamedTuple):
    """How values are printed."""

    decimals: int | None  # None: 3, or 1 in percent
    percent: bool
    intervals: bool

    @property
    def digits(self) -> int:
        return (1 if self.percent else 3) if self.decimals is None else self.decimals


class Cell(NamedTuple):
    text: str
    interval: str = ""
    rank: int = 0  # 1: the best of the column, 2: the second, 0: neither
    mark: str = ""  # significance: a dagger, or the letters of a tier


def is_share(rows: Sequence[Mapping[tuple[str, str], Measure]], column: Column) -> bool:
    """Whether the values of a column can be in percent. A sum over queries, such as a count, cannot."""
    return all(-1 <= row[column].mean <= 1 for row in rows if column in row)


def filled(
    rows: Sequence[Mapping[tuple[str, str], Measure]], columns: Sequence[Column], look: Look
) -> list[list[Cell]]:
    """The cells of each row, best and second found by the values as they are printed: equal ones share a
    place, and where all are equal there is none."""
    cells: list[list[Cell]] = [[] for _ in rows]
    for column in columns:
        measures = [row.get(column) for row in rows]
        scale = 100 if look.percent and is_share(rows, column) else 1
        rounded = [None if item is None else round(item.mean * scale, look.digits) for item in measures]
        best = sorted({value for value in rounded if value is not None}, reverse=True)
        for row, item, value in zip(cells, measures, rounded, strict=True):
            place = best.index(value) + 1 if value is not None else 0
            rank = place if len(best) > 1 and place <= min(2, len(best) - 1) else 0
            row.append(Cell(NONE) if item is None else Cell(*_printed(item, scale, look), rank))
    return cells


def _printed(measure: Measure, scale: int, look: Look) -> tuple[str, str]:
    """The mean and its interval. A published number has only the digits that its paper prints."""
    digits = look.digits
    if measure.sources:
        digits = max(0, min(digits, measure.sources[0].digits - (2 if scale == 100 else 0)))
    text = f"{measure.mean * scale:.{digits}f}"
    if not look.intervals or measure.ci95 is None:
        return text, ""
    low, high = (f"{end * scale:.{digits}f}" for end in measure.ci95)
    return text, f"[{low}, {high}]"
