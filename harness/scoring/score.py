"""Scores: one value per query and column, from a ranking and its judgements, with facts for readers.

Rows, tuning, analyses and verification all score hits by the rules of a suite with `scores_of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, judging
from harness.collection.queries import Judgements, Queries
from harness.errors import ContractError, HarnessError
from harness.records import Column, Measure
from harness.scoring import answers, bootstrap, limits, measures, ranking
from harness.scoring.bootstrap import Summary
from harness.scoring.measures.grades import Ideal, ideal_of, look_up, of_documents
from harness.scoring.measures.kernels import gain_of, kernel_of
from harness.scoring.measures.names import Average, Metric
from harness.scoring.ranking import Documents
from harness.steps.rules import Rules
from harness.types import ColumnUnit, Hits, Ints


class Scored(NamedTuple):
    """One scored column. The value of a query is numerator / denominator, or 0 where the denominator is 0."""

    column: Column
    numerator: NDArray[np.float64]  # float64[S], one number for each scored query
    denominator: NDArray[np.float64]
    average: Average

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of each scored query: float64[S]. Comparisons query by query use them."""
        whole = self.denominator
        return np.divide(self.numerator, whole, out=np.zeros(len(whole)), where=whole != 0)


class View(NamedTuple):
    """A ranking of one unit, with the data that the columns of this unit read."""

    ranked: Ints  # int64[S, k]
    grades: NDArray[np.int32]  # int32[S, k]
    ideal: Ideal
    row: Ints  # int64[J]: the row of each judgement's query among the scored queries
    judged: Judged


class Scores(NamedTuple):
    """All columns of one system on one dataset."""

    queries: Ints  # int64[S]: the number of each scored query, ascending
    columns: tuple[Scored, ...]
    facts: limits.Scored
    views: Mapping[ColumnUnit, View]  # the data from which the columns of each unit are computed
    failed: Mapping[str, str]  # label -> why a plugin's measure has no column


def judged_by(rules: Rules, read: Corpus, queries: Queries, judgements: Judgements) -> Judged:
    """The judgements of a collection that count."""
    return judging(read, queries, judgements, drop=rules.drop).judged


def scores_of(
    rules: Rules,
    hits: Hits,
    judged: Judged,
    columns: Sequence[Column],
    read: Corpus,
    queries: Queries,
    plugin_measures: Mapping[str, Measure],
    labels: answers.Labels | None = None,
    strict: bool = False,
) -> Scores:
    """The scores of hits that `ranking.canonical` has ordered. `labels` are the labels of
    `harness.scoring.answers`, if they are known. Hits of documents are never judged by answers. If a plugin's
    measure fails, its column is left out; with `strict`, ContractError is raised."""
    if rules.by_answers and hits.unit == "passage":
        depth = rules.depth or hits.passages.shape[1]
        labels = answers.labels(read, queries, hits, depth) if labels is None else labels
        judged = answers.judged(labels, hits, queries, read.passages)
    documents = Documents(read.document_of, read.document_rank)
    return score(
        hits, judged, columns, size=read.passages, plugin_measures=plugin_measures, documents=documents,
        depth=rules.depth, strict=strict,
    )  # fmt: skip


def score(
    hits: Hits,
    judged: Judged,
    columns: Sequence[Column],
    *,
    size: int,
    plugin_measures: Mapping[str, Measure] | None = None,
    documents: Documents | None = None,
    depth: int | None = None,
    strict: bool = True,
) -> Scores:
    """The scores of canonical hits over all queries with a judgement. Row q of the hits is query q; a query
    beyond the last row has no hits. `size` is the number of passages of the corpus, `plugin_measures` holds
    the measures of plugins by name, `documents` is needed for document columns, and `depth` is where the
    protocol cuts the run.

    A system whose unit is documents gets only the document columns. If a plugin's measure fails,
    ContractError is raised with `strict`; otherwise its column is left out and the reason is in `failed`."""
    if len(judged.query) == 0:
        advice = "check the split, or take some in with the maker `judged`; `datasets show` counts them"
        raise HarnessError(f"judgements: there is none, so nothing can be scored; {advice}")
    hits = ranking.cut(hits, depth)
    queries, row = np.unique(judged.query.astype(np.int64), return_inverse=True)
    plugin_measures = plugin_measures or {}
    wanted = [column for column in columns if column.unit == "document" or hits.unit == "passage"]
    done: dict[Column, Scored] = {}
    views: dict[ColumnUnit, View] = {}
    lacking: dict[str, int] = {}
    failed: dict[str, str] = {}
    for unit in dict.fromkeys(column.unit for column in wanted):
        same = [column for column in wanted if column.unit == unit]
        metrics = [measures.parse(column.measure, plugin_measures) for column in same]
        view = views[unit] = _view(hits, judged, queries, row, unit, documents)
        for column, metric, values in zip(same, metrics, _computed(metrics, view, strict), strict=True):
            if isinstance(values, ContractError):
                failed[column.label] = str(values)
                continue
            done[column] = Scored(column, *values, metric.average)
            lacking[column.label] = int(np.count_nonzero(~has_positive(metric, view.ideal)))
    answered, ties = _answered(hits, queries)
    missing = int(np.count_nonzero(judged.passage >= size))
    facts = limits.Scored(len(queries), len(queries) - answered, lacking, missing, ties)
    scored = tuple(done[column] for column in wanted if column in done)
    return Scores(queries, scored, facts, views, failed)


