"""The plots of a leaderboard as SVG files, which its README shows."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness import findings
from harness.html import plots, vega
from harness.leaderboard import readme
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.store import disk
from harness.types import JSON


class Picture(NamedTuple):
    """A picture of one dataset, or of the whole leaderboard."""

    name: str
    dataset: str | None
    title: str
    spec: dict[str, JSON]


def pictures(board: Leaderboard) -> Iterator[Picture]:
    """The pictures of a leaderboard: cost, slices and tuning of each dataset, followed by its analyses."""
    for dataset in board.data.datasets:
        name = dataset.name
        rows = board.rows_of(name)
        label = next((label for label in board.columns if any(label in row.measures for row in rows)), None)
        if label is None:
            continue
        if values := plots.pareto_values(rows, label):
            spec = plots.filled(plots.pareto(label, "seconds of work"), values)
            yield Picture(f"{name}-cost", name, f"{label} against cost on {name}", spec)
        if fields := _slices(rows, label):
            spec = plots.filled(plots.heat("", "", label), fields)
            yield Picture(f"{name}-slices", name, f"{label} by slice on {name}", spec)
        yield from tuned(name, rows)
    for analysis in board.data.analyses or ():
        drawn = plots.analysis(analysis)
        if drawn is not None:
            yield Picture(analysis.name, analysis.dataset, analysis.title, drawn)


def write(board: Leaderboard) -> list[Path]:
    """Writes all pictures, and shows them in the README if `harness run` wrote it. Pictures of an earlier
    leaderboard that are no longer drawn are removed."""
    folder = board.folder / readme.PICTURES
    drawn = {
        file_name(picture): _titled(vega.svg(picture.spec), picture.title) for picture in pictures(board)
    }
    if drawn:
        folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.svg")):
        if path.name not in drawn:
            path.unlink()
    for name, text in drawn.items():
        disk.replace_file(folder / name, text.encode())
    readme.show_pictures(board.folder)
    return [folder / name for name in drawn]


def _titled(svg: str, title: str) -> str:
    """The SVG with a title, which screen readers read out."""
    head, closing, rest = svg.partition(">")
    return f"{head}{closing}<title>{html.escape(title, quote=False)}</title>{rest}"


def file_name(picture: Picture) -> str:
    return re.sub(r"[^\w.+-]", "_", picture.name) + ".svg"


def _slices(rows: list[Row], label: str) -> list[dict[str, findings.Cell]]:
    return [
        {"x": name, "y": row.system, "series": item.measures[label].mean}
        for row in rows
        for name, item in row.slices.items()
        if label in item.measures
    ]


def tuned(dataset: str, rows: list[Row]) -> Iterator[Picture]:
    """One picture for each tuned parameter, with a line for each system, and a heat map for each system that
    tuned two parameters together."""
    maps = [(row, item, spec) for row in rows for item in row.tuning or () if (spec := plots.grid(item))]
    for number, (row, item, spec) in enumerate(maps, 1):
        title = f"{item.measure} of {row.system} over {item.parameter}, tuned on {item.on}"
        yield Picture(f"{dataset}-tuning-grid-{number}", dataset, title, spec)
    lines: dict[tuple[str, str, str], list[dict[str, findings.Cell]]] = {}
    for row in rows:
        for item in row.tuning or ():
            if any(isinstance(value, str) for value in item.values):  # several parameters share no axis
                continue
            pairs = zip(item.values, item.curve, strict=True)
            points: list[dict[str, findings.Cell]] = [
                {"x": x, "y": y, "series": row.system} for x, y in pairs
            ]
            lines.setdefault((item.parameter, item.measure, item.on), []).extend(points)
    for number, ((parameter, measure, on), points) in enumerate(lines.items(), 1):
        spec = plots.filled(plots.curves(parameter, measure, "system"), points)
        yield Picture(
            f"{dataset}-tuning-{number}", dataset, f"{measure} over {parameter}, tuned on {on}", spec
        )
