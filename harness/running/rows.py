"""Builds the leaderboard of a run from finished and failed steps: its rows, datasets and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np

from harness.errors import ContractError, HarnessError
from harness.execution.open_dataset import Opened, opened, place_of, read_parts
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure
from harness.findings import Finding
from harness.leaderboard import board_file, model
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.means import with_averages, with_seeds
from harness.leaderboard.model import Board, Cost, Dataset, Reported, SuiteFacts, Tuning
from harness.made_models import Seed
from harness.plan.graph import Collection, Plan, Row
from harness.running import made, provenance, row_cost, scored_numbers
from harness.running.provenance import Lineage
from harness.scoring import bounds
from harness.scoring.limits import Scored
from harness.scoring.protocols import Scoring
from harness.steps import Rerank, Trials, Tune
from harness.steps.record import AnyRecord, Method, method_of
from harness.store import disk, hits_files
from harness.store.artifacts import Store
from harness.store.manifest import NOT_KEYED
from harness.suite import Suite, System, grid

GRID_ON_TEST = "one of a grid scored on the test split: choosing the best of it selects on test"
TUNED_BY_FOLDS = "tuned across folds of the split that it is scored on"
NO_COLUMN = "it ranks documents, for which the protocol has no column"


RowsBefore: TypeAlias = Mapping[tuple[str, str], model.Row]  # by dataset and system


class _Context(NamedTuple):
    """What is the same for all rows of a run."""

    plan: Plan
    scoring: Scoring
    store: Store
    out: Path


def board_of_run(
    planned: Plan,
    scoring: Scoring,
    store: Store,
    out: Path,
    shown: Sequence[Row],
    before: RowsBefore,
    failures: Mapping[str, Failure],
    reporter: Reporter,
    analyses: tuple[Finding, ...],
) -> tuple[Board, list[Failure]]:
    """The leaderboard of a run, and the failures of scoring. Writes the files of the rows below `out`. Raises
    Corrupt for a damaged artifact."""
    context = _Context(planned, scoring, store, out)
    datasets: list[Dataset] = []
    rows: list[model.Row] = []
    failed: list[Failure] = []
    for name, collection in planned.collections.items():
        chosen = [row for row in shown if row.dataset == name]
        if not chosen:
            continue
        collected = _opened(collection, store, failures)
        if isinstance(collected, Failure):
            failed.append(collected)
        known = collected if isinstance(collected, Opened) else None
        stages = made.stages(collection, planned, store) if known else ()
        datasets.append(dataset_of(collection, known, stages))
        for row in chosen:
            reporter.scored(len(rows), len(shown))
            steps = [failures[step] for step in row.steps if step in failures]
            failure = collected if isinstance(collected, Failure) else next(iter(steps), None)
            if failure is None and isinstance(collected, Opened) and row.hits is not None:
                try:
                    rows.append(_scored_row(row, context, collected, before.get((row.dataset, row.system))))
                    continue
                except (HarnessError, ContractError) as error:
                    failure = Failure(row.hits, f"scoring {name}: {error}", isinstance(error, HarnessError))
                    failed.append(failure)
            reason = failure.reason if failure else row.error
            empty = _empty_row(row, context, provenance.lineage(row, planned))
            rows.append(msgspec.structs.replace(empty, status="failed", error=reason))
    board = Board(
        schema=board_file.SCHEMA,
        name=planned.suite.name,
        description=planned.suite.description,
        suite=suite_facts(planned.suite),
        datasets=tuple(datasets),
        columns=columns_of(scoring),
        rows=tuple(rows),
        analyses=analyses,
        environment=board_file.environment(),
    )
    return with_seeds(with_averages(Leaderboard(board, out))).data, failed


def suite_facts(suite: Suite) -> SuiteFacts:
    return SuiteFacts(
        digest=suite.digest, depth=suite.depth, seed=suite.seed, protocol=suite.protocol,
        measures=tuple(suite.measures), averages=dict(suite.averages) or msgspec.UNSET,
        beside=tuple(model.Beside(*entry) for entry in suite.beside) or msgspec.UNSET,
    )  # fmt: skip


def columns_of(scoring: Scoring) -> tuple[model.Column, ...]:
    return tuple(model.Column(item.label, item.measure, item.unit, item.says) for item in scoring.columns)


def dataset_of(
    collection: Collection, collected: Opened | None, stages: tuple[model.MadeStage, ...] = ()
) -> Dataset:
    """The leaderboard's entry for a dataset. It has no counts if the dataset could not be opened."""
    card, spec = collection.card, collection.spec
    return Dataset(
        name=spec.name,
        split=card.split,
        plugin=spec.chosen.name,
        params=spec.chosen.as_written,
        language=card.language,
        query_language=card.query_language or card.language,
        licence=card.licence,
        citation=card.citation,
        url=card.url,
        notes=tuple(card.notes),
        unknown_judgements=spec.unknown_judgements,
        limited=spec.limits or msgspec.UNSET,
        counts={name: int(count) for name, count in collected.facts.items()} if collected else {},
        digests={part: step.partition("-")[2] for part, step in collection.steps.items()},
        made=stages or msgspec.UNSET,
        contents=collected.contents if collected else {},
    )


def shown_rows(planned: Plan, store: Store, before: RowsBefore) -> list[Row]:
    """The rows that the leaderboard will have. These are the selected rows, and every other row that is in
    the suite's earlier leaderboard in this folder and whose ranking is in the store. Other artifacts of the
    store add no row."""
    return [
        row for row in planned.rows
        if row.selected
        or ((row.dataset, row.system) in before and row.hits is not None and store.has(row.hits))
    ]  # fmt: skip


