"""Runs a suite from its plan to its leaderboard. Steps that are finished already are reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness import plan
from harness import suite as suites
from harness.catalogue import Catalogue
from harness.errors import HarnessError, Problems
from harness.execution.engine import limits_of, missing_needs
from harness.execution.isolated_measures import IsolatedMeasures
from harness.execution.open_dataset import with_rebuilds
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure
from harness.execution.workers import Workers
from harness.leaderboard import board_file, hints, history, readme, run_findings, run_rows, run_space
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Board
from harness.plan.graph import Plan
from harness.plan.needs import described
from harness.problems import Need, Problem, shown_path
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.remote_transfer import fetch_missing
from harness.suite import NO_CHANGES, Changes, Suite, Unsound
from harness.suite.changes import written

TRIAL = "trial"  # the folder beside a suite for runs with limits


class Prepared(NamedTuple):
    """A suite that is ready to run: its plan and its scoring."""

    plan: Plan
    scoring: Scoring

    @property
    def targets(self) -> list[str]:
        """The ids of the steps that a run needs to score the selected rows, in the plan's order."""
        rows = [row for row in self.plan.rows if row.selected]
        wanted = {step for row in rows for step in (row.hits, row.labels) if step}
        for name in dict.fromkeys(row.dataset for row in rows):
            wanted.update(self.plan.collections[name].targets)
        wanted.update(step for analysis in self.plan.analyses for _, step in analysis.queries_of if rows)
        return [step for step in self.plan.steps if step in wanted]

    @property
    def needs(self) -> list[Need]:
        """The needs of the selected rows' datasets and of the analyses. Artifacts in the store are not
        considered."""
        names = dict.fromkeys(row.dataset for row in self.plan.rows if row.selected)
        needs = [need for name in names for need in self.plan.collections[name].needs]
        return needs + [need for analysis in self.plan.analyses for need in analysis.needs]


class Outcome(NamedTuple):
    leaderboard: Leaderboard
    path: Path
    failures: tuple[Failure, ...]  # each failure once
    changes: tuple[str, ...]  # one line per row that differs from the leaderboard before

    @property
    def exit_code(self) -> int:
        """The exit code of the run: 0 if all rows are there, 2 if there is no row and the input was wrong,
        else 1."""
        none = all(row.status == "failed" for row in self.leaderboard.rows)
        if none and any(failure.user for failure in self.failures):
            return 2
        return 0 if self.leaderboard.ok and not self.failures else 1


def default_folder(suite: Suite) -> Path:
    """The folder of a suite's leaderboard: the folder of the suite, or for a trial the folder `trial`
    there."""
    return suite.path.parent / TRIAL if suite.changes.limits else suite.path.parent


def read(
    path: Path, catalogue: Catalogue, store: Store, only: Sequence[str] = (), changes: Changes = NO_CHANGES
) -> Prepared:
    """Read, check and plan a suite. If its form has problems, the sound rest is planned too, so that all
    problems are reported at once."""
    try:
        return prepare(suites.load(path, catalogue, changes), catalogue, store, only)
    except Unsound as error:
        problems = list(error.problems)
        if error.rest is not None:
            try:
                prepare(error.rest, catalogue, store)
            except HarnessError as further:
                problems += further.problems
        raise Problems(problems) from None


def prepare(suite: Suite, catalogue: Catalogue, store: Store, only: Sequence[str] = ()) -> Prepared:
    """Plan a suite. Raises Problems with all problems at once."""
    problems: list[Problem] = []
    planned, scoring = None, None
    try:
        planned = plan.build(suite, catalogue, store.digests.of, only)
    except HarnessError as error:
        problems += error.problems
    try:
        documents = any(row.unit == "document" for row in planned.rows) if planned else False
        scoring = _scoring(suite, catalogue, documents)
    except HarnessError as error:
        problems += error.problems
    problems += _tuning_problems(suite, catalogue)
    if planned is None or scoring is None or problems:
        raise Problems(problems)
    return Prepared(planned, scoring)


def _tuning_problems(suite: Suite, catalogue: Catalogue) -> list[Problem]:
    """The problems with the measures for which systems are tuned, and with those by which models are
    validated."""
    problems: list[Problem] = []
    for spec in suite.models:
        if spec.validate is not None:
            _, unfit = protocols.of_measures([spec.validate.measure], suite.depth, catalogue)
            path = ("models", spec.name, "validate", "measure")
            problems += [Problem(spec.place, path, problem.text) for problem in unfit]
    for system in suite.systems:
        for tuning in (chosen.tuned or chosen.searched for chosen in system.methods):
            if tuning is not None:
                path = ("systems", system.base, "tune", "measure")
                _, unfit = protocols.of_measures([tuning.measure], suite.depth, catalogue)
                problems += [Problem(tuning.place, path, problem.text) for problem in unfit]
    return problems


def _scoring(suite: Suite, catalogue: Catalogue, documents: bool) -> Scoring:
    if suite.protocol is not None:
        try:
            return protocols.of_protocol(suite.protocol, suite.depth, catalogue)
        except HarnessError as error:
            raise Problems(error.below(suite.scoring_place, ("protocol",))) from error
    scoring, problems = protocols.of_measures(suite.measures, suite.depth, catalogue, documents=documents)
    if scoring is None:
        raise Problems(Problem(suite.scoring_place, ("measures",), problem.text) for problem in problems)
    return scoring


