"""Leaderboards for people: as text, Markdown, CSV or JSON, and the README of a leaderboard's folder."""

from __future__ import annotations

import csv
import html
import io
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import orjson

from harness.leaderboard.board_file import Leaderboard
from harness.types import JSON

MARK = "<!-- written by `harness run`; a page without this line is left alone -->"
PICTURES, PICTURED, REPRODUCED = "pictures", "## Pictures", "## How to get these numbers"
FORMATS = ("table", "markdown", "csv", "json")


class Table(NamedTuple):
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(board: Leaderboard, intervals: bool = False) -> list[Table]:
    """One table a dataset, systems in the order of the suite, each column's best marked by a star."""
    found = []
    for dataset in board.data["datasets"]:
        rows = [row for row in board.rows if row["dataset"] == dataset["name"]]
        columns = [label for label in board.columns if any(label in row["measures"] for row in rows)]
        own = any(
            row["origin"] != "published" for row in rows
        )  # of a paper's tables it is not known what is best
        best = {
            label: max(row["measures"][label]["mean"] for row in rows if label in row["measures"])
            for label in columns
            if own
        }
        costed = any(_seconds(row) for row in rows)  # runs made elsewhere have no cost
        lines = []
        for row in rows:
            cells = [_cell(row["measures"].get(label), best.get(label), intervals) for label in columns]
            lines.append((_name(row), *cells, *([_seconds(row)] if costed else [])))
        title = f"{dataset['name']} ({_words(dataset, rows)})"
        head = ("system", *columns, *(["cost"] if costed else []))
        found.append(Table(title, head, tuple(lines)))
    return found


def render(board: Leaderboard, form: str) -> str:
    """The leaderboard as `table`, `markdown`, `csv` or `json` (flat records)."""
    if form == "json":
        return orjson.dumps(board.records(), option=orjson.OPT_INDENT_2).decode() + "\n"
    if form == "csv":
        out = io.StringIO()
        records = board.records()
        writer = csv.DictWriter(out, list(records[0]) if records else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return out.getvalue()
    if form == "markdown":
        return "\n".join(f"### {_escaped(table.title)}\n\n{markdown(table)}" for table in tables(board, True))
    told = [*(f"tuned: {line}" for line in tuned(board)), *failures(board)]
    below = "".join(f"{line}\n" for line in told)
    return "\n".join([*(plain(table) for table in tables(board)), *([below] if told else [])])


def plain(table: Table) -> str:
    """A table in aligned columns, by display width: Chinese characters take two places."""
    rows = [table.head, *table.rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(table.head))]
    lines = [table.title, ""]
    for row in rows:
        first = row[0] + " " * (widths[0] - _width(row[0]))
        cells = [" " * (widths[i] - _width(cell)) + cell for i, cell in enumerate(row) if i]
        lines.append("  ".join(["", first, *cells]).rstrip())
    lines.insert(3, "  " + "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(lines) + "\n"


def markdown(table: Table) -> str:
    rule = "| --- |" + " ---: |" * (len(table.head) - 1)
    rows = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in (table.head, *table.rows)]
    return "\n".join([rows[0], rule, *rows[1:]]) + "\n"


def failures(board: Leaderboard) -> list[str]:
    """Every reason once, with the rows that it failed."""
    rows: dict[str, list[str]] = {}
    for row in board.rows:
        if row["status"] == "failed":
            rows.setdefault(row["error"], []).append(f"{row['dataset']} / {row['system']}")
    return [f"failed: {', '.join(names)}: {reason}" for reason, names in rows.items()]


def tuned(board: Leaderboard) -> list[str]:
    """Every value that tuning chose once, with the rows that it is used in."""
    rows: dict[str, list[str]] = {}
    for row in board.rows:
        for item in row["tuning"]:
            rows.setdefault(_chosen(item), []).append(f"{row['dataset']} / {row['system']}")
    return [f"{', '.join(dict.fromkeys(names))}: {said}" for said, names in rows.items()]


def _chosen(item: JSON) -> str:
    """`weight = 0.7 on tour/dev by nDCG@10`, or the value of each fold."""
    values = [f"{value:g}" for value in item["folds"] or [item["value"]]]
    found = values[0] if len(set(values)) == 1 else ", ".join(values)
    return f"{item['parameter']} = {found} on {item['on']} by {item['measure']}"


def readme(board: Leaderboard, command: str) -> str:
    """The page that stands in a leaderboard's folder; `command` makes it."""
    data = board.data
    parts = [MARK, f"# {_escaped(data['name'])}", ""]
    if data["description"]:
        parts += [data["description"], ""]
    for dataset, table in zip(data["datasets"], tables(board, True), strict=True):
        parts += [f"## {_escaped(table.title)}", "", markdown(table)]
        parts += _slices(board, dataset["name"])
        parts += _limits(board, dataset["name"])
    parts += [*(f"- {_escaped(line)}" for line in failures(board))]
    parts += [*(["", *notes] if (notes := _notes(board)) else [])]
    parts += _contexts(board)
    parts += shown_pictures(board.folder)
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


def _costs(board: Leaderboard) -> list[str]:
    """How to read the column `cost`, if a row has one."""
    if not any(row["cost"] for row in board.rows):
        return ["a column."]
    environment = board.data["environment"]
    total = sum(row["cost"].get("seconds", 0) for row in board.rows)
    return [
        "a column. `cost` is the time of a system's own steps when they were first executed; a shared step",
        f"counts in every system that uses it. All rows together: {total:.1f} s on {environment['cpu']},",
        f"{environment['cores']} cores.",
    ]


