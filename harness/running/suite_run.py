"""Runs a suite from its plan to its leaderboard. Steps that are finished already are reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError, Problems
from harness.execution.engine import limits_of, missing_needs
from harness.execution.isolated_measures import IsolatedMeasures
from harness.execution.open_dataset import with_rebuilds, without_key
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure
from harness.execution.workers import Workers
from harness.leaderboard import board_file, hints, history, readme
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Board
from harness.plan import analyse
from harness.plan.graph import Plan, Row, Step
from harness.problems import shown_path
from harness.running import findings, rows
from harness.running.preparation import Prepared, refusals, short_of_corpora, short_of_runs
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.remote_transfer import fetch_missing
from harness.suite import Suite
from harness.suite.changes import written


class Outcome(NamedTuple):
    leaderboard: Leaderboard
    path: Path
    failures: tuple[Failure, ...]  # each failure once
    changes: tuple[str, ...]  # one line per row that differs from the leaderboard before
    is_behind: bool  # whether the remote lacks artifacts, because a push failed

    @property
    def exit_code(self) -> int:
        """The exit code of the run: 0 if all rows are there and no push failed, 2 if there is no row and the
        input was wrong, else 1."""
        none = all(row.status == "failed" for row in self.leaderboard.rows)
        if none and any(failure.user for failure in self.failures):
            return 2
        return 0 if self.leaderboard.ok and not self.failures and not self.is_behind else 1


def _check_same_suite(before: Leaderboard, suite: Suite) -> None:
    """Raises HarnessError if a run of the suite may not write over the leaderboard `before`."""
    where, name = shown_path(before.folder / board_file.FILE), before.data.name
    if name != suite.name:
        advice = "give this one a folder with --out DIR, or say --replace"
        raise HarnessError(f"{where}: is of the suite '{name}', not '{suite.name}'; {advice}")
    if suite.changes.limits and not any(dataset.limited for dataset in before.data.datasets):
        advice = "give the trial a folder with --out DIR, or say --replace"
        raise HarnessError(f"{where}: is of a run without limits; {advice}")


def execute(
    prepared: Prepared, store: Store, out: Path, reporter: Reporter, jobs: int = 1, fresh: bool = False,
    replace: bool = False, keep_going: bool = False, workers: Workers | None = None,
) -> Outcome:  # fmt: skip
    """Execute the steps that are not finished, score the rows, and write the leaderboard with its runs into
    `out`. A folder that has the leaderboard of another suite is refused, unless `replace` says to replace it
    with its files. A plan with missing needs is refused; with `keep_going`, only the rows with missing needs
    fail. Steps run on the `workers`, or in `jobs` processes of this machine. Results that depend on more than
    their keys hold are removed at the end."""
    try:
        return _executed(prepared, store, out, reporter, jobs, fresh, replace, keep_going, workers)
    finally:
        for step in without_key(prepared.plan.steps, store):
            store.discard(step)
            store.forget(step)
            if (
                store.remote is not None and store.remote.write
            ):  # the nodes of a cluster share all steps there
                store.remote.forget(step)


def _executed(
    prepared: Prepared, store: Store, out: Path, reporter: Reporter, jobs: int, fresh: bool, replace: bool,
    keep_going: bool, workers: Workers | None,
) -> Outcome:  # fmt: skip
    planned, limits = prepared.plan, limits_of(prepared.plan.suite)
    before = board_file.read_if_any(out)
    if before is not None and not replace:
        _check_same_suite(before, planned.suite)
    if store.remote is not None:
        store.remote.read, store.remote.replace, store.remote.note = not fresh, fresh, reporter.note
        fetch_missing(store, planned.steps, prepared.targets, reporter.note)  # these have no needs here
    failures: dict[str, Failure] = _unmet(prepared, store, keep_going)
    disk.check_writable(out)
    targets = [target for target in prepared.targets if target not in failures]
    _make_room(planned, store, out, targets, reporter, fresh)
    failures |= with_rebuilds(
        planned.steps, targets, lambda failed: dict(failed), store, reporter, jobs, limits, workers
    )
    earlier = rows.rows_before(before, planned.suite)
    shown = rows.shown_rows(planned, store, earlier)
    analyses = _analyses(prepared, shown, failures, store, fresh)

    def scored(failed: Mapping[str, Failure]) -> tuple[Board, list[Failure]]:
        known = {**failures, **failed}
        found = findings.of_analyses(planned, list(analyses.values()), known, store)
        found += findings.of_trainings(planned, store)
        with disk.explaining(out):
            content, at_scoring = rows.board_of_run(
                planned, scoring, store, out, shown, earlier, known, reporter, found
            )
        return content, [*known.values(), *at_scoring]

    with IsolatedMeasures(store, limits) as isolated, store.leases.held(analyses):
        scoring = prepared.scoring._replace(plugin_measures=isolated.of(prepared.scoring.plugin_measures))
        every = {**planned.steps, **analyses}
        wanted = [*(target for target in targets if target not in failures), *analyses]
        content, failed = with_rebuilds(every, wanted, scored, store, reporter, jobs, limits, workers)
    failed += _failed_measures(isolated, reporter)
    for dataset in content.datasets:
        if unknown := dataset.counts.get("judgements_of_unknown_passages"):
            reporter.note(f"{dataset.name}: judgements of passages that the corpus lacks: {unknown}")
    # an analysis' key depends on the rows that exist, so later runs may never finish an interrupted one
    store.forget_all("analyse")
    board = Leaderboard(content, out)
    changes = _write(board, before, planned, store, reporter)
    by_reason = {failure.reason: failure for failure in failed}
    is_behind = store.remote is not None and store.remote.is_behind
    return Outcome(board, out / board_file.FILE, tuple(by_reason.values()), tuple(changes), is_behind)


def _unmet(prepared: Prepared, store: Store, keep_going: bool) -> dict[str, Failure]:
    """The targets that cannot be made here, each with its first need. Raises Problems if there are any,
    unless the run may keep going without them."""
    steps, targets = prepared.plan.steps, prepared.targets
    needs = {target: missing_needs(steps, store, [target]) for target in targets}
    unmet = {target: Failure(target, f"needs: {need[0]}", True) for target, need in needs.items() if need}
    refused = refusals(prepared, store)
    if refused and not (keep_going and len(unmet) < len(targets)):
        where = shown_path(prepared.plan.suite.path)
        advice = "the other rows run with --keep-going, or by name with --only"
        raise Problems([*(f"{where}: needs: {need}" for need in refused), f"{where}: {advice}"])
    return unmet


def _make_room(
    planned: Plan, store: Store, out: Path, targets: Sequence[str], reporter: Reporter, fresh: bool
) -> None:
    """Prepare the store for a run: note what the disks lack, and remove what killed runs left; if the run is
    `fresh`, also what it is to do again."""
    ancestors = planned.ancestors(targets)
    corpora = short_of_corpora(planned, store, ancestors)
    for note in filter(None, (corpora, short_of_runs(planned, store, out))):
        reporter.note(note)
    if fresh:
        store.discard_parts(ancestors)
        for step in ancestors:
            store.discard(step)
            store.forget(step)
    store.forget_finished()
    reporter.planned(len(ancestors), sum(store.has(step) for step in ancestors))
    for step in sorted(ancestors):  # the date of their last use, for a later `cache gc`
        store.touch(step)


def _analyses(
    prepared: Prepared, shown: Sequence[Row], failures: Mapping[str, Failure], store: Store, fresh: bool
) -> dict[str, Step]:
    """The steps of the analyses over the rows that have hits."""
    ranked = [row for row in shown if row.hits is not None and row.hits not in failures]
    steps = analyse.steps(prepared.plan, ranked, prepared.scoring.columns)
    by_id = {step.id: step for step in steps}
    gone = without_key(prepared.plan.steps, store)
    for step in by_id:
        if not fresh and gone.isdisjoint(by_id[step].inputs):
            continue
        store.discard(step)
        store.forget(step)
    return by_id


def _failed_measures(isolated: IsolatedMeasures, reporter: Reporter) -> list[Failure]:
    """The measures of plugins that failed. Their columns are left out."""
    failed = []
    for name, reason in isolated.failed.items():
        log = isolated.logs.get(name)
        reporter.note(f"{reason}; its column is left out" + (f"; its output is in {log}" if log else ""))
        failed.append(Failure(name, reason, False))
    return failed


def _write(
    board: Leaderboard, before: Leaderboard | None, planned: Plan, store: Store, reporter: Reporter
) -> list[str]:
    """Write a leaderboard with its page into its folder. The one `before` becomes part of the history, and
    its runs that are no longer cited are removed. Returns the changes of rows since then, if it was kept."""
    changes: list[str] = []
    with disk.explaining(board.folder):
        if before is not None:
            if history.keep(before, board) is not None:
                changes = history.changes(before, board)
            history.remove_runs(before, board)
        board.write()
        specs = [planned.collections[dataset.name].spec for dataset in board.data.datasets]
        hints.write(board.folder, planned.suite.path, store.root, specs)
        _write_page(board, planned, reporter)
    return changes


def _write_page(board: Leaderboard, planned: Plan, reporter: Reporter) -> None:
    """Write the leaderboard's page as the folder's README. A README that the harness did not write is left
    alone, and the page is written beside it."""
    text = readme.page(board, written(planned.suite.path, planned.suite.changes))
    readme_path = shown_path(board.folder / readme.FILE)
    page = readme.write(board.folder, text)
    if page is None:
        reporter.note(f"{readme_path}: was not written by harness, and is left alone")
    elif page.name != readme.FILE:
        reporter.note(f"{readme_path}: is left alone; the leaderboard's page is {shown_path(page)}")