def refusals(prepared: Prepared, store: Store) -> list[str]:
    """The needs that are missing here, in lines. A run is refused while there are any. Steps that are in the
    store already need nothing."""
    needs = missing_needs(prepared.plan.steps, store, prepared.targets)
    return described(prepared.plan, [*needs, *prepared.needs])


def _check_same_suite(before: Leaderboard, suite: Suite) -> None:
    """Raises HarnessError if a run of the suite may not write over the leaderboard `before`."""
    where, name = shown_path(before.folder / board_file.FILE), before.data.name
    if name != suite.name:
        advice = "give this one a folder with --out DIR, or say --replace"
        raise HarnessError(f"{where}: is of the suite '{name}', not '{suite.name}'; {advice}")
    if suite.changes.limits and not any(dataset.limited for dataset in before.data.datasets):
        advice = "give the trial a folder with --out DIR, or say --replace"
        raise HarnessError(f"{where}: is of a run without limits; {advice}")


def _unmet(prepared: Prepared, store: Store) -> dict[str, Failure]:
    """The targets that cannot be made here, each with its first need."""
    steps = prepared.plan.steps
    needs = {target: missing_needs(steps, store, [target]) for target in prepared.targets}
    return {target: Failure(target, f"needs: {need[0]}", True) for target, need in needs.items() if need}


def execute(
    prepared: Prepared, store: Store, out: Path, reporter: Reporter, jobs: int = 1, fresh: bool = False,
    replace: bool = False, keep_going: bool = False, workers: Workers | None = None,
) -> Outcome:  # fmt: skip
    """Execute the steps that are not finished, score the rows, and write the leaderboard with its runs into
    `out`. A folder that has the leaderboard of another suite is refused, unless `replace` says to replace it
    with its files. A plan with missing needs is refused; with `keep_going`, only the rows with missing needs
    fail. Steps run on the `workers`, or in `jobs` processes of this machine."""
    planned, targets = prepared.plan, prepared.targets
    before = board_file.read_if_any(out)
    if before is not None and not replace:
        _check_same_suite(before, planned.suite)
    if store.remote is not None:
        store.remote.read, store.remote.replace, store.remote.note = not fresh, fresh, reporter.note
        fetch_missing(store, planned.steps, targets, reporter.note)  # fetched steps have no needs here
    unmet = _unmet(prepared, store)
    refused = refusals(prepared, store)
    if refused and not (keep_going and len(unmet) < len(targets)):
        where = shown_path(planned.suite.path)
        advice = "the other rows run with --keep-going, or by name with --only"
        raise Problems([*(f"{where}: needs: {need}" for need in refused), f"{where}: {advice}"])
    disk.check_writable(out)
    corpora = run_space.short_of_corpora(planned, store, planned.ancestors(targets))
    for note in filter(None, (corpora, run_space.short_of(planned, store, out))):
        reporter.note(note)
    if fresh:
        store.discard_parts(planned.ancestors(targets))
        for step in planned.ancestors(targets):
            store.discard(step)
            store.forget(step)
    store.forget_finished()
    targets = [target for target in targets if target not in unmet]
    ancestors = planned.ancestors(targets)
    reporter.planned(len(ancestors), sum(store.has(step) for step in ancestors))
    for step in sorted(ancestors):  # before the work, so that a concurrent `cache gc` keeps them
        store.touch(step)

    def scored(failures: Mapping[str, Failure]) -> tuple[Board, list[Failure]]:
        nonlocal fresh
        failures = {**unmet, **failures}
        analysed, failed = run_findings.findings_of_run(
            planned, scoring.columns, store, out, reporter, jobs, fresh, workers
        )
        fresh = False  # if `scored` is called again, analyses are not discarded again
        with disk.explaining(out):
            content, at_scoring = run_rows.board_of_run(
                planned, scoring, store, out, dict(failures), reporter, analysed
            )
        return content, [*failures.values(), *at_scoring, *failed]

    with IsolatedMeasures(store, limits_of(planned.suite)) as isolated:
        scoring = prepared.scoring._replace(plugin_measures=isolated.of(prepared.scoring.plugin_measures))
        content, failures = with_rebuilds(
            planned.steps, targets, scored, store, reporter, jobs, limits_of(planned.suite), workers
        )
    for name, reason in isolated.failed.items():
        log = isolated.logs.get(name)
        reporter.note(f"{reason}; its column is left out" + (f"; its output is in {log}" if log else ""))
        failures.append(Failure(name, reason, False))
    for dataset in content.datasets:
        if unknown := dataset.counts.get("judgements_of_unknown_passages"):
            reporter.note(f"{dataset.name}: judgements of passages that the corpus lacks: {unknown}")
    # an analysis' key depends on the rows that exist, so later runs may never finish an interrupted one
    store.forget_all("analyse")
    board = Leaderboard(content, out)
    changes = _write(board, before, planned, store, reporter)
    by_reason = {failure.reason: failure for failure in failures}
    return Outcome(board, out / board_file.FILE, tuple(by_reason.values()), tuple(changes))


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
