"""The numbers of a ranking as a row holds them: measures, slices, counts, limits and per-query values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.collection.judgements import excluded_positions
from harness.execution.open_dataset import Opened
from harness.leaderboard import per_query
from harness.leaderboard.model import File, Measure, Slice
from harness.scoring import answers, bootstrap, bounds, run_files, score
from harness.scoring.limits import Limits, Scored
from harness.scoring.protocols import Scoring
from harness.scoring.ranking import Documents
from harness.scoring.score import scores_of
from harness.steps.rules import Rules
from harness.store import disk
from harness.types import Hits, Unit


class Numbers(NamedTuple):
    """The fields of a row that follow from the ranking and the judgements alone."""

    measures: dict[str, Measure]
    slices: dict[str, Slice]
    scored: Scored
    limits: dict[str, Limits]
    flags: tuple[str, ...]  # the measures that failed, with reasons


def scored(
    hits: Hits,
    opened: Opened,
    scoring: Scoring,
    seed: int,
    labels: answers.Labels | None = None,
    below: bounds.Below | None = None,
) -> tuple[Numbers, bytes]:
    """The numbers of canonical hits, and the bytes of their per-query file. `labels` are the labels of
    `harness.scoring.answers`, if they are known; `below` holds the hits that a re-ranker was given."""
    by_answers = scoring.by_answers and hits.unit == "passage"
    rules = Rules(depth=scoring.depth, by_answers=scoring.by_answers)
    columns = scoring.of_unit(hits.unit)
    scores = scores_of(
        rules, hits, opened.judged, columns, opened.corpus, opened.queries, scoring.plugin_measures, labels
    )
    slices = {}
    for name, members in opened.slices.items():
        chosen = members[scores.queries]
        if chosen.any():
            slices[name] = Slice(int(chosen.sum()), _measures(score.summarise(scores, seed, chosen)))
    limits: dict[str, Limits] = {}
    if not by_answers:  # judgements by answers exist only for the results of this run
        limits = _limits(scores, opened, scoring, below)
    failed = tuple(f"{label}: {reason}" for label, reason in scores.failed.items())
    numbers = Numbers(_measures(score.summarise(scores, seed)), slices, scores.facts, limits, failed)
    queries = [opened.queries.ids[i] for i in scores.queries.tolist()]
    return numbers, per_query.encoded(queries, scores.columns)


def _limits(
    scores: score.Scores, opened: Opened, scoring: Scoring, below: bounds.Below | None
) -> dict[str, Limits]:
    corpus = opened.corpus
    units: tuple[Unit, ...] = ("passage", "document")
    excluded = {unit: excluded_positions(corpus, opened.queries, unit) for unit in units}
    findable = bounds.Findable(corpus.candidate, excluded)
    documents = Documents(corpus.document_of, corpus.document_rank)
    return bounds.limits(
        scores, findable, documents, plugin_measures=scoring.plugin_measures, depth=scoring.depth, below=below
    )


def _measures(summaries: Mapping[str, bootstrap.Summary]) -> dict[str, Measure]:
    return {
        label: Measure(float(item.mean), (float(item.low), float(item.high)), int(item.queries))
        for label, item in summaries.items()
    }


class RowFiles(NamedTuple):
    """The paths of a row's run and per-query values, relative to the leaderboard."""

    run: Path
    per_query: Path


def files_of(dataset: str, system: str) -> RowFiles:
    return RowFiles(Path("runs", dataset, f"{system}.run.gz"), Path("per-query", dataset, f"{system}.tsv"))


def write_files(
    out: Path, opened: Opened, dataset: str, system: str, hits: Hits, values: bytes, *, run: bool = True
) -> dict[str, File]:
    """Writes the per-query values below `out`, and the run if `run` is True. Returns both files as the row
    cites them."""
    paths = files_of(dataset, system)
    for path in paths:
        (out / path).parent.mkdir(parents=True, exist_ok=True)
    if run:
        ids = opened.corpus.ids if hits.unit == "passage" else opened.corpus.document_ids
        with disk.replacing(out / paths.run) as beside:  # another process may write and read the same files
            run_files.write_run(beside, opened.queries.ids, ids, hits, run_files.tag_of(system))
    disk.replace_file(out / paths.per_query, values)
    return {name: cited(out, path) for name, path in paths._asdict().items()}


def cited(out: Path, path: Path) -> File:
    return File(path.as_posix(), disk.sha256(out / path))
