"""Prepares a suite for its run: plans it, with all problems at once, and finds what this machine lacks."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness import plan
from harness import suite as suites
from harness.catalogue import Catalogue
from harness.errors import HarnessError, Problems, StoreError
from harness.execution.engine import missing_needs
from harness.plan.graph import Plan, Step, Unplanned
from harness.plan.needs import described
from harness.problems import Need, Problem, by_place, shown_path
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.steps import ReadCorpus
from harness.steps.record import steps_in
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.suite import NO_CHANGES, Changes, Suite, Unsound

TRIAL = "trial"  # the folder beside a suite for runs with limits
RUN_BYTES = 12  # for each hit of a compressed run: 8 to 11.5 were measured
# a corpus in the store takes more than a tenth of its files, which hold more than texts and titles
SHARE = 10


class Prepared(NamedTuple):
    """A suite that is ready to run: its plan and its scoring."""

    plan: Plan
    scoring: Scoring

    @property
    def targets(self) -> list[str]:
        """The ids of the steps that a run needs to score the selected rows, in the plan's order."""
        rows = [row for row in self.plan.rows if row.selected]
        wanted = {step for row in rows for step in row.steps}
        for name in dict.fromkeys(row.dataset for row in rows):
            wanted.update(self.plan.collections[name].targets)
        for analysis in self.plan.analyses if rows else ():
            wanted.update(ref.step for _, ref in analysis.queries_of)
            wanted.update(step for encoder in analysis.encoders.values() for step in steps_in(encoder))
        return [step for step in self.plan.steps if step in wanted]

    @property
    def needs(self) -> list[Need]:
        """The needs of the selected rows' datasets and of the analyses. The store is not considered."""
        names = dict.fromkeys(row.dataset for row in self.plan.rows if row.selected)
        needs = [need for name in names for need in self.plan.collections[name].needs]
        return needs + [need for analysis in self.plan.analyses for need in analysis.needs]


def default_folder(suite: Suite) -> Path:
    """The folder of a suite's leaderboard: the suite's folder, or for a trial `trial` there."""
    return suite.path.parent / TRIAL if suite.changes.limits else suite.path.parent


def read(
    path: Path, catalogue: Catalogue, store: Store, only: Sequence[str] = (), changes: Changes = NO_CHANGES
) -> Prepared:
    """Read, check and plan a suite. If its form has problems, the sound rest is planned too, so that all
    problems are reported at once."""
    try:
        return prepare(suites.load(path, catalogue, changes), catalogue, store, only)
    except Unsound as error:
        problems, steps = list(error.problems), dict[str, Step]()
        if error.rest is not None:
            try:
                steps = prepare(error.rest, catalogue, store).plan.steps
            except Unplanned as further:
                problems, steps = [*problems, *further.problems], dict(further.steps)
        ordered = sorted(set(problems), key=by_place)
        raise Unplanned(ordered, steps) from None


def prepare(suite: Suite, catalogue: Catalogue, store: Store, only: Sequence[str] = ()) -> Prepared:
    """Plan a suite. Raises Unplanned with all problems at once."""
    problems, steps = list[Problem](), dict[str, Step]()
    planned, scoring = None, None
    try:
        planned = plan.build(suite, catalogue, store.digests.of, only)
        steps = planned.steps
    except Unplanned as error:
        problems, steps = list(error.problems), dict(error.steps)
    try:
        documents = any(row.unit == "document" for row in planned.rows) if planned else False
        scoring = _scoring(suite, catalogue, documents)
    except HarnessError as error:
        problems += error.problems
    for place, path, measure in suite.compared_by:
        _, unfit = protocols.of_measures([measure], suite.depth, catalogue)
        problems += [Problem(place, path, problem.text) for problem in unfit]
    if planned is None or scoring is None or problems:
        raise Unplanned(problems, steps)
    return Prepared(planned, scoring)


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
    """The needs that are missing here, in lines. They refuse a run. Steps in the store need nothing."""
    needs = [*missing_needs(prepared.plan.steps, store, prepared.targets), *prepared.needs]
    return described(prepared.plan, needs) if needs else []


def short_of_corpora(planned: Plan, store: Store, steps: Iterable[str]) -> str | None:
    """A message if the disk of the store has less room than the files have bytes whose corpora are among the
    steps and not in the store yet. None if there is enough room. Raises StoreError if it has less than a
    tenth of that. Trials with limits are left out, because they keep a part of a corpus."""
    total, datasets = 0, []
    for step in (planned.steps[name] for name in steps):
        if isinstance(step.record, ReadCorpus) and step.record.limits is None and not store.has(step.id):
            total += step.record.file_bytes
            datasets.append(step.dataset)
    free = shutil.disk_usage(store.root).free
    if total <= free:
        return None
    needed, room = (f"{count / 1e6:,.1f} MB" for count in (total, free))
    names = ", ".join(dict.fromkeys(datasets))
    text = f"{shown_path(store.root)}: {room} are free, and the files of the corpora ({names}) have {needed}"
    advice = "make room, or choose another disk with --store"
    if total > SHARE * free:
        raise StoreError(f"{text}; {advice}")
    return f"{text}; if the disk is full, {advice}"


def short_of_runs(planned: Plan, store: Store, out: Path) -> str | None:
    """A message if the disk of `out` has less room than the runs of the selected rows may take. None if there
    is enough room, or if the datasets are not in the store yet. The estimate is an upper bound: queries with
    fewer hits than the depth take less."""
    most = sum(_hits(planned, store, row.dataset) for row in planned.rows if row.selected and row.hits)
    free = shutil.disk_usage(out).free
    if most * RUN_BYTES <= free:
        return None
    needed, room = (f"{count / 1e6:,.1f} MB" for count in (most * RUN_BYTES, free))
    advice = "make room, or choose another folder with --out"
    return f"{shown_path(out)}: {room} are free, and the runs may take up to {needed}; {advice}"


def _hits(planned: Plan, store: Store, dataset: str) -> int:
    """The most hits that a system can have on a dataset; 0 if the dataset is not in the store."""
    parts = planned.collections[dataset].steps
    try:
        queries = store.read(parts["queries"], trust=True).facts["queries"]
        passages = store.read(parts["corpus"], trust=True).facts["passages"]
    except (Corrupt, KeyError):
        return 0
    return int(queries) * min(planned.suite.depth, int(passages))
