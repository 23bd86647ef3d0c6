"""Checks one row: its files by their digests, its numbers by its run, its means by its per-query values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from msgspec import UNSET, structs

from harness.errors import ContractError, HarnessError
from harness.execution.open_dataset import Opened
from harness.leaderboard import board_file, cited_files, ids_only, per_query
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Measure, Row, Slice
from harness.running import scored_numbers
from harness.scoring import bootstrap, ranking, run_files
from harness.scoring.bootstrap import Sample
from harness.scoring.measures.names import Average, is_sum
from harness.scoring.protocols import Scoring
from harness.steps import Examples, Make, Train, Trials, Tune, Validate, kinds
from harness.store import disk
from harness.types import Hits

OTHERS = kinds(Make, Tune, Trials, Examples, Train, Validate)  # they may read other judgements
SHOWN = 5  # how many differing queries of one file are shown


class Tolerance(NamedTuple):
    """How far a number may be off. On another type of CPU a logarithm may differ in its last bit, so a number
    rounded to 6 decimals may differ by 1 in the last of them."""

    number: float  # for numbers of the leaderboard
    value: float  # for per-query values


EXACT = Tolerance(0.0, 0.0)
TOLERANCE = Tolerance(1.5e-6, 1e-9)


def tolerance_of(board: Leaderboard) -> Tolerance:
    here = board_file.environment()
    made = board.data.environment
    return EXACT if (made.cpu, made.system) == (here.cpu, here.system) else TOLERANCE


def has_run(board: Leaderboard, row: Row) -> bool:
    scored = row.status == "ok" and row.origin != "published"
    return scored and cited_files.located(board, row, "run") is not None


def files(board: Leaderboard, row: Row) -> Iterator[str]:
    """The files of a row that differ from what the row cites, or are missing. A leaderboard may come without
    its runs and judgements."""
    for kind, cited in sorted(row.files.items()):
        path = cited_files.within(board.folder, cited.path)
        if path is None:
            yield f"{cited.path}: lies outside of the leaderboard's folder"
        elif not path.is_file():
            if kind == "per_query" or path.exists() or path.is_symlink():
                yield f"{cited.path}: {'is no file' if path.exists() else 'is missing'}, and the row cites it"
        elif (digest := disk.sha256(path)) != cited.sha256:
            yield f"{cited.path}: its SHA-256 is {digest}, the row cites {cited.sha256}"


def keys(board: Leaderboard, row: Row) -> Iterator[str]:
    """The steps of a row that are not the steps of its dataset. If the suite made the dataset, a model or a
    tuned value, the row also has steps that read other judgements, so judgements are not compared."""
    digests = dict(board.dataset(row.dataset).digests)
    if any(step.step in OTHERS for step in row.provenance.steps):
        digests.pop("judgements", None)
    for step in row.provenance.steps:
        cited = digests.get(step.step)
        used = {other.key for other in row.provenance.steps if other.step == step.step}
        if cited is not None and cited not in used:
            yield f"its {step.step} is {step.key}, its dataset's is {cited}"


def columns(board: Leaderboard, scoring: Scoring) -> Iterator[str]:
    """The columns that only the leaderboard or only this installation has."""
    here = {(column.label, column.measure, column.unit) for column in scoring.columns}
    cited = {(column.label, column.measure, column.unit) for column in board.data.columns}
    for label, measure, unit in sorted(here ^ cited):
        where = "this installation" if (label, measure, unit) in here else "the leaderboard"
        yield f"columns: only {where} has '{label}' ({measure} of {unit}s)"


def from_values(board: Leaderboard, row: Row, tolerance: Tolerance) -> Iterator[str]:
    """The means and intervals that differ from what the per-query values give."""
    path = cited_files.located(board, row, "per_query")
    if path is None:
        return
    try:
        values = per_query.parse(path)
    except HarnessError as error:
        yield str(error)
        return
    cited = row.files["per_query"].path
    measures = {column.label: column.measure for column in board.data.columns}
    samples: dict[str, Sample] = {}
    for label in row.measures:
        sample = _sample(values, label, measures.get(label, label))
        if sample is None or not all(np.isfinite(part).all() for part in sample[:2]):
            yield f"{label}: {cited} has no finite values of it"
        elif len(sample.numerator):
            samples[label] = sample
    summaries = bootstrap.summaries(list(samples.values()), board.data.suite.seed)
    for label, summary in zip(samples, summaries, strict=True):
        expected = Measure(summary.mean, (summary.low, summary.high), summary.queries)
        yield from _differences(label, row.measures[label], expected, f"{cited} gives", tolerance)


def _sample(values: per_query.PerQuery, label: str, measure: str) -> Sample | None:
    if label in values.columns:
        column = values.columns[label]
        average: Average = "sum" if is_sum(measure) else "mean"
        return Sample(column, np.ones(len(column)), average)
    parts = [values.columns.get(label + part) for part in per_query.PARTS]
    return None if parts[0] is None or parts[1] is None else Sample(parts[0], parts[1], "ratio")


def from_run(
    board: Leaderboard, row: Row, opened: Opened, scoring: Scoring, tolerance: Tolerance
) -> Iterator[str]:
    """All numbers of the row that differ from what its run and the judgements give."""
    path = cited_files.located(board, row, "run")
    assert path is not None
    cited = row.files["run"].path
    try:
        hits = read_hits(path, row, opened)
        numbers, values = scored_numbers.scored(hits, opened, scoring, board.data.suite.seed)
    except (HarnessError, ContractError) as error:
        yield f"{cited}: {error}"
        return
    source = f"{cited} gives"
    for label, expected in numbers.measures.items():
        yield from _differences(label, row.measures.get(label), expected, source, tolerance)
    for label in sorted(row.measures.keys() - numbers.measures.keys()):
        yield f"{label}: is no column of a system of {row.unit}s"
    nothing = Slice(0, {})
    for name in sorted(numbers.slices.keys() | row.slices.keys()):
        claimed, recomputed = (part.get(name, nothing).measures for part in (row.slices, numbers.slices))
        for label in dict.fromkeys([*recomputed, *claimed]):
            where = f"slice {name}, {label}"
            yield from _differences(where, claimed.get(label), recomputed.get(label), source, tolerance)
    for name, count in structs.asdict(numbers.scored).items():
        if (in_file := getattr(row.scored, name)) != count:
            yield f"scored.{name}: is {'missing' if in_file is UNSET else in_file}, {source} {count}"
    for label, limits in (row.limits or {}).items():
        for name, value in asdict(limits).items():  # the candidates of a re-ranker are not kept
            recomputed_value = getattr(numbers.limits.get(label), name, None)
            if name != "candidates" and not _alike(value, recomputed_value, tolerance):
                yield f"limits.{label}.{name}: is {value}, {source} {recomputed_value}"
    yield from _lines(board, row, values, tolerance)


def read_hits(path: Path, row: Row, opened: Opened) -> Hits:
    """The ranking of a run by position, ties by the harness' rule. Raises HarnessError for unknown ids."""
    hits = ids_only.placed(run_files.read_run(path), row.unit, opened)
    corpus, whole = opened.corpus, row.unit == "document"
    size, rank = (corpus.documents, corpus.document_rank) if whole else (corpus.passages, corpus.id_rank)
    return ranking.canonical(hits, size=size, rank_of_id=rank, depth=hits.passages.shape[1])


