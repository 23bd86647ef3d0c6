"""The plots of a leaderboard for notebooks: cost, differences from a baseline, two systems, tuned values."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from harness.errors import HarnessError
from harness.leaderboard import selection
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.types import JSON

Kind: TypeAlias = Literal["cost", "differences", "queries", "tuning"]


class Picture(NamedTuple):
    """A plot in Vega-Lite. Cells show it with tooltips and zoom; `svg` is the drawing for a paper."""

    spec: dict[str, JSON]
    svg: str
    page: str  # the interactive plot, as a page of its own

    def __repr__(self) -> str:
        return f"<Picture of {len(self.spec['data']['values'])} points; `.svg` is the drawing>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        height = self.spec.get("height", 300)
        pixels = 80 + (height if isinstance(height, int) else 24 * len(self.spec["data"]["values"]))
        frame = (
            f'<iframe srcdoc="{html.escape(self.page)}" sandbox="allow-scripts" title="plot" '
            f'style="width:100%;max-width:720px;height:{pixels}px;border:0"></iframe>'
        )
        return {"text/plain": repr(self), "image/svg+xml": self.svg, "text/html": frame}


def picture(spec: dict[str, JSON], dark: bool) -> Picture:
    from harness.html import labels, vega

    return Picture(labels.named(spec, vega.WIDTH), vega.svg(spec, dark), vega.interactive(spec, dark))


def cost(board: Leaderboard, dataset: str, label: str, over: str) -> dict[str, JSON]:
    """Effectiveness, with intervals, against cost."""
    from harness.html import content, plots

    values = plots.pareto_values(board.rows_of(dataset), label, over)
    if not values:
        raise HarnessError(f"plot: no row of {dataset} has {label} and {over}; choose another cost")
    return plots.filled(plots.pareto(label, content.COSTS.get(over, over)), values)


def queries(board: Leaderboard, dataset: str, label: str, systems: Sequence[str]) -> dict[str, JSON]:
    """The scores of two systems query by query."""
    from harness.html import content, plots

    rows = [row for name in systems for row in board.rows_of(dataset) if row.system == name]
    if len(systems) != 2 or len(rows) != 2:
        known = ", ".join(row.system for row in board.rows_of(dataset))
        raise HarnessError(f"plot: kind 'queries' needs systems=[A, B], two systems of {dataset}: {known}")
    known_values = content.queries_of(board, rows, label)
    return plots.filled(plots.pairs(*systems), plots.pair_values(known_values.ids, *known_values.values))


def tuning(rows: Sequence[Row], dataset: str) -> dict[str, JSON]:
    """The scores of tuned values: a heat map of two parameters tuned together, else curves."""
    from harness.html import plots

    for _, spec in plots.tuned(rows):
        return spec
    raise HarnessError(f"plot: no system on {dataset} has tuned values that can be drawn")


def chosen(board: Leaderboard, dataset: str | None, measure: str | None) -> tuple[str, str]:
    """The dataset and the column to draw: by default the first of each."""
    name, label = dataset or board.data.datasets[0].name, measure or board.columns[0]
    selection.check_patterns("dataset", {item.name for item in board.data.datasets}, (name,), "dataset")
    selection.check_patterns("measure", set(board.columns), (label,), "measure")
    return name, label
