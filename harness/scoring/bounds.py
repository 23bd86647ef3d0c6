"""The limits of a column: its best value, and its values if unjudged results are left out or relevant."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import ContractError
from harness.records import Measure
from harness.scoring import measures, ranking, score
from harness.scoring.limits import Limits
from harness.scoring.measures.grades import Ideal, look_up, per_row, places
from harness.scoring.measures.kernels import gain_of
from harness.scoring.measures.names import FILL, UNJUDGED, Metric
from harness.scoring.ranking import Documents
from harness.scoring.score import Scored, Scores, View
from harness.types import ColumnUnit, Hits, Ints, Unit

Grades = NDArray[np.int32]
Values = NDArray[np.float64]
Worth = Callable[[Grades], Values]
CELLS = 1 << 20  # cells of one block of rows, whose new grades are held at once
AMOUNTS = ("Judged", "NumQ", "NumRel", "NumRet")  # measures of amounts, which have no best value


class Below(NamedTuple):
    """The run that a re-ranker was given. The re-ranker orders its first `depth` hits."""

    hits: Hits
    depth: int
    keep: bool  # whether the other hits stay below these


class Findable(NamedTuple):
    """The passages and documents that a ranking may hold."""

    candidate: NDArray[np.bool_]  # bool[N]: whether each passage is a candidate
    excluded: Mapping[Unit, Sequence[Ints] | None]  # positions that are removed from each query's ranking


class _Order(NamedTuple):
    """Rankings of one unit, given by their C judged cells alone."""

    row: Ints  # int64[C], ascending
    rank: Ints  # int64[C], from 0, ascending within a row
    grade: Grades  # int32[C]
    length: Ints  # int64[S]: the length of each ranking


def limits(
    scores: Scores,
    findable: Findable,
    documents: Documents,
    *,
    plugin_measures: Mapping[str, Measure],
    depth: int,
    below: Below | None = None,
) -> dict[str, Limits]:
    """The limits of each column that a kernel of the harness or of a plugin computes, by the column's label.
    `depth` is where the protocol cuts runs; `scores` are of a run that was cut there."""
    bounds = {}
    for unit, view in scores.views.items():
        reachable = _reachable(view, unit, findable, documents)
        mine = _order(view.grades)
        order_below = (
            None if below is None else _input_order(below, scores.queries, unit, documents, view, depth)
        )
        for scored in scores.columns:
            metric = measures.parse(scored.column.measure, plugin_measures)
            if scored.column.unit == unit and metric.kernel and metric.family not in AMOUNTS:
                with contextlib.suppress(ContractError):  # a plugin's measure that cannot score a bound
                    bounds[scored.column.label] = _of_column(
                        scored, metric, view, reachable, mine, order_below, depth
                    )
    return bounds


def _of_column(
    scored: Scored,
    metric: Metric,
    view: View,
    reachable: NDArray[np.bool_],
    mine: _Order,
    order_below: tuple[_Order, Ints] | None,
    depth: int,
) -> Limits:
    def mean(grades: Grades) -> float:
        return _mean(scored, *score.by_kernel(metric, view._replace(grades=grades)))

    return Limits(
        mean(_best(view, reachable, _worth(metric), depth)),
        None if order_below is None else mean(_sorted_head(*order_below, _worth(metric))[:, :depth]),
        _judged_share(mine, metric.cutoff),
        mean(_condensed(mine)),
        _mean(scored, *_all_relevant(metric, view)),
        _over(scored, score.has_positive(metric, view.ideal)),
        _over(scored, mine.length > 0),
    )


def _mean(scored: Scored, part: Values, whole: Values) -> float:
    return score.mean(scored._replace(numerator=part, denominator=whole))


def _over(scored: Scored, chosen: NDArray[np.bool_]) -> float | None:
    return score.mean(scored, chosen) if chosen.any() else None


def _worth(metric: Metric) -> Worth:
    """The function from grades to the numbers that the best order sorts by: the grades themselves, or the
    gains if the metric has a table of gains, which may order grades differently."""
    return gain_of(metric) if "gains" in metric.params else lambda grade: grade.astype(np.float64)


def _reachable(view: View, unit: ColumnUnit, findable: Findable, documents: Documents) -> NDArray[np.bool_]:
    """Whether a ranking may hold each judged passage or document: bool[J]."""
    place = view.judged.passage
    size = len(findable.candidate if unit == "passage" else documents.rank_of_id)
    present = place < size  # passages that the corpus lacks have higher numbers
    known = place[present]
    if unit == "passage":
        present[present] = findable.candidate[known]
    else:
        present[present] = _has_candidate(known, unit, findable.candidate, documents.document_of)
    excluded = findable.excluded.get("passage" if unit == "passage" else "document")
    if excluded is not None:
        sizes = [len(positions) for positions in excluded]
        keys = np.repeat(np.arange(len(sizes)), sizes) * size + np.concatenate(excluded)
        present &= ~np.isin(view.judged.query * np.int64(size) + place, keys)
    return present


def _has_candidate(
    chosen: Ints, unit: ColumnUnit, candidate: NDArray[np.bool_], document_of: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """bool[n]: whether each chosen document has a passage that is a candidate. For the unit `first`, only its
    first passage counts. Only the chosen documents are read, so that memory does not grow with the corpus."""
    wanted = chosen.astype(document_of.dtype)
    first = np.searchsorted(document_of, wanted)
    sizes = np.searchsorted(document_of, wanted, "right") - first
    if unit == "first":
        sizes = np.minimum(sizes, 1)
    which = np.repeat(np.arange(len(chosen)), sizes)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    counts = np.bincount(which[candidate[np.repeat(first, sizes) + inside]], minlength=len(chosen))
    return np.asarray(counts > 0)


def _order(grades: Grades) -> _Order:
    row, rank = np.divmod(np.flatnonzero(grades > FILL), max(grades.shape[1], 1))
    return _Order(row, rank, grades[row, rank], np.count_nonzero(grades != FILL, axis=1))


def _input_order(
    below: Below, queries: Ints, unit: ColumnUnit, documents: Documents, view: View, depth: int
) -> tuple[_Order, Ints]:
    """The ranking that a re-ranker was given, and the number of hits at the start of each row that it may
    order (int64[S]). In a ranking of documents, these are the documents of the passages that it may order."""
    whole = ranking.cut(below.hits, max(below.depth, depth) if below.keep else below.depth)
    head = ranking.cut(whole, below.depth)
    if unit != "passage" and whole.unit == "passage":
        whole, head = (ranking.ranked_by(_falling(hits), unit, documents) for hits in (whole, head))
    ranked, heads = score.rows_of(whole.passages, queries), score.rows_of(head.passages, queries)
    grades = look_up(ranked, view.row, view.judged.passage, view.judged.grade)
    return _order(grades), np.count_nonzero(heads >= 0, axis=1)


def _falling(hits: Hits) -> Hits:
    """The hits in the same order, with scores that fall from each rank to the next. Without ties, the
    documents of the first hits stay ahead of all other documents."""
    falling = -np.arange(hits.passages.shape[1], dtype=np.float32)
    return Hits(hits.passages, np.broadcast_to(falling, hits.passages.shape), hits.unit)


def _best(view: View, reachable: NDArray[np.bool_], worth: Worth, depth: int) -> Grades:
    """The grades of the best possible ranking, of judged passages alone: int32[S, k]."""
    row, grade = view.row[reachable], view.judged.grade[reachable]
    order = np.lexsort((-worth(grade), row))
    row, grade = row[order], grade[order]
    rank = places(row)
    kept = rank < depth
    length = per_row(row[kept], view.ideal.queries).astype(np.int64)
    return _filled(_Order(row[kept], rank[kept], grade[kept], length))


def _sorted_head(ranked: _Order, head: Ints, worth: Worth) -> Grades:
    """The grades of the given ranking with the first `head[q]` hits of each row q in the best order and all
    others in their places: int32[S, k]."""
    inside = ranked.rank < head[ranked.row]
    row, grade = ranked.row[inside], ranked.grade[inside]
    order = np.lexsort((-worth(grade), row))
    row, grade = row[order], grade[order]
    rest = ~inside
    mixed = _Order(
        np.concatenate([row, ranked.row[rest]]),
        np.concatenate([places(row), ranked.rank[rest]]),
        np.concatenate([grade, ranked.grade[rest]]),
        ranked.length,
    )
    return _filled(mixed)  # `_filled` takes cells in any order


def _condensed(mine: _Order) -> Grades:
    """The grades of the ranking without unjudged results (Sakai 2007): int32[S, k]."""
    length = per_row(mine.row, len(mine.length)).astype(np.int64)
    return _filled(mine._replace(rank=places(mine.row), length=length))


def _filled(order: _Order) -> Grades:
    """The grades of a ranking: int32[S, k]. Judged cells are in their places; all other cells up to the
    length of a row are unjudged."""
    width = int(order.length.max(initial=0))
    grades = np.full((len(order.length), width), FILL, np.int32)
    grades[np.arange(width) < order.length[:, None]] = UNJUDGED
    grades[order.row, order.rank] = order.grade
    return grades


def _judged_share(mine: _Order, cutoff: int | None) -> float:
    """The mean of Judged@`cutoff` over the queries."""
    limit = np.iinfo(np.int64).max if cutoff is None else cutoff
    judged = per_row(mine.row[mine.rank < limit], len(mine.length))
    return round(float((judged / np.maximum(np.minimum(mine.length, limit), 1)).mean()), 6)


def _all_relevant(metric: Metric, view: View) -> tuple[Values, Values]:
    """The numerator and denominator of a column if all unjudged results that it reads were judged, with the
    lowest grade that counts as relevant."""
    grade = _least(metric)
    read = view.grades[:, : metric.cutoff]
    step = max(1, CELLS // max(read.shape[1], 1))
    pairs: list[tuple[Values, Values]] = []
    for start in range(0, len(read), step):
        block = read[start : start + step]
        anew = block == UNJUDGED
        grades = np.where(anew, np.int32(grade), block)
        ideal = _extended(view.ideal, start, np.count_nonzero(anew, axis=1), grade)
        pairs.append(score.by_kernel(metric, view._replace(grades=grades, ideal=ideal)))
    return np.concatenate([part for part, _ in pairs]), np.concatenate([whole for _, whole in pairs])


def _least(metric: Metric) -> int:
    """The lowest grade that the metric counts as relevant."""
    if metric.family != "nDCG":
        return metric.rel
    levels = np.array(sorted({1, *metric.params.get("gains", {})}), np.int32)
    good = levels[gain_of(metric)(levels) > 0]
    return int(good[0]) if len(good) else 1


def _extended(ideal: Ideal, start: int, more: Ints, grade: int) -> Ideal:
    """The judgements of `len(more)` rows from `start` on, with `more[q]` more of `grade` in each row q."""
    low, high = np.searchsorted(ideal.row, (start, start + len(more)))
    row, known = ideal.row[low:high] - start, ideal.grade[low:high]
    above = known >= grade
    rows = np.concatenate([row[above], np.repeat(np.arange(len(more)), more), row[~above]])
    grades = np.concatenate([known[above], np.full(int(more.sum()), grade, np.int32), known[~above]])
    order = np.argsort(rows, kind="stable")  # merges three ascending runs
    return Ideal(len(more), rows[order], grades[order])
