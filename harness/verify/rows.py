"""One row: its files by their digests, its numbers by its run, its means by its per-query values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.errors import ContractError, HarnessError
from harness.exchange import ids_only
from harness.execution.open_dataset import Opened
from harness.leaderboard import board_file, per_query, run_rows
from harness.leaderboard.board_file import Leaderboard
from harness.scoring import bootstrap, ranking, run_files
from harness.scoring.bootstrap import Sample
from harness.scoring.measures.names import Average, is_sum
from harness.scoring.protocols import Scoring
from harness.store import disk
from harness.types import JSON, Hits

SHOWN = 5  # differences of one file that are told


class Tolerance(NamedTuple):
    """How far a number may be off. On another type of CPU a logarithm may differ in its last bit, and what
    is rounded to 6 decimals by one of them."""

    number: float  # of what the leaderboard holds
    value: float  # of a query


EXACT = Tolerance(0.0, 0.0)
TOLERANCE = Tolerance(1.5e-6, 1e-9)


def tolerance_of(board: Leaderboard) -> Tolerance:
    here = board_file.environment()
    made = board.data["environment"]
    same = made.get("cpu") == here["cpu"] and made.get("system") == here["system"]
    return EXACT if same else TOLERANCE


def has_run(board: Leaderboard, row: JSON) -> bool:
    path = _path(board, row, "run")
    return row["status"] == "ok" and row["origin"] != "published" and path is not None and path.is_file()


def files(board: Leaderboard, row: JSON) -> Iterator[str]:
    """Files that are here and not what the row cites."""
    for kind, cited in sorted(row["files"].items()):
        path = _path(board, row, kind)
        if path is None:
            yield f"{cited['path']}: lies outside of the leaderboard's folder"
        elif path.is_file() and (found := disk.sha256(path)) != cited["sha256"]:
            yield f"{cited['path']}: its SHA-256 is {found}, the row cites {cited['sha256']}"


def keys(board: Leaderboard, row: JSON) -> Iterator[str]:
    """Steps that the row was made by and that are not its dataset's."""
    block: JSON = next((item for item in board.data["datasets"] if item["name"] == row["dataset"]), {})
    for step in row["provenance"]["steps"]:
        cited = block.get("digests", {}).get(step["step"])
        used = {item["key"] for item in row["provenance"]["steps"] if item["step"] == step["step"]}
        if cited is not None and cited not in used:
            yield f"its {step['step']} is {step['key']}, its dataset's is {cited}"


def columns(board: Leaderboard, scoring: Scoring) -> Iterator[str]:
    """Columns that the protocol or the measures do not have in this installation."""
    here = {(column.label, column.measure, column.unit) for column in scoring.columns}
    there = {(item["label"], item["measure"], item["unit"]) for item in board.data["columns"]}
    for label, measure, unit in sorted(here ^ there):
        where = "this installation" if (label, measure, unit) in here else "the leaderboard"
        yield f"columns: only {where} has '{label}' ({measure} of {unit}s)"


def from_values(board: Leaderboard, row: JSON, tolerance: Tolerance) -> Iterator[str]:
    """Means and intervals that the per-query values do not give."""
    path = _path(board, row, "per_query")
    if path is None or not path.is_file():
        return
    try:
        found = per_query.parse(path)
    except HarnessError as error:
        yield str(error)
        return
    measures = {item["label"]: item["measure"] for item in board.data["columns"]}
    samples: dict[str, Sample] = {}
    for label in row["measures"]:
        sample = _sample(found, label, measures.get(label, label))
        if sample is None or not all(np.isfinite(part).all() for part in sample[:2]):
            yield f"{label}: {row['files']['per_query']['path']} has no finite values of it"
        elif len(sample.numerator):
            samples[label] = sample
    again = bootstrap.summaries(list(samples.values()), board.data["suite"]["seed"])
    for label, summary in zip(samples, again, strict=True):
        expected = {"mean": summary.mean, "ci95": [summary.low, summary.high], "queries": summary.queries}
        said = f"{row['files']['per_query']['path']} gives"
        yield from _values(label, row["measures"][label], expected, said, tolerance)


def _sample(found: per_query.PerQuery, label: str, measure: str) -> Sample | None:
    if label in found.columns:
        values = found.columns[label]
        average: Average = "sum" if is_sum(measure) else "mean"
        return Sample(values, np.ones(len(values)), average)
    parts = [found.columns.get(label + part) for part in per_query.PARTS]
    return None if parts[0] is None or parts[1] is None else Sample(parts[0], parts[1], "ratio")


