"""`harness pictures`: the plots of a leaderboard as SVG files, which its README shows."""

from __future__ import annotations

import argparse
import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.plugin import JSON, HarnessError, shown_path, unknown
from harness.toolkit import boards, commands
from harness.toolkit.boards import Leaderboard, Row, compared, plots, results
from harness.toolkit.files import writing
from harness_site.standings import literal


class Picture(NamedTuple):
    """A picture of one dataset, or of the whole leaderboard."""

    name: str
    title: str
    spec: dict[str, JSON]


def arguments(command: argparse.ArgumentParser) -> None:
    commands.leaderboard(command)
    commands.beside(command)
    baseline = "also draw the differences of all systems from this one, with intervals"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    two = "also draw two systems query by query"
    command.add_argument("--systems", nargs=2, metavar=("A", "B"), help=two)


def run(options: argparse.Namespace) -> int:
    board = boards.beside(boards.read(options.leaderboard), [boards.read(path) for path in options.beside])
    known = dict.fromkeys(row.system for row in board.rows)
    for name in [*([options.baseline] if options.baseline else []), *(options.systems or [])]:
        if name not in known:
            raise HarnessError(f"pictures: {unknown('system', name, known)}")
    with writing.explaining(board.folder):
        drawn = write(board, [*pictures(board), *_compared(board, options.baseline, options.systems)])
    for path in drawn:
        print(shown_path(path))
    return 0


def pictures(board: Leaderboard) -> Iterator[Picture]:
    """The pictures of a leaderboard: cost, slices and tuning of each dataset, followed by its analyses."""
    for dataset in board.data.datasets:
        name = dataset.name
        rows = board.rows_of(name)
        label = _label(board, rows)
        if label is None:
            continue
        if values := plots.pareto_values(rows, label):
            spec = plots.filled(plots.pareto(label, "seconds of work"), values)
            yield Picture(f"{name}-cost", f"{label} against cost on {name}", spec)
        slices: list[dict[str, JSON]] = [
            {"x": part, "y": row.system, "series": item.measures[label].mean}
            for row in rows
            for part, item in row.slices.items()
            if label in item.measures
        ]
        if slices:
            yield Picture(
                f"{name}-slices",
                f"{label} by slice on {name}",
                plots.filled(plots.heat("", "", label), slices),
            )
        for number, (title, spec) in enumerate(plots.tuned(rows), 1):
            yield Picture(f"{name}-tuning-{number}", title, spec)
    for analysis in board.data.analyses or ():
        drawn = plots.analysis(analysis)
        if drawn is not None:
            yield Picture(analysis.name, analysis.title, drawn)


def _compared(board: Leaderboard, baseline: str | None, systems: Sequence[str] | None) -> Iterator[Picture]:
    """The pictures of each dataset that has the baseline, or both systems."""
    for name in [dataset.name for dataset in board.data.datasets]:
        rows = board.rows_of(name)
        label = _label(board, rows)
        named = {row.system: row for row in rows if row.origin != "published" and label in row.measures}
        if label is None:
            continue
        if baseline in named and len(named) > 1:
            only = compared.Filters((literal(name),), (literal(label),))
            loaded = compared.of_boards([board], [board.data.name], only)
            tested = compared.compare(loaded, compared.Settings("baseline", baseline))
            spec = plots.forest_of(tested, label, baseline)
            yield Picture(f"{name}-differences", f"{label} on {name}: differences from {baseline}", spec)
        if systems and all(system in named for system in systems):
            known = results.queries_of(board, [named[system] for system in systems], label)
            values = plots.pair_values(known.ids, *known.values)
            title = f"{label} on {name}, query by query: {' and '.join(systems)}"
            yield Picture(f"{name}-queries", title, plots.filled(plots.pairs(*systems), values))


def write(board: Leaderboard, drawn: Sequence[Picture]) -> list[Path]:
    """Writes all pictures, and shows them in the README if `harness run` wrote it. Pictures of an earlier
    leaderboard that are no longer drawn are removed."""
    folder = board.folder / plots.PICTURES
    files = {file_name(picture): _titled(plots.svg(picture.spec), picture.title) for picture in drawn}
    if files:
        folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.svg")):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        writing.replace_file(folder / name, text.encode())
    plots.show_pictures(board.folder)
    return [folder / name for name in files]


def file_name(picture: Picture) -> str:
    return re.sub(r"[^\w.+-]", "_", picture.name) + ".svg"


def _titled(svg: str, title: str) -> str:
    """The SVG with a title, which screen readers read out."""
    head, closing, rest = svg.partition(">")
    return f"{head}{closing}<title>{html.escape(title, quote=False)}</title>{rest}"


def _label(board: Leaderboard, rows: Sequence[Row]) -> str | None:
    return next((label for label in board.columns if any(label in row.measures for row in rows)), None)
