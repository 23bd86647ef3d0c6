"""Verifies a leaderboard: computes its numbers again from its runs, judgements and per-query values."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from harness.catalogue import Catalogue
from harness.errors import HarnessError
from harness.execution.isolated_measures import IsolatedMeasures
from harness.execution.progress import Reporter
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.scoring.protocols import Scoring
from harness.store.artifacts import Store
from harness.verify import rows
from harness.verify.data import Absent, Data, scoring_of
from harness.verify.rows import Tolerance

Mark: TypeAlias = Literal["verified", "claimed", "published", "failed", "wrong", "unchecked"]
WORDS: dict[Mark, str] = {
    "verified": "every number follows from its run and the judgements",
    "claimed": "no run is here; checked against its per-query values alone",
    "published": "numbers of a paper",
    "failed": "has no numbers",
    "wrong": "a number, a file or a judgement is not what it was",
    "unchecked": "its run is here, what it is scored by is not",
}


class Checked(NamedTuple):
    """A row and the result of checking it."""

    dataset: str
    system: str
    mark: Mark
    findings: tuple[str, ...]  # what is wrong, with measure and file


class Verification(NamedTuple):
    rows: tuple[Checked, ...]
    findings: tuple[str, ...]  # about datasets and columns
    needs: tuple[str, ...]  # missing data, by digest, with reasons

    @property
    def exit_code(self) -> int:
        """0 if nothing is wrong, 1 if something is wrong, 2 if data for a check is missing."""
        if self.findings or any(row.mark == "wrong" for row in self.rows):
            return 1
        return 2 if any(row.mark == "unchecked" for row in self.rows) else 0


def verify(
    board: Leaderboard, store: Store, catalogue: Catalogue, reporter: Reporter, suite: Path | None = None
) -> Verification:
    """Checks every row. The datasets are read as the leaderboard describes them, or as `suite` does; no
    method is run. On the same type of CPU, files must be equal byte for byte; otherwise numbers may differ by
    `rows.TOLERANCE`."""
    data = Data(board, store, catalogue, reporter, suite)
    tolerance = rows.tolerance_of(board)
    findings: list[str] = []
    needs: dict[str, None] = {}
    scoring: Scoring | None = None
    if any(rows.has_run(board, row) for row in board.rows):
        try:
            scoring = scoring_of(board, catalogue)
            findings += rows.columns(board, scoring)
        except HarnessError as error:
            needs[str(error)] = None
    checked = []
    with IsolatedMeasures(store) as isolated:
        if scoring is not None:
            scoring = scoring._replace(plugin_measures=isolated.of(scoring.plugin_measures))
        for row in board.rows:
            result, missing = _row(board, row, data, scoring, tolerance)
            checked.append(result)
            needs.update(dict.fromkeys(missing))
    findings += data.findings
    return Verification(tuple(checked), tuple(findings), tuple(needs))


def _row(
    board: Leaderboard, row: Row, data: Data, scoring: Scoring | None, tolerance: Tolerance
) -> tuple[Checked, tuple[str, ...]]:
    """The result for one row, and the data that would be needed to verify it."""

    def marked(mark: Mark, findings: list[str] | None = None) -> Checked:
        return Checked(row.dataset, row.system, "wrong" if findings else mark, tuple(findings or ()))

    if row.status == "failed":
        return marked("failed"), ()
    if row.origin == "published":
        return marked("published"), ()
    findings = [*rows.files(board, row), *rows.keys(board, row), *rows.from_values(board, row, tolerance)]
    if not rows.has_run(board, row):
        return marked("claimed", findings), data.digests(row.dataset, "to make its runs")
    opened = data.opened(row.dataset)
    if isinstance(opened, Absent) or scoring is None:
        why = opened.reason if isinstance(opened, Absent) else ""
        return marked("unchecked", findings), data.digests(row.dataset, why) if why else ()
    recomputed = rows.from_run(board, row, opened, scoring, tolerance)
    return marked("verified", list(dict.fromkeys([*findings, *recomputed]))), ()