def from_run(
    board: Leaderboard, row: JSON, opened: Opened, scoring: Scoring, tolerance: Tolerance
) -> Iterator[str]:
    """Whatever of the row its run and the judgements do not give."""
    path = _path(board, row, "run")
    assert path is not None
    cited = row["files"]["run"]["path"]
    try:
        hits = read_hits(path, row, opened)
        numbers, values = run_rows.scored(hits, opened, scoring, board.data["suite"]["seed"])
    except (HarnessError, ContractError) as error:
        yield f"{cited}: {error}"
        return
    said = f"{cited} gives"
    for label, expected in numbers["measures"].items():
        yield from _values(label, row["measures"].get(label), expected, said, tolerance)
    for label in sorted(row["measures"].keys() - numbers["measures"].keys()):
        yield f"{label}: is no column of a system of {row['unit']}s"
    for name in sorted(numbers["slices"].keys() | row["slices"].keys()):
        one, other = (item.get(name, {"measures": {}}) for item in (row["slices"], numbers["slices"]))
        for label in dict.fromkeys([*other["measures"], *one["measures"]]):
            where = f"slice {name}, {label}"
            yield from _values(
                where, one["measures"].get(label), other["measures"].get(label), said, tolerance
            )
    for name, count in numbers["scored"].items():
        if row["scored"].get(name) != count:
            yield f"scored.{name}: is {row['scored'].get(name)}, {said} {count}"
    for label, claimed in row["limits"].items():
        for name, value in claimed.items():  # what a re-ranker was given is not kept
            expected = numbers["limits"].get(label, {}).get(name)
            if name != "candidates" and not _alike(value, expected, tolerance):
                yield f"limits.{label}.{name}: is {value}, {said} {expected}"
    yield from _lines(board, row, values, tolerance)


def read_hits(path: Path, row: JSON, opened: Opened) -> Hits:
    """A run's ranking by position, ordered by the harness' rule. Raises HarnessError for unknown ids."""
    hits = ids_only.placed(run_files.read_run(path), row["unit"], opened)
    corpus, whole = opened.corpus, row["unit"] == "document"
    size, rank = (corpus.documents, corpus.document_rank) if whole else (corpus.passages, corpus.id_rank)
    return ranking.canonical(hits, size=size, rank_of_id=rank, depth=hits.passages.shape[1])


def _values(label: str, claimed: JSON, expected: JSON, said: str, tolerance: Tolerance) -> Iterator[str]:
    if claimed is None or expected is None:
        yield f"{label}: is {'missing in' if claimed is None else 'only in'} the row"
        return
    numbers = (
        ("mean", claimed["mean"], expected["mean"]),
        ("queries", claimed["queries"], expected["queries"]),
        *(("ci95", one, other) for one, other in zip(claimed["ci95"], expected["ci95"], strict=True)),
    )
    for name, one, other in numbers:
        if not _near(one, other, tolerance.number):
            yield f"{label}: its {name} is {one}, {said} {other}"


def _alike(one: float | None, other: float | None, tolerance: Tolerance) -> bool:
    return one is other if one is None or other is None else _near(one, other, tolerance.number)


def _lines(board: Leaderboard, row: JSON, expected: bytes, tolerance: Tolerance) -> Iterator[str]:
    """Per-query values that the run does not give."""
    path = _path(board, row, "per_query")
    if path is None or not path.is_file():
        return
    cited, data = row["files"]["per_query"]["path"], path.read_bytes()
    if data == expected:
        return
    theirs, ours = (text.decode(errors="replace").splitlines() for text in (data, expected))
    heads = ours[0].split("\t")
    if len(theirs) != len(ours) or theirs[0] != ours[0]:
        sizes = f"{len(theirs) - 1} queries, the run gives {len(ours) - 1}"
        yield f"{cited}: has the columns {theirs[:1]} and {sizes}, with {ours[:1]}"
        return
    told = 0
    for number, (one, other) in enumerate(zip(theirs, ours, strict=True), 1):
        wrong = list(_cells(one.split("\t"), other.split("\t"), heads, tolerance)) if one != other else []
        if wrong:
            told += 1
        if wrong and told <= SHOWN:
            query = other.split("\t")[0]
            yield f"{cited}:{number}: query {query}: {'; '.join(wrong)}"
    if told > SHOWN:
        yield f"{cited}: {told - SHOWN} more queries have other values than the run gives"


def _cells(
    one: Sequence[str], other: Sequence[str], heads: Sequence[str], tolerance: Tolerance
) -> Iterator[str]:
    if len(one) != len(other) or one[0] != other[0]:
        yield f"the line is {one}"
        return
    for head, claimed, expected in list(zip(heads, one, other, strict=True))[1:]:
        if claimed != expected and not _near(_number(claimed), float(expected), tolerance.value):
            yield f"{head} is {claimed}, the run gives {expected}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _near(one: float, other: float, most: float) -> bool:
    return one == other or abs(one - other) <= most


def _path(board: Leaderboard, row: JSON, kind: str) -> Path | None:
    """Where a cited file belongs; None if none is cited or it would lie elsewhere."""
    cited = row["files"].get(kind)
    if cited is None:
        return None
    path = board.folder / cited["path"]
    return path if path.resolve().is_relative_to(board.folder.resolve()) else None