def _differences(
    label: str, claimed: Measure | None, expected: Measure | None, source: str, tolerance: Tolerance
) -> Iterator[str]:
    if claimed is None or expected is None or claimed.ci95 is None or claimed.queries is None:
        yield f"{label}: is {'only in' if expected is None else 'missing in'} the row"
        return
    assert expected.ci95 is not None
    assert expected.queries is not None
    numbers = (
        ("mean", claimed.mean, expected.mean),
        ("queries", claimed.queries, expected.queries),
        *(("ci95", one, other) for one, other in zip(claimed.ci95, expected.ci95, strict=True)),
    )
    for name, one, other in numbers:
        if not _near(one, other, tolerance.number):
            yield f"{label}: its {name} is {one}, {source} {other}"


def _alike(one: float | None, other: float | None, tolerance: Tolerance) -> bool:
    return one is other if one is None or other is None else _near(one, other, tolerance.number)


def _lines(board: Leaderboard, row: Row, expected: bytes, tolerance: Tolerance) -> Iterator[str]:
    """The per-query values that differ from those that the run gives."""
    path = cited_files.located(board, row, "per_query")
    if path is None:
        return
    cited, data = row.files["per_query"].path, path.read_bytes()
    if data == expected:
        return
    theirs, ours = (text.decode(errors="replace").splitlines() for text in (data, expected))
    headings = ours[0].split("\t")
    if len(theirs) != len(ours) or theirs[0] != ours[0]:
        sizes = f"{len(theirs) - 1} queries, the run gives {len(ours) - 1}"
        yield f"{cited}: has the columns {theirs[:1]} and {sizes}, with {ours[:1]}"
        return
    differing = 0
    for number, (one, other) in enumerate(zip(theirs, ours, strict=True), 1):
        wrong = list(_cells(one.split("\t"), other.split("\t"), headings, tolerance)) if one != other else []
        differing += bool(wrong)
        if wrong and differing <= SHOWN:
            query = other.split("\t")[0]
            yield f"{cited}:{number}: query {query}: {'; '.join(wrong)}"
    if differing > SHOWN:
        yield f"{cited}: {differing - SHOWN} more queries have other values than the run gives"


def _cells(
    one: Sequence[str], other: Sequence[str], headings: Sequence[str], tolerance: Tolerance
) -> Iterator[str]:
    if len(one) != len(other) or one[0] != other[0]:
        yield f"the line is {one}"
        return
    for heading, claimed, expected in list(zip(headings, one, other, strict=True))[1:]:
        if claimed != expected and not _near(_number(claimed), float(expected), tolerance.value):
            yield f"{heading} is {claimed}, the run gives {expected}"


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _near(one: float, other: float, most: float) -> bool:
    return one == other or abs(one - other) <= most