def summarise(
    scores: Scores, seed: int, mask: NDArray[np.bool_] | None = None, resamples: int = bootstrap.RESAMPLES
) -> dict[str, Summary]:
    """The mean, the interval and the number of queries of each column, by label. `mask` (bool[S]) selects the
    scored queries of a slice; the result is empty if it selects none."""
    chosen = np.ones(len(scores.queries), np.bool_) if mask is None else mask
    if not chosen.any():
        return {}
    samples = [
        bootstrap.Sample(scored.numerator[chosen], scored.denominator[chosen], scored.average)
        for scored in scores.columns
    ]
    intervals = bootstrap.summaries(samples, seed, resamples)
    return {scored.column.label: summary for scored, summary in zip(scores.columns, intervals, strict=True)}


def mean(scored: Scored, chosen: NDArray[np.bool_] | None = None) -> float:
    """The mean of a column over the chosen scored queries, rounded as in a leaderboard. `chosen` is bool[S];
    None stands for all scored queries."""
    part, whole, values = scored.numerator, scored.denominator, scored.values
    if chosen is not None:
        part, whole, values = part[chosen], whole[chosen], values[chosen]
    if scored.average == "ratio":
        return round(float(part.sum()) / float(whole.sum()), 6) if whole.sum() else 0.0
    return round(float(values.sum() if scored.average == "sum" else values.mean()), 6)


def _view(
    hits: Hits, judged: Judged, queries: Ints, row: Ints, unit: ColumnUnit, documents: Documents | None
) -> View:
    if unit != "passage":
        if documents is None:
            raise ValueError("document columns need `documents`")
        hits = ranking.ranked_by(hits, unit, documents)
        judged = of_documents(judged, documents.document_of, len(documents.rank_of_id))
        row = np.searchsorted(queries, judged.query)
    ranked = rows_of(hits.passages, queries)
    grades = look_up(ranked, row, judged.passage, judged.grade)
    grades.flags.writeable = False  # the array is handed to measures of plugins
    return View(ranked, grades, ideal_of(len(queries), row, judged.grade), row, judged)


def rows_of(passages: Ints, queries: Ints) -> Ints:
    """The rows of the scored queries: int64[S, k]. They are not copied if all queries are scored."""
    if len(queries) == len(passages) and queries[-1] == len(passages) - 1:
        return passages
    present = queries < len(passages)
    ranked = np.full((len(queries), passages.shape[1]), -1, np.int64)
    ranked[present] = passages[queries[present]]
    return ranked


def _computed(
    metrics: Sequence[Metric], view: View, strict: bool
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]] | ContractError]:
    """The numerator and denominator of each metric, or the error of a plugin's measure. ir-measures is
    imported only if a metric has no kernel."""
    rest = [metric for metric in metrics if not metric.kernel]
    foreign: dict[str, NDArray[np.float64]] = {}
    if rest:
        from harness.scoring.measures.by_ir_measures import values

        of_rest = values(rest, view.ranked, view.row, view.judged.passage, view.judged.grade)
        foreign = {metric.name: value for metric, value in zip(rest, of_rest, strict=True)}
    computed: list[tuple[NDArray[np.float64], NDArray[np.float64]] | ContractError] = []
    for metric in metrics:
        try:
            ones = np.ones(view.ideal.queries)
            computed.append(by_kernel(metric, view) if metric.kernel else (foreign[metric.name], ones))
        except ContractError as error:
            if strict:
                raise
            computed.append(error)
    return computed


def by_kernel(metric: Metric, view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The numerator and the denominator (float64[S] each) of a metric that has a kernel."""
    try:
        part, whole = kernel_of(metric)(view.grades, view.ideal, metric.rel, metric.cutoff)
    except ContractError:
        raise
    except Exception as error:
        if metric.plugin is None:
            raise
        what = f"the measure {metric.name} failed: {type(error).__name__}: {error}"
        raise ContractError(what) from error
    for values in (part, whole):
        if np.shape(values) != (view.ideal.queries,) or not np.isfinite(values).all():
            expected = f"a finite numerator and denominator for each of {view.ideal.queries} queries"
            raise ContractError(f"the measure {metric.name} did not return {expected}")
    return part, whole


def has_positive(metric: Metric, ideal: Ideal) -> NDArray[np.bool_]:
    """Whether each query has a judgement that the metric counts as good: bool[S]."""
    good = gain_of(metric)(ideal.grade) > 0 if metric.family == "nDCG" else ideal.grade >= metric.rel
    return np.bincount(ideal.row[good], minlength=ideal.queries) > 0


def _answered(hits: Hits, queries: Ints) -> tuple[int, int]:
    """The number of scored queries with hits, and the number of neighbours with equal scores."""
    answered = queries[queries < len(hits.passages)]
    if hits.passages.shape[1] == 0:
        return 0, 0
    same = (hits.scores[:, 1:] == hits.scores[:, :-1]) & (hits.passages[:, 1:] >= 0)
    ties = np.count_nonzero(same, axis=1)[answered]
    return int(np.count_nonzero(hits.passages[answered, 0] >= 0)), int(ties.sum())
