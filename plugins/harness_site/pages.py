"""The pages of the site as plain data: tables of cells, which the script of the page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.plugin import JSON
from harness.toolkit.boards import DATASET_STEPS
from harness_site import front, methods, standings
from harness_site.cells import ORIGINS, grouped, link, score, table
from harness_site.collected import COUNTS, Entry, Line, lines_of, slug_of, states
from harness_site.methods import Known
from harness_site.standings import Tiers

TIERS = (
    "Systems that share a letter do not differ significantly (all pairs, randomisation test, corrected, "
    "as in harness compare)"
)


class Facts(NamedTuple):
    """What the tables say of rows beside their numbers."""

    known: Known
    tiers: Tiers


class Page(NamedTuple):
    path: str
    data: dict[str, JSON]


def pages(entries: Sequence[Entry], title: str, known: Known) -> list[Page]:
    """The index, and one page for every leaderboard, dataset and system."""
    lines = lines_of(entries)
    facts = Facts(known, Tiers())
    made = [_index(entries, lines, title, facts)]
    made += [_board(entry, title, facts) for entry in entries]
    made += [
        _dataset(name, group, title, facts) for name, group in grouped(lines, lambda line: line.row.dataset)
    ]
    current = [line for line in lines if not line.entry.earlier]
    made += [
        _system(name, group, title, facts) for name, group in grouped(current, lambda line: line.row.system)
    ]
    for page in made:
        stem = page.path.removesuffix(".html").replace("/", "-")
        for number, item in enumerate(tables_of(page)):
            item["csv"] = f"csv/{stem}-{number}.csv"
    return made


def tables_of(page: Page) -> list[dict[str, JSON]]:
    """All tables of a page, those of its front included."""
    return [*page.data["tables"], *page.data.get("front", {}).get("groups", ())]


def _index(entries: Sequence[Entry], lines: Sequence[Line], title: str, facts: Facts) -> Page:
    current = [entry for entry in entries if not entry.earlier]
    now = [line for line in lines if not line.entry.earlier]
    datasets, systems = ({line.row.dataset for line in now}, {line.row.system for line in now})
    changed = max((entry.date for entry in current), default="")
    lead = f"{len(current)} leaderboards, {len(datasets)} datasets, {len(systems)} systems"
    lead += f"; last change {changed}"
    filters = ["origin", "dataset", "leaderboard", "measure"]
    data = _data(title, title, lead, front.tables(entries, lines), "", filters)
    return Page("index.html", {**data, "front": front.front(entries, lines, facts.tiers)})


def _board(entry: Entry, site: str, facts: Facts) -> Page:
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
            tables.append(_scores(dataset.name, group, note, ["system"], facts))
    about = [["changed", entry.date], ["protocol", data.suite.protocol or "bare measures"]]
    about += [["harness", data.environment.harness]] if data.environment.harness else []
    about += [["suite digest", data.suite.digest]] if data.suite.digest else []
    lead = data.description + (" An earlier state of this leaderboard." if entry.earlier else "")
    return Page(f"boards/{entry.slug}.html", _data(entry.name, site, lead, tables, "../", [], about))


def _dataset(name: str, lines: Sequence[Line], site: str, known: Facts) -> Page:
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
        tables.append(_scores(f"{split} split{which}", [*group, *beside], _data_note(group[0]), heads, known))
    splits = {line.row.split for line in scored}
    left = [line for line in papers if line.row.split not in splits]
    for split, group in grouped(left, lambda line: line.row.split):
        tables.append(_scores(f"{split} split, published", group, "", heads, known))
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


def _system(name: str, lines: Sequence[Line], site: str, facts: Facts) -> Page:
    heads = ["dataset", "leaderboard", "methods", "origin"]
    table = _scores("Results", lines, "", heads, facts, ranked=False)
    datasets, boards = ({line.row.dataset for line in lines}, {line.entry.slug for line in lines})
    lead = f"On {len(datasets)} dataset{'s' * (len(datasets) != 1)} in {len(boards)} leaderboard"
    lead += f"{'s' * (len(boards) != 1)}. Systems of one name may differ from leaderboard to leaderboard: "
    lead += "look at the methods."
    data = _data(name, site, lead, [table], "../", ["leaderboard", "origin"])
    return Page(f"systems/{slug_of(name)}.html", data)


def _scores(
    caption: str, lines: Sequence[Line], note: str, heads: Sequence[str], facts: Facts, ranked: bool = True
) -> dict[str, JSON]:
    """A table of rows with all columns that at least one of them has. If the rows are `ranked`, they are of
    one dataset: the best value of each column is marked, the first column has tiers and is drawn, and the
    scores come right after the first of `heads`, where a phone shows them."""
    labels = list(dict.fromkeys(label for line in lines for label in line.entry.board.columns))
    labels = [label for label in labels if any(label in line.row.measures for line in lines)]
    best = {
        label: max(line.row.measures[label].mean for line in lines if label in line.row.measures)
        for label in labels
    }
    first = standings.primary([line.row for line in lines], labels) if ranked else None
    tiers = facts.tiers(lines, first) if first else {}
    known = [methods.cells(methods.described(line.row, facts.known)) for line in lines]
    kept = [i for i in range(len(methods.COLUMNS)) if any(cells[i] is not None for cells in known)]
    timed = any(line.row.cost.seconds is not None for line in lines)
    rows, before = [], 1 if ranked else len(heads)
    for line, cells in zip(lines, known, strict=True):
        row: list[JSON] = [_head(head, line) for head in heads[:before]]
        for label in labels:
            measure = line.row.measures.get(label)
            tier = tiers.get(standings.key_of(line.row, label)) if measure and label == first else None
            row.append(measure and score(measure, ranked and measure.mean == best[label], tier))
        row += [line.row.cost.seconds] if timed else []
        rows.append([*row, *(_head(head, line) for head in heads[before:]), *(cells[i] for i in kept)])
    columns = [*heads[:before], *(f"#{label}" for label in labels), *(["#seconds"] if timed else [])]
    columns += [*heads[before:], *(methods.COLUMNS[i] for i in kept)]
    if first is None:
        return table(caption, columns, rows, note)
    at = before + labels.index(first)
    note = ". ".join(part for part in (note, TIERS if tiers else "") if part)
    return {**table(caption, columns, rows, note, sort=at), "drawn": at}


def _head(head: str, line: Line) -> JSON:
    """A cell that describes the row, for the column `head`."""
    row, entry = line.row, line.entry
    if head == "system":
        return link(row.system, "systems", slug_of(row.system), row.error or "")
    if head == "dataset":
        return link(row.dataset, "datasets", slug_of(row.dataset))
    if head == "leaderboard":
        return link(entry.name + (" (earlier)" if entry.earlier else ""), "boards", entry.slug)
    if head == "methods":
        steps = [step.name for step in row.provenance.steps if step.step not in DATASET_STEPS]
        return ", ".join(dict.fromkeys(steps))
    return ORIGINS[row.origin] if head == "origin" else entry.date


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