def shown_pictures(folder: Path) -> list[str]:
    """The part of a README that shows the pictures which `harness report --pictures` left beside it."""
    lines = []
    for path in sorted((folder / PICTURES).glob("*.svg")):
        title = re.search(r"<title>([^<]*)</title>", path.read_text(encoding="utf-8"))
        says = (
            _escaped(html.unescape(title[1]) if title else path.stem).replace("[", "\\[").replace("]", "\\]")
        )
        lines += [f"![{says}]({PICTURES}/{quote(path.name)})", ""]
    return ["", PICTURED, "", *lines[:-1]] if lines else []


def _slices(board: Leaderboard, dataset: str) -> list[str]:
    """A table of the first column by slice."""
    rows = [row for row in board.rows if row["dataset"] == dataset and row["slices"]]
    if not rows:
        return []
    names = list(dict.fromkeys(name for row in rows for name in row["slices"]))
    label = next(label for label in board.columns if any(label in row["measures"] for row in rows))
    shown = [row for row in rows if label in row["measures"]]
    lines = []
    for row in shown:
        cells = [row["slices"].get(name, {"measures": {}})["measures"].get(label) for name in names]
        lines.append((row["system"], *(f"{cell['mean']:.3f}" if cell else "" for cell in cells)))
    counts = [next(row["slices"][name]["queries"] for row in rows if name in row["slices"]) for name in names]
    head = ("system", *(f"{name} ({count})" for name, count in zip(names, counts, strict=True)))
    return [f"{label} by slice (number of queries in brackets):", "", markdown(Table("", head, tuple(lines)))]


def _contexts(board: Leaderboard) -> list[str]:
    """What each context changed and cost: DAPR's table 6 for whoever ran this."""
    lines: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in board.rows:
        told = {item["method"]: item["facts"] for item in row["reported"] if item["step"] == "augment"}
        for name, spent in row["cost"].get("contexts", {}).items():
            facts = told.get(name, {})
            changed = f"{facts.get('passages_changed', 0):,} of {facts.get('passages', 0):,}"
            speed = f"{spent['words_per_second']:,.0f}"
            lines[row["dataset"], name] = (row["dataset"], name, changed, f"{spent['seconds']:.1f} s", speed)
    head = ("dataset", "context", "passages changed", "cost", "words a second")
    return (
        ["", "What context changed and cost:", "", markdown(Table("", head, (*lines.values(),)))]
        if lines
        else []
    )


LIMITS = {
    "ceiling": "best ranking there is",
    "candidates": "best order of its candidates",
    "judged": "share judged",
    "unjudged_removed": "unjudged removed",
    "unjudged_relevant": "unjudged all relevant",
    "without_positive_left_out": "queries with a positive",
    "unanswered_left_out": "answered queries",
}


def _limits(board: Leaderboard, dataset: str) -> list[str]:
    """A table of what the mean of the first column that has limits could have been."""
    rows = [row for row in board.rows if row["dataset"] == dataset]
    label = next((label for label in board.columns if any(label in row["limits"] for row in rows)), None)
    found = [(row, row["limits"][label]) for row in rows if label in row["limits"]]
    kinds = [kind for kind in LIMITS if any(limits[kind] is not None for _, limits in found)]
    if not found:
        return []
    lines = [
        (_name(row), *("" if limits[kind] is None else f"{limits[kind]:.3f}" for kind in kinds))
        for row, limits in found
    ]
    table = markdown(Table("", ("system", *(LIMITS[kind] for kind in kinds)), tuple(lines)))
    return [f"What {label} could have been, and how much of what it reads is judged:", "", table]


def _notes(board: Leaderboard) -> list[str]:
    """What a reader should know before trusting a number."""
    found = []
    for dataset in board.data["datasets"]:
        counts = dataset["counts"]
        if counts.get("judgements_of_unknown_passages"):
            text = (
                f"{counts['judgements_of_unknown_passages']} judgements name passages that the corpus lacks"
            )
            found.append(f"- {dataset['name']}: {text}; they stay in the denominators.")
    for row in board.rows:
        found += [f"- {row['dataset']} / {row['system']}: {flag}." for flag in row["flags"]]
    return found + [f"- Tuned: {_escaped(line)}." for line in tuned(board)]


def _words(dataset: JSON, rows: list[JSON]) -> str:
    counts = dataset["counts"]
    words = [dataset["split"]]
    if counts:
        words += [f"{counts['judged_queries']:,} queries"]
        words += [f"{counts['passages']:,} passages"] if "passages" in counts else []
    return ", ".join(words)


def _cell(found: JSON, best: float | None, intervals: bool) -> str:
    if found is None:
        return ""
    star = "*" if found["mean"] == best else ""
    if found.get("sources"):  # published: no more digits than the paper prints
        return f"{found['mean']:.{found['sources'][0]['digits']}f}{star}"
    text = f"{found['mean']:.4f}{star}"
    if not intervals or found["ci95"] is None:
        return text
    return f"{text} [{found['ci95'][0]:.3f}, {found['ci95'][1]:.3f}]"


def _name(row: JSON) -> str:
    return row["system"] if row["origin"] == "run" else f"{row['system']} ({row['origin']})"


def _seconds(row: JSON) -> str:
    if row["status"] == "failed":
        return "failed"
    return f"{row['cost']['seconds']:.1f} s" if "seconds" in row["cost"] else ""


def _escaped(text: str) -> str:
    for character in "\\|`<>":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _width(text: str) -> int:
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
