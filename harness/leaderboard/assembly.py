"""Finished and failed steps -> the content of a leaderboard, one row a system and dataset."""

from __future__ import annotations

from pathlib import Path

import orjson

from harness.errors import ContractError, HarnessError
from harness.execution import open_dataset
from harness.execution.open_dataset import Opened
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure
from harness.leaderboard import board_file, run_rows
from harness.plan.graph import Collection, Plan, Row
from harness.scoring.protocols import Scoring
from harness.store.artifacts import Store
from harness.types import JSON


def content(
    planned: Plan,
    scoring: Scoring,
    store: Store,
    out: Path,
    failures: dict[str, Failure],
    reporter: Reporter,
    analyses: list[JSON],
) -> tuple[dict[str, JSON], list[Failure]]:
    """The leaderboard's content, and what failed at scoring. Raises Corrupt for what was damaged."""
    datasets: list[JSON] = []
    rows: list[JSON] = []
    found: list[Failure] = []
    before = _before(planned, out)
    chosen = shown(planned, store, out)
    for name, collection in planned.collections.items():
        own = [row for row in chosen if row.dataset == name]
        if not own:
            continue
        opened = _opened(collection, store, failures)
        if isinstance(opened, Failure):
            found.append(opened)
        datasets.append(run_rows.dataset_block(collection, opened if isinstance(opened, Opened) else None))
        for row in own:
            reporter.scored(len(rows), len(chosen))
            ours = [failures[step] for step in (row.hits, row.labels) if step in failures]
            failure = opened if isinstance(opened, Failure) else next(iter(ours), None)
            if failure is None and isinstance(opened, Opened) and row.hits is not None:
                old = before.get((row.dataset, row.system))
                try:
                    rows.append(run_rows.scored_row(row, planned, scoring, opened, store, out, old))
                    continue
                except (HarnessError, ContractError) as error:
                    failure = Failure(row.hits, f"scoring {name}: {error}", isinstance(error, HarnessError))
                    found.append(failure)
            reason = failure.reason if failure else row.error
            rows.append({**run_rows.row_block(row, planned, scoring), "status": "failed", "error": reason})
    return _file(planned, scoring, datasets, rows, analyses), found


def _file(
    planned: Plan, scoring: Scoring, datasets: list[JSON], rows: list[JSON], analyses: list[JSON]
) -> dict[str, JSON]:
    suite = planned.suite
    said = {
        "digest": suite.digest,
        "depth": suite.depth,
        "seed": suite.seed,
        "protocol": suite.protocol,
        "measures": list(suite.measures),
    }
    columns = [
        {"label": column.label, "measure": column.measure, "unit": column.unit, "says": column.says}
        for column in scoring.columns
    ]
    return {
        "schema": board_file.SCHEMA,
        "name": suite.name,
        "description": suite.description,
        "suite": said,
        "datasets": datasets,
        "columns": columns,
        "rows": orjson.loads(orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)),
        "analyses": analyses,
        "environment": board_file.environment(),
    }


def _opened(collection: Collection, store: Store, failures: dict[str, Failure]) -> Opened | Failure | None:
    """The collection, or why it cannot be scored on; None if its plugin failed while planning."""
    broken = next((failures[step] for step in collection.parts.values() if step in failures), None)
    if broken is not None or not collection.parts:
        return broken
    try:
        parts = open_dataset.read_parts(collection.parts, store)
        return open_dataset.opened(
            parts, collection.spec.unknown_judgements, open_dataset.place_of(collection)
        )
    except HarnessError as error:
        return Failure(collection.parts["judgements"], str(error), True)


def shown(planned: Plan, store: Store, out: Path) -> list[Row]:
    """The rows of the leaderboard to be: those that were selected, and of the others those that stand in
    the suite's leaderboard in this folder and are in the store. What else is in the store changes nothing."""
    before = _before(planned, out)
    return [
        row for row in planned.rows
        if row.selected
        or ((row.dataset, row.system) in before and row.hits is not None and store.has(row.hits))
    ]  # fmt: skip


def _before(planned: Plan, out: Path) -> dict[tuple[str, str], JSON]:
    """The rows of the suite's leaderboard that stands in a folder, if there is one that can be read."""
    try:
        board = board_file.read(out)
    except HarnessError:
        return {}
    if board.data["name"] != planned.suite.name:
        return {}
    return {(row["dataset"], row["system"]): row for row in board.rows}
