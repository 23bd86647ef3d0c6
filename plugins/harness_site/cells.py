"""Tables of the pages as plain data, and the same tables as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from harness.plugin import JSON
from harness.toolkit.boards import Measure, harmless
from harness_site.collected import Line

ORIGINS = {"run": "run here", "imported": "imported", "published": "published"}


def score(measure: Measure, best: bool = False, tier: str | None = None) -> JSON:
    digits = measure.sources[0].digits if measure.sources else 4
    low, high = measure.ci95 or (None, None)
    cell = {"mean": measure.mean, "low": low, "high": high, "digits": digits, "best": best}
    return {**cell, "tier": tier} if tier else cell


def link(text: str, folder: str, slug: str, says: str = "") -> JSON:
    return {"text": text, "href": f"{folder}/{slug}.html", "says": says}


def table(
    caption: str, columns: Sequence[str], rows: Sequence[JSON], note: str = "", sort: int = -1
) -> dict[str, JSON]:
    """A table of a page. The name of a column of numbers begins with #. `sort` is the column by which the
    table is first sorted, best first."""
    return {"caption": caption, "columns": list(columns), "rows": list(rows), "note": note, "sort": sort}


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[JSON]]) -> str:
    """The table as CSV. A mean with an interval has three columns. Texts are `harmless` to spreadsheets."""
    kept = [list(row) for row in rows]
    wide = [
        any(isinstance(row[i], dict) and row[i].get("low") is not None for row in kept)
        for i in range(len(columns))
    ]
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    heads = [name.removeprefix("#") for name in columns]
    lines.writerow(
        [harmless(part) for name, ends in zip(heads, wide, strict=True)
         for part in ([name, f"{name} low", f"{name} high"] if ends else [name])]
    )  # fmt: skip
    for row in kept:
        lines.writerow(
            [part for cell, ends in zip(row, wide, strict=True) for part in _parts(cell, ends)]
        )  # fmt: skip
    return text.getvalue()


def _parts(cell: JSON, ends: bool) -> list[JSON]:
    if isinstance(cell, dict) and "mean" in cell:
        return [cell["mean"], cell["low"], cell["high"]] if ends else [cell["mean"]]
    text = cell
    if isinstance(cell, dict):
        text = " ".join(item["url"] for item in cell["links"]) if "links" in cell else cell["text"]
    return [harmless(text), None, None] if ends else [harmless(text)]


def grouped(lines: Iterable[Line], key: Callable[[Line], str]) -> list[tuple[str, list[Line]]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return sorted(groups.items(), key=lambda item: item[0].casefold())
