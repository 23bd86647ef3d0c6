"""A leaderboard for notebooks: shown as a table, plotted, compared, and inspected query by query."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import HarnessError
from harness.leaderboard import board_file, text_tables
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Dataset, Row
from harness.notebook import drawn

if TYPE_CHECKING:
    from harness.html.content import Tiers

WIDTH = 120  # the width of a text in a cell, in characters
STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.3em 0 1.2em",
    "text-align:left;padding:.25em .8em .25em 0;border-bottom:1px solid currentColor",
    "text-align:right;padding:.25em .8em;border-bottom:1px solid currentColor",
    "text-align:left;padding:.2em .8em .2em 0",
    "text-align:right;padding:.2em .8em",
)


class Text(NamedTuple):
    """A result that a cell shows as text."""

    text: str
    data: Any = None  # the result as values

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre style='line-height:1.35;overflow-x:auto'>{html.escape(self.text)}</pre>"


@dataclass(frozen=True, repr=False)
class Board(Leaderboard):
    """A leaderboard with methods for notebooks."""

    store: Path | None = None  # the store of its run, for texts; None for the user's cache

    def __repr__(self) -> str:
        datasets, systems = len(self.data.datasets), len({row.system for row in self.rows})
        failed = sum(row.status == "failed" for row in self.rows)
        facts = [f"{datasets} dataset{'s' * (datasets != 1)}", f"{systems} system{'s' * (systems != 1)}"]
        facts += [f"{failed} row{'s' * (failed != 1)} failed"] if failed else []
        scored = [row for row in self.rows if self.columns and self.columns[0] in row.measures]
        if scored:
            best = max(scored, key=lambda row: row.measures[self.columns[0]].mean)
            facts.append(f"best {self.columns[0]} {best.measures[self.columns[0]].mean:.4f} by {best.system}")
        return f"<Board {self.data.name}: {', '.join(facts)}>"

    def __str__(self) -> str:
        return text_tables.render(self, "table")

    def _repr_html_(self) -> str:
        """HTML with one table for each dataset, and with the letters of `compare`: systems that share a
        letter do not differ significantly."""
        from harness.html import tiers

        tested = tiers.tiers(self, self.folder)
        parts = [self._table(dataset, tested.letters) for dataset in self.data.datasets]
        notes = [*text_tables.failures(self), *([tested.note] if tested.letters else [])]
        notes += sorted({flag for row in self.rows for flag in row.notes})
        return "".join([*parts, *(f"<p style='opacity:.75'>{html.escape(note)}</p>" for note in notes)])

    def _table(self, dataset: Dataset, letters: Tiers) -> str:
        rows = self.rows_of(dataset.name)
        columns = [label for label in self.columns if any(label in row.measures for row in rows)]
        best = {
            label: max(row.measures[label].mean for row in rows if label in row.measures) for label in columns
        }

        def cell(row: Row, label: str) -> str:
            measure = row.measures.get(label)
            if measure is None:
                return f"<td style='{STYLE[4]}'></td>"
            letter = letters.get((dataset.name, label), {}).get((row.system, row.origin), "")
            shown = f"{measure.mean:.4f}"
            shown = f"<b>{shown}</b>" if measure.mean == best[label] else shown
            title = f"95 %: {measure.ci95[0]:.4f} to {measure.ci95[1]:.4f}" if measure.ci95 else ""
            mark = f"<sup>{html.escape(letter)}</sup>" if letter else ""
            return f"<td style='{STYLE[4]}' title='{title}'>{shown}{mark}</td>"

        heads = "".join(f"<th scope='col' style='{STYLE[2]}'>{html.escape(label)}</th>" for label in columns)
        lines = [
            f"<tr><th scope='row' style='{STYLE[3]};font-weight:normal'>"
            f"{html.escape(text_tables.shown_name(row, dataset.split))}"
            f"{' (failed)' if row.status == 'failed' else ''}</th>"
            f"{''.join(cell(row, label) for label in columns)}</tr>"
            for row in rows
        ]
        caption = f"{dataset.name} ({dataset.split}{', a trial' if dataset.limited else ''})"
        return (
            f"<table style='{STYLE[0]}'><caption style='text-align:left;font-weight:bold'>"
            f"{html.escape(caption)}</caption><thead><tr><th scope='col' style='{STYLE[1]}'>system</th>"
            f"{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )

    def plot(
        self, measure: str | None = None, dataset: str | None = None, cost: str = "seconds",
        dark: bool = False,
        *, kind: drawn.Kind = "cost", baseline: str | None = None, systems: Sequence[str] = (),
    ) -> drawn.Picture:  # fmt: skip
        """A plot with tooltips and zoom: effectiveness with intervals against cost; with `kind="differences"`
        the differences from the `baseline` with intervals; with `kind="queries"` two `systems` query by
        query; with `kind="tuning"` the scores of tuned values. Needs the extra `report`."""
        name, label = drawn.chosen(self, dataset, measure)
        if kind == "differences":
            if baseline is None:
                raise HarnessError("plot: kind 'differences' needs a baseline, such as baseline=\"bm25\"")
            from harness.html import plots

            compared = self.compare(baseline=baseline, measures=[label], datasets=[name]).data
            spec = plots.forest_of(compared, label, baseline)
        elif kind == "queries":
            spec = drawn.queries(self, name, label, systems)
        elif kind == "tuning":
            spec = drawn.tuning(self.rows_of(name), name)
        elif kind == "cost":
            spec = drawn.cost(self, name, label, cost)
        else:
            raise HarnessError(f"plot: no kind {kind!r}; choose cost, differences, queries or tuning")
        return drawn.picture(spec, dark)

    def compare(
        self, other: Leaderboard | str | Path | None = None, *, baseline: str | None = None,
        measures: Sequence[str] = (), datasets: Sequence[str] = (),
    ) -> Text:  # fmt: skip
        """The systems of this leaderboard compared with each other, or with a baseline. With `other`, the
        differences from that leaderboard."""
        from harness.compare import Settings, compare, load
        from harness.compare.data import Filters, check_baseline
        from harness.compare.diff import diff
        from harness.compare.diff_text import render as render_diff
        from harness.compare.text import render

        filters = Filters(tuple(datasets), tuple(measures))
        if other is not None:
            before = other.folder if isinstance(other, Leaderboard) else Path(other)
            differences = diff((before, self.folder), filters)
            return Text(render_diff(differences, "table", bool(measures)), differences)
        loaded = load([self.folder], filters)
        check_baseline(baseline, [entry for field in loaded.fields for entry in field.entries])
        compared = compare(loaded, Settings("baseline" if baseline else "all", baseline))
        return Text(render(compared, "table"), compared)

    def query(
        self, id: str, *, systems: Sequence[str] = (), dataset: str | None = None, top: int = 5
    ) -> Text:
        """One query: the rankings side by side, its positives, and the texts as the systems read them."""
        from rich.console import Console

        from harness.inspect import query, terminal
        from harness.store.artifacts import Store
        from harness.user_cache import default_store

        out = io.StringIO()
        console = Console(file=out, width=WIDTH, highlight=False, force_terminal=False, force_jupyter=False)
        store = Store(self.store or default_store()).open()
        views = []
        for described, rows in query.chosen_rows(self, dataset, list(systems)):
            inspected = query.opened(self, described, rows, store, [id])
            is_query = inspected.material is not None and id in inspected.material.number
            if is_query or inspected.knows(id):
                views.append(inspected.query(id, top, None))
                terminal.show_query(console, views[-1], inspected)
        if not views:
            names = ", ".join(item.name for item in self.data.datasets)
            raise HarnessError(f"query '{id}': no such query in {names}; look into per-query/ for ids")
        return Text(out.getvalue(), tuple(views))


def of(board: Leaderboard, store: Path | None = None) -> Board:
    return Board(board.data, board.folder, store)


def read(path: str | Path) -> Board:
    return of(board_file.read(Path(path)))
