"""Writes runs in the forms besides TREC's that `harness score` reads: one file for each system."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from harness.toolkit.boards import Leaderboard
from harness.toolkit.boards.exchange import intact
from harness.toolkit.boards.stored import Store
from harness.toolkit.commands import lines_of
from harness.toolkit.files import writing
from harness_forms.written_files import Written, scored, target

ENDINGS = {"msmarco": "tsv", "rocketqa": "tsv", "tevatron": "txt", "dureader": "json"}


def write(board: Leaderboard, out: Path, store: Store, *, form: str) -> Written:
    """Writes `DATASET/SYSTEM.ENDING` for each row. Raises HarnessError for a run that is not its row's."""
    notes: list[str] = []
    paths = []
    for row in scored(board, notes):
        run = intact(board, row, "run")
        if run is None:
            notes.append(f"{row.name}: its run is not here, and is left out")
            continue
        path = target(out, row.dataset, f"{row.system}.{ENDINGS[form]}")
        with writing.replacing(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_lists(run) if form == "dureader" else _columns(run, form))
        paths.append(path)
    return Written(tuple(paths), tuple(notes))


def _columns(run: Path, form: str) -> Iterator[str]:
    for _, line in lines_of(run):
        query, _, passage, rank, score, _ = line.split()
        last = {"msmarco": rank, "rocketqa": f"{rank}\t{score}", "tevatron": score}[form]
        yield f"{query}\t{passage}\t{last}\n"


def _lists(run: Path) -> Iterator[str]:
    """The lines of a run in DuReader-retrieval's form, as its own script writes them: indented by a tab,
    without a newline at the end."""
    ranked: dict[str, list[str]] = {}
    for _, line in lines_of(run):
        query, _, passage, *_ = line.split()
        ranked.setdefault(query, []).append(passage)
    yield json.dumps(ranked, ensure_ascii=False, indent="\t")
