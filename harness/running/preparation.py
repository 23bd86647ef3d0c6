"""Prepares a suite for its run: reads, checks and plans it, with all problems at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness import plan
from harness import suite as suites
from harness.catalogue import Catalogue
from harness.errors import HarnessError, Problems
from harness.execution.engine import missing_needs
from harness.plan.graph import Plan
from harness.plan.needs import described
from harness.problems import Need, Problem
from harness.scoring import protocols
from harness.scoring.protocols import Scoring
from harness.store.artifacts import Store
from harness.suite import NO_CHANGES, Changes, Suite, Unsound

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
        wanted.update(ref.step for analysis in self.plan.analyses for _, ref in analysis.queries_of if rows)
        return [step for step in self.plan.steps if step in wanted]

    @property
    def needs(self) -> list[Need]:
        """The needs of the selected rows' datasets and of the analyses. Artifacts in the store are not
        considered."""
        names = dict.fromkeys(row.dataset for row in self.plan.rows if row.selected)
        needs = [need for name in names for need in self.plan.collections[name].needs]
        return needs + [need for analysis in self.plan.analyses for need in analysis.needs]


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
    needs = [*missing_needs(prepared.plan.steps, store, prepared.targets), *prepared.needs]
    return described(prepared.plan, needs) if needs else []