def rows_before(board: Leaderboard | None, suite: Suite) -> RowsBefore:
    """The rows of the suite's earlier leaderboard in a folder; empty if there is none."""
    if board is None or board.data.name != suite.name:
        return {}
    return {(row.dataset, row.system): row for row in board.rows}


def _opened(collection: Collection, store: Store, failures: Mapping[str, Failure]) -> Opened | Failure | None:
    """The opened dataset, or the failure because of which it cannot be scored on. None if its plugin failed
    while the run was planned."""
    broken = next((failures[step] for step in collection.steps.values() if step in failures), None)
    if broken is not None or collection.parts is None:
        return broken
    try:
        parts = read_parts(collection.steps, store)
        return opened(parts, collection.spec.unknown_judgements, place_of(collection))
    except HarnessError as error:
        return Failure(collection.parts.judgements.step, str(error), True)


def _empty_row(row: Row, context: _Context, behind: Lineage) -> model.Row:
    """A row with the fields that do not depend on whether scoring succeeds."""
    protocol = context.scoring.protocol
    return model.Row(
        dataset=row.dataset,
        split=row.split,
        system=row.system,
        recipe=_recipe(context.plan.suite.system(row.system)),
        unit=row.unit,
        protocol=protocol.name if protocol else None,
        origin="run",
        status="ok",
        error=None,
        flags=tuple(_flags(row, context, behind)),
        measures={},
        slices={},
        scored=Scored(),
        limits={},
        reported=(),
        tuning=(),
        files={},
        provenance=provenance.provenance(row, context.plan, behind.every),
        cost=Cost(),
    )


def _recipe(system: System) -> str | msgspec.UnsetType:
    others = tuple(pair for pair in system.varied if not isinstance(pair[1], Seed))
    return grid.name(system.base, others) if others != system.varied else msgspec.UNSET


def _flags(row: Row, context: _Context, behind: Lineage) -> list[str]:
    plan = context.plan
    varied = [value for _, value in plan.suite.system(row.system).varied if not isinstance(value, Seed)]
    flags = [GRID_ON_TEST] if varied and row.split == "test" else []
    methods = [method_of(step.record) for step in behind.every]
    flags += dict.fromkeys(
        _unkeyed(method, method.cannot_be_keyed)
        for method in methods
        if method is not None and method.cannot_be_keyed
    )
    if limits := plan.collections[row.dataset].spec.limits:
        parts = " and ".join(f"{number:,} {what}" for what, number in limits.items())
        flags.append(f"a trial, limited to {parts}: not comparable with a full run")
    if any(isinstance(step.record, Tune | Trials) and step.record.folds for step in behind.every):
        flags.append(TUNED_BY_FOLDS)
    if not context.scoring.of_unit(row.unit):
        flags.append(NO_COLUMN)
    return flags


def _unkeyed(method: Method, reason: str) -> str:
    return f"{method.given.get('name', method.name)}: {reason}"


def _scored_row(row: Row, context: _Context, collected: Opened, before: model.Row | None) -> model.Row:
    """The row with all its numbers. Writes its run and per-query values. `before` is the same row of the
    earlier leaderboard; its run is kept if the fingerprint is the same and the file is unchanged."""
    assert row.hits is not None
    plan, store, out = context.plan, context.store, context.out
    behind = provenance.lineage(row, plan)
    empty = _empty_row(row, context, behind)
    hits = hits_files.load(store.read(row.hits))
    labels = np.load(store.read(row.labels).folder / "labels.npy") if row.labels else None
    below = _below(plan.steps[row.hits].record, store)
    numbers, values = scored_numbers.scored(hits, collected, context.scoring, plan.suite.seed, labels, below)
    reported, tuning, unkeyed, is_keyed = [], [], dict[str, None](), True
    for step in behind.every:
        facts = store.read(step.id, trust=True).facts
        if facts.get("reported"):
            reported.append(Reported(step.kind, provenance.name_of(step), facts["reported"]))
        if noted := facts.get(NOT_KEYED):
            is_keyed, method = False, method_of(step.record)
            if method is not None and not method.cannot_be_keyed:
                unkeyed[_unkeyed(method, f"it {' and '.join(noted)}, so it runs every time")] = None
        if isinstance(step.record, Tune | Trials):
            entry = {"key": step.key, "on": step.record.on, **facts["tuning"]}
            tuning.append(msgspec.convert(entry, Tuning))
    of_dataset = made.dataset_flags(plan.collections[row.dataset], plan.steps, store)
    of_models = made.model_flags(behind.every, collected.queries.texts, store)
    run = not (is_keyed and _has_run(out, before, empty.provenance.fingerprint))
    flags = [*empty.flags, *unkeyed, *of_dataset, *of_models, *numbers.flags]
    return msgspec.structs.replace(
        empty,
        **numbers._replace(flags=tuple(flags))._asdict(),
        reported=tuple(reported),
        tuning=tuple(tuning),
        files=scored_numbers.write_files(out, collected, row.dataset, row.system, hits, values, run=run),
        cost=row_cost.cost(behind, store),
    )


def _below(record: AnyRecord, store: Store) -> bounds.Below | None:
    """The hits that a re-ranker was given; None if the step is no re-ranker."""
    if not isinstance(record, Rerank):
        return None
    hits = hits_files.load(store.read(record.below.step))
    return bounds.Below(hits, record.depth, record.tail == "keep")


def _has_run(out: Path, before: model.Row | None, fingerprint: str | None) -> bool:
    if before is None or before.provenance.fingerprint != fingerprint or "run" not in before.files:
        return False
    path = out / scored_numbers.files_of(before.dataset, before.system).run
    return path.is_file() and disk.sha256(path) == before.files["run"].sha256
