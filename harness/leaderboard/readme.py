"""The README of a leaderboard's folder. A page that a person wrote is never overwritten."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import quote

from harness.leaderboard import means, stage_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.text_tables import (
    Table,
    averages,
    escaped,
    failures,
    markdown,
    prose,
    shown_name,
    tables,
    tuned,
)
from harness.store import disk

FILE = "README.md"
BESIDE = "LEADERBOARD.md"  # the name of the page if a person's own README is there
MARK = "<!-- written by `harness run`; a page without this line is left alone -->"
PICTURES, PICTURED, REPRODUCED = "pictures", "## Pictures", "## How to get these numbers"
LIMITS = {
    "ceiling": "best ranking there is",
    "candidates": "best order of its candidates",
    "judged": "share judged",
    "unjudged_removed": "unjudged removed",
    "unjudged_relevant": "unjudged all relevant",
    "without_positive_left_out": "queries with a positive",
    "unanswered_left_out": "answered queries",
}


def write(folder: Path, text: str) -> Path | None:
    """Writes the page as README.md, or as LEADERBOARD.md if a person wrote README.md. Returns its path, or
    None if a person wrote both."""
    page = _page_path(folder)
    if page is not None:
        disk.replace_file(page, text.encode())
    return page


def _page_path(folder: Path) -> Path | None:
    for name in (FILE, BESIDE):
        page = folder / name
        if not page.exists() or page.read_bytes().startswith(MARK.encode()):
            return page
    return None


def page(board: Leaderboard, command: str) -> str:
    """The text of the README of a leaderboard; `command` is the command that makes the leaderboard."""
    data = board.data
    parts = [MARK, f"# {escaped(data.name)}", ""]
    if data.description:
        parts += [prose(data.description), ""]
    for dataset, table in zip(data.datasets, tables(board, True), strict=True):
        parts += [f"## {escaped(table.title)}", "", markdown(table)]
        parts += _slices(board, dataset.name)
        parts += _limits(board, dataset.name)
    for table in (*means.seed_tables(board), *averages(board, True)):
        parts += [f"## {escaped(table.title)}", "", markdown(table)]
    parts += [*(f"- {escaped(line)}" for line in failures(board))]
    parts += [*(["", *notes] if (notes := _notes(board)) else [])]
    parts += _contexts(board)
    parts += _made(board)
    parts += pictures(board.folder)
    parts += [
        "",
        REPRODUCED,
        "",
        "```",
        command,
        "```",
        "",
        "Means with 95 % bootstrap intervals over the scored queries, in brackets; a star marks the best of",
        *_costs(board),
        "",
        "Every row of `leaderboard.json` cites its run in `runs/`, its values for each query in",
        "`per-query/`, and the steps it was made by. Runs that are not kept here are written by that",
        "command.",
        "",
    ]
    return "\n".join(parts)


def claims_page(board: Leaderboard, command: str) -> str:
    """The text of the README of a leaderboard whose numbers were neither run nor scored here."""
    parts = [MARK, f"# {escaped(board.data.name)}", "", prose(board.data.description), ""]
    for table in tables(board):
        parts += [f"## {escaped(table.title)}", "", markdown(table)]
    return "\n".join([*parts, REPRODUCED, "", "```", command, "```", ""])


def show_pictures(folder: Path) -> None:
    """Updates the part of a folder's README that shows pictures, if the harness wrote the README."""
    path = _page_path(folder)
    if path is None or not path.is_file():
        return
    before, _, after = path.read_text(encoding="utf-8").rpartition(f"\n{REPRODUCED}\n")
    if not before:
        return
    kept = before.partition(f"\n{PICTURED}\n")[0]
    shown = pictures(folder)[1:]
    write(folder, "\n".join([kept, *shown, *([""] if shown else []), REPRODUCED, after]))


def pictures(folder: Path) -> list[str]:
    """The lines of a README that show the pictures in `pictures/`, which `harness pictures` writes."""
    lines = []
    for path in sorted((folder / PICTURES).glob("*.svg")):
        title = re.search(r"<title>([^<]*)</title>", path.read_text(encoding="utf-8"))
        alt = escaped(html.unescape(title[1]) if title else path.stem).replace("[", "\\[").replace("]", "\\]")
        lines += [f"![{alt}]({PICTURES}/{quote(path.name)})", ""]
    return ["", PICTURED, "", *lines[:-1]] if lines else []


