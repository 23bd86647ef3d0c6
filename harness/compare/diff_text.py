"""Writes the differences between two leaderboards as text, as Markdown for a pull request, or as JSON."""

from __future__ import annotations

from itertools import groupby

import orjson

from harness.compare.diff import Change, Diff, Moved
from harness.leaderboard import text_tables
from harness.leaderboard.text_tables import PAIR_SAYS, Table, sign

NAMED = 5  # how many systems of a change are named
LISTED = 20  # how many changes, new rows and missing rows are listed
FORMATS = ("table", "markdown", "json")


def render(diff: Diff, form: str, every: bool = False) -> str:
    """The differences as text, in one of `FORMATS`. For each dataset there is one table, about the first
    column in which a mean differs; with `every`, there is a table for each such column."""
    if form == "json":
        return orjson.dumps(_plain(diff), option=orjson.OPT_INDENT_2).decode() + "\n"
    tables, further = _tables(diff, every)
    written = text_tables.of_tables(tables, form)
    bullet = "- " if form == "markdown" else "  "
    before, after = diff.names
    parts = [f"{before} -> {after}", "", *_changes(diff, bullet)]
    parts += [written] if tables else []
    parts += [*further, *([""] if further else [])]
    parts += [
        *_listed("rows that are new", diff.came, bullet),
        *_listed("rows that are gone", diff.went, bullet),
    ]
    parts += [*(f"not compared: {reason}" for reason in diff.refused)]
    if diff.same:
        parts.append(f"{diff.same} row{'s have' if diff.same > 1 else ' has'} the same numbers in both.")
    if any(item.comparison for item in diff.moved):
        parts.append(
            f"{PAIR_SAYS} (paired randomisation test, step-down max-T within each "
            f"dataset and measure, below {diff.alpha:g}); 95 % bootstrap intervals of each difference."
        )
    parts += [f"Note: {note}." for note in diff.notes]
    return "\n".join(parts).rstrip() + "\n"


def _changes(diff: Diff, bullet: str) -> list[str]:
    if not diff.changes:
        return ["Nothing that decides about a number was changed.", ""]
    return _listed("changed", [_change(item) for item in diff.changes], bullet)


def _change(item: Change) -> str:
    if not item.systems:
        return item.text
    shown = ", ".join(item.systems[:5]) + (
        f" and {len(item.systems) - 5} more" if len(item.systems) > 5 else ""
    )
    return f"{item.text}  (in {shown})"


def _listed(title: str, lines: list[str] | tuple[str, ...], bullet: str) -> list[str]:
    if not lines:
        return []
    rest = [f"{bullet}and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    blank = [""] if bullet == "- " else []  # in Markdown, a list begins after an empty line
    return [f"{title}:", *blank, *(f"{bullet}{line}" for line in lines[:LISTED]), *rest, ""]


def _tables(diff: Diff, every: bool) -> tuple[list[Table], list[str]]:
    """The tables, and one line for each dataset on what else is significant."""
    tables, further = [], []
    for dataset, of_dataset in groupby(diff.moved, key=lambda item: item.dataset):
        by_measure = {
            label: list(items) for label, items in groupby(of_dataset, key=lambda item: item.measure)
        }
        first = next(iter(by_measure))
        for label, items in by_measure.items():
            if every or label == first:
                tables.append(_table(f"{dataset}: {label}", items, diff.alpha))
        rest = [item for label, items in by_measure.items() if label != first for item in items]
        sure = [item for item in rest if _sign(item, diff.alpha)]
        if rest and not every:
            differences = [
                f"{item.system} {item.measure} {item.after - item.before:+.4f}{_sign(item, diff.alpha)}"
                for item in sure
            ]
            others = f"{len(rest)} mean{'s' if len(rest) > 1 else ''} of other measures"
            shown = ", ".join(differences) or "none significantly"
            further.append(f"{dataset}: {others} changed, {shown} (--every shows them)")
    return tables, further


def _table(title: str, items: list[Moved], alpha: float) -> Table:
    head = ("system", "before", "after", "difference", "95 %", "p", "won/tied/lost", "cost")
    return Table(title, head, tuple(_cells(item, alpha) for item in items))


def _cells(item: Moved, alpha: float) -> tuple[str, ...]:
    cells = [item.system, f"{item.before:.4f}", f"{item.after:.4f}", f"{item.after - item.before:+.4f}"]
    cells[-1] += _sign(item, alpha)
    tested = item.comparison
    if tested is None:
        cells += ["", "", ""]
    else:
        cells.append(f"[{tested.interval[0]:+.3f}, {tested.interval[1]:+.3f}]")
        cells += [f"{tested.corrected:.4f}", f"{tested.won}/{tested.tied}/{tested.lost}"]
    known = [None if value is None else f"{value:.1f} s" for value in item.seconds]
    return (*cells, " -> ".join(value for value in known if value is not None))


def _sign(item: Moved, alpha: float) -> str:
    tested = item.comparison
    return "" if tested is None else sign(tested.difference, tested.corrected < alpha)


def _plain(diff: Diff) -> dict[str, object]:
    rows = [
        {
            **item._asdict(),
            "difference": item.after - item.before,
            "comparison": item.comparison and item.comparison._asdict(),
        }
        for item in diff.moved
    ]
    changes = [item._asdict() for item in diff.changes]
    return {**diff._asdict(), "changes": changes, "moved": rows}
