"""The pages of the site as plain data: tables of cells, which the script of the page draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.plugin import JSON
from harness.toolkit.boards import DATASET_STEPS, Measure
from harness_site.collected import COUNTS, Entry, Line, lines_of, slug_of, states

ORIGINS = {"run": "run here", "imported": "imported", "published": "published"}


class Page(NamedTuple):
    path: str
    data: dict[str, JSON]


def pages(entries: Sequence[Entry], title: str) -> list[Page]:
    """The index, and one page for every leaderboard, dataset and system."""
    lines = lines_of(entries)
    made = [_index(entries, lines, title)]
    made += [_board(entry, title) for entry in entries]
    made += [_dataset(name, group, title) for name, group in _grouped(lines, lambda line: line.row.dataset)]
    current = [line for line in lines if not line.entry.earlier]
    return made + [
        _system(name, group, title) for name, group in _grouped(current, lambda line: line.row.system)
    ]


def _index(entries: Sequence[Entry], lines: Sequence[Line], title: str) -> Page:
    current = [entry for entry in entries if not entry.earlier]
    now = [line for line in lines if not line.entry.earlier]
    by_dataset = _grouped(now, lambda line: line.row.dataset)
    datasets = ["dataset", "language", "#leaderboards", "#systems", "measure", "#best run here", "by"]
    rows = ["system", "dataset", "leaderboard", "origin", "measure", "#score"]
    tables = [
        _table(
            "Leaderboards",
            ["leaderboard", "#datasets", "#systems", "rows", "changed"],
            [_board_row(entry) for entry in current],
        ),
        _table(
            "Datasets",
            [*datasets, "#best published"],
            [_dataset_row(name, group) for name, group in by_dataset],
        ),
        _table("All rows", rows, [_row(line) for line in now]),
    ]
    systems = len({line.row.system for line in now})
    lead = f"{len(current)} leaderboards, {len(by_dataset)} datasets, {systems} systems"
    filters = ["origin", "dataset", "leaderboard", "measure"]
    return Page("index.html", _data(title, title, lead, tables, "", filters))


def _board_row(entry: Entry) -> JSON:
    data = entry.board.data
    return [
        _link(entry.name, "boards", entry.slug, data.description),
        len(data.datasets),
        len({row.system for row in data.rows}),
        ", ".join(sorted({ORIGINS[row.origin] for row in data.rows})),
        entry.date,
    ]


def _dataset_row(name: str, lines: Sequence[Line]) -> JSON:
    """The table row of a dataset: its best run and its best published row, in the column that most rows
    have."""
    label = _primary(lines)
    here = _best([line for line in lines if line.row.origin != "published"], label)
    published = _best([line for line in lines if line.row.origin == "published"], label)
    return [
        _link(name, "datasets", slug_of(name)),
        ", ".join(sorted({line.dataset.language for line in lines if line.dataset.language})),
        len({line.entry.slug for line in lines}),
        len({line.row.system for line in lines}),
        label or "",
        _score(here.row.measures[label]) if here and label else None,
        _link(here.row.system, "systems", slug_of(here.row.system)) if here else None,
        _score(published.row.measures[label]) if published and label else None,
    ]


def _row(line: Line) -> JSON:
    label = _primary([line])
    return [
        _link(line.row.system, "systems", slug_of(line.row.system)),
        _link(line.row.dataset, "datasets", slug_of(line.row.dataset)),
        _link(line.entry.name, "boards", line.entry.slug),
        ORIGINS[line.row.origin],
        label or "failed",
        _score(line.row.measures[label]) if label else None,
    ]


def _board(entry: Entry, site: str) -> Page:
    data = entry.board.data
    tables = []
    for dataset in data.datasets:
        group = [line for line in lines_of([entry]) if line.row.dataset == dataset.name]
        if group:
            counts = ", ".join(
                f"{dataset.counts[what]:,} {what.replace('_', ' ')}"
                for what in ("passages", "judged_queries")
                if what in dataset.counts
            )
            note = f"{dataset.split} split" + (f", {counts}" if counts else "")
            note += "; a trial: not comparable with a full run" if dataset.limited else ""
            tables.append(_scores(dataset.name, group, note, ["system"]))
    facts = [["changed", entry.date], ["protocol", data.suite.protocol or "bare measures"]]
    facts += [["harness", data.environment.harness]] if data.environment.harness else []
    facts += [["suite digest", data.suite.digest]] if data.suite.digest else []
    lead = data.description + (" An earlier state of this leaderboard." if entry.earlier else "")
    return Page(f"boards/{entry.slug}.html", _data(entry.name, site, lead, tables, "../", [], facts))


def _dataset(name: str, lines: Sequence[Line], site: str) -> Page:
    """The page of a dataset. It has one table for each state of the data, because numbers on different data
    are not comparable. Published rows are shown beside the rows of their split."""
    scored = [line for line in lines if line.row.origin != "published"]
    papers = [line for line in lines if line.row.origin == "published"]
    tables = []
    heads = ["system", "leaderboard", "origin", "changed"]
    parted = states(scored)
    for number, group in enumerate(parted, 1):
        split = group[0].row.split
        beside = [line for line in papers if line.row.split == split]
        which = f", data {number} of {len(parted)}" if len(parted) > 1 else ""
        tables.append(_scores(f"{split} split{which}", [*group, *beside], _data_note(group[0]), heads))
    splits = {line.row.split for line in scored}
    left = [line for line in papers if line.row.split not in splits]
    for split, group in _grouped(left, lambda line: line.row.split):
        tables.append(_scores(f"{split} split, published", group, "", heads))
    described = next((line.dataset for line in scored), lines[0].dataset)
    facts = [
        [what, value]
        for what, value in (
            ("language", described.language), ("licence", described.licence),
            ("citation", described.citation), ("address", described.url),
        )
        if value
    ]  # fmt: skip
    boards = len({line.entry.slug for line in lines if not line.entry.earlier})
    lead = f"{len({line.row.system for line in lines})} systems in {boards} leaderboard{'s' * (boards != 1)}"
    return Page(
        f"datasets/{slug_of(name)}.html",
        _data(name, site, lead, tables, "../", ["origin", "leaderboard"], facts),
    )


def _data_note(line: Line) -> str:
    counts = [
        f"{line.dataset.counts[what]:,} {what.replace('_', ' ')}"
        for what in COUNTS
        if what in line.dataset.counts
    ]
    trial = ["a trial: not comparable with a full run"] if line.dataset.limited else []
    return ", ".join([*counts, *trial])


def _system(name: str, lines: Sequence[Line], site: str) -> Page:
    heads = ["dataset", "leaderboard", "methods", "origin"]
    table = _scores("Results", lines, "", heads, ranked=False)
    datasets, boards = ({line.row.dataset for line in lines}, {line.entry.slug for line in lines})
    lead = f"On {len(datasets)} dataset{'s' * (len(datasets) != 1)} in {len(boards)} leaderboard"
    lead += f"{'s' * (len(boards) != 1)}. Systems of one name may differ from leaderboard to leaderboard: "
    lead += "look at the methods."
    data = _data(name, site, lead, [table], "../", ["leaderboard", "origin"])
    return Page(f"systems/{slug_of(name)}.html", data)


def _scores(
    caption: str, lines: Sequence[Line], note: str, heads: Sequence[str], ranked: bool = True
) -> dict[str, JSON]:
    """A table of rows with all columns that at least one of them has. If the rows are `ranked`, they are of
    one dataset, and the best value of each column is marked."""
    labels = list(dict.fromkeys(label for line in lines for label in line.entry.board.columns))
    labels = [label for label in labels if any(label in line.row.measures for line in lines)]
    best = {
        label: max(line.row.measures[label].mean for line in lines if label in line.row.measures)
        for label in labels
    }
    timed = any(line.row.cost.seconds is not None for line in lines)
    rows = []
    for line in lines:
        measures = [(label, line.row.measures.get(label)) for label in labels]
        cells = [
            None if measure is None else _score(measure, ranked and measure.mean == best[label])
            for label, measure in measures
        ]
        spent = [line.row.cost.seconds] if timed else []
        rows.append([*(_head(head, line) for head in heads), *cells, *spent])
    columns = [*heads, *(f"#{label}" for label in labels), *(["#seconds"] if timed else [])]
    return _table(caption, columns, rows, note, sort=len(heads) if ranked else -1)


def _head(head: str, line: Line) -> JSON:
    """A cell that describes the row, for the column `head`."""
    row, entry = line.row, line.entry
    if head == "system":
        return _link(row.system, "systems", slug_of(row.system), row.error or "")
    if head == "dataset":
        return _link(row.dataset, "datasets", slug_of(row.dataset))
    if head == "leaderboard":
        return _link(entry.name + (" (earlier)" if entry.earlier else ""), "boards", entry.slug)
    if head == "methods":
        steps = [step.name for step in row.provenance.steps if step.step not in DATASET_STEPS]
        return ", ".join(dict.fromkeys(steps))
    return ORIGINS[row.origin] if head == "origin" else entry.date


def _primary(lines: Sequence[Line]) -> str | None:
    """The column that most rows have; the first such column if several have equally many."""
    counts: dict[str, int] = {}
    for line in lines:
        for label in line.row.measures:
            counts[label] = counts.get(label, 0) + 1
    return max(counts, key=lambda label: counts[label], default=None)


def _best(lines: Sequence[Line], label: str | None) -> Line | None:
    having = [line for line in lines if label in line.row.measures and not line.dataset.limited]
    return max(having, key=lambda line: line.row.measures[label].mean) if having and label else None


def _score(measure: Measure, best: bool = False) -> JSON:
    digits = measure.sources[0].digits if measure.sources else 4
    low, high = measure.ci95 or (None, None)
    return {"mean": measure.mean, "low": low, "high": high, "digits": digits, "best": best}


def _link(text: str, folder: str, slug: str, says: str = "") -> JSON:
    return {"text": text, "href": f"{folder}/{slug}.html", "says": says}


def _table(
    caption: str, columns: Sequence[str], rows: Sequence[JSON], note: str = "", sort: int = -1
) -> dict[str, JSON]:
    """A table of a page. The name of a column of numbers begins with #. `sort` is the column by which the
    table is first sorted, best first."""
    return {"caption": caption, "columns": list(columns), "rows": list(rows), "note": note, "sort": sort}


def _data(
    name: str, site: str, lead: str, tables: Sequence[JSON], root: str, filters: Sequence[str],
    facts: Sequence[Sequence[str | None]] = (),
) -> dict[str, JSON]:  # fmt: skip
    return {
        "name": name,
        "site": site,
        "lead": lead,
        "root": root,
        "tables": list(tables),
        "filters": list(filters),
        "facts": [list(fact) for fact in facts],
        "datasets": [],  # the script that is shared with the report reads these two keys
        "rows": [],
    }


def _grouped(lines: Iterable[Line], key: Callable[[Line], str]) -> list[tuple[str, list[Line]]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return sorted(groups.items(), key=lambda item: item[0].casefold())