def _costs(board: Leaderboard) -> list[str]:
    """Lines on how to read the column `cost`, if a row has a cost."""
    costs = [row.cost for row in board.rows if row.cost.seconds is not None]
    if not costs:
        return ["a column."]
    environment = board.data.environment
    once = any(cost.training_seconds is not None or cost.tuning_seconds is not None for cost in costs)
    together = sum(cost.seconds or 0 for cost in costs)
    return [
        "a column. `cost` is the time of a system's own steps when they were first executed; a shared step",
        f"counts in every system that uses it. All rows together: {together:.1f} s on {environment.cpu},",
        f"{environment.cores} cores{', without training and tuning' if once else ''}.",
    ]


def _slices(board: Leaderboard, dataset: str) -> list[str]:
    """A table of the first column for each slice."""
    rows = [row for row in board.rows_of(dataset) if row.slices]
    label = next((label for label in board.columns if any(label in row.measures for row in rows)), None)
    if label is None:
        return []
    counts = {name: part.queries for row in reversed(rows) for name, part in row.slices.items()}
    names = list(dict.fromkeys(name for row in rows for name in row.slices))
    lines = []
    for row in rows:
        if label in row.measures:
            parts = [row.slices[name].measures.get(label) if name in row.slices else None for name in names]
            lines.append((row.system, *(f"{part.mean:.3f}" if part else "" for part in parts)))
    head = ("system", *(f"{name} ({counts[name]})" for name in names))
    return [
        f"{escaped(label)} by slice (number of queries in brackets):",
        "",
        markdown(Table("", head, tuple(lines))),
    ]


def _contexts(board: Leaderboard) -> list[str]:
    """A table of what each context changed and cost, as table 6 of DAPR has it."""
    lines: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in board.rows:
        reported = {item.method: item.facts for item in row.reported or () if item.step == "augment"}
        for name, spent in (row.cost.contexts or {}).items():
            facts = reported.get(name, {})
            counts = [facts.get(key, 0) for key in ("passages_changed", "passages")]
            changed = " of ".join(f"{count:,}" if isinstance(count, int) else "?" for count in counts)
            speed = f"{spent.words_per_second:,.0f}"
            lines[row.dataset, name] = (row.dataset, name, changed, f"{spent.seconds:.1f} s", speed)
    if not lines:
        return []
    head = ("dataset", "context", "passages changed", "cost", "words a second")
    return ["", "What context changed and cost:", "", markdown(Table("", head, (*lines.values(),)))]


def _made(board: Leaderboard) -> list[str]:
    """The lines that show how each dataset that the suite makes was made."""
    lines = []
    for dataset in board.data.datasets:
        if dataset.made:
            stages = (
                stage_tables.Counted(each.maker, each.before, each.after, each.dropped)
                for each in dataset.made
            )
            lines += ["", f"How {escaped(dataset.name)} was made:", "", *stage_tables.table(stages)]
    return lines


def _limits(board: Leaderboard, dataset: str) -> list[str]:
    """A table of the limits of the first column that has any: what its mean could have been."""
    rows = board.rows_of(dataset)
    label = next((label for label in board.columns if any(label in (row.limits or {}) for row in rows)), None)
    if label is None:
        return []
    limits = [(row, row.limits[label]) for row in rows if row.limits and label in row.limits]
    kinds = [kind for kind in LIMITS if any(getattr(item, kind) is not None for _, item in limits)]
    lines = []
    for row, item in limits:
        values = [getattr(item, kind) for kind in kinds]
        shown = ["" if value is None else f"{value:.3f}" for value in values]
        lines.append((shown_name(row, row.split), *shown))
    table = markdown(Table("", ("system", *(LIMITS[kind] for kind in kinds)), tuple(lines)))
    return [f"What {escaped(label)} could have been, and how much of what it reads is judged:", "", table]


def _notes(board: Leaderboard) -> list[str]:
    """Notes that a reader should know before trusting a number."""
    notes = []
    for dataset in board.data.datasets:
        unknown = dataset.counts.get("judgements_of_unknown_passages")
        if unknown:
            text = f"{unknown} judgements name passages that the corpus lacks"
            notes.append(f"- {escaped(dataset.name)}: {text}; they stay in the denominators.")
    for row in board.rows:
        notes += [f"- {escaped(row.name)}: {prose(' '.join(flag.split()))}." for flag in row.notes]
    return notes + [f"- Tuned: {escaped(line)}." for line in tuned(board)]
