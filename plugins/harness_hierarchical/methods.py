"""Hierarchical retrieval: selects the passages to score, and fuses their scores with their documents'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Floats, HarnessError, Hits, Ints, Rescore, Structure
from harness_hierarchical import HierarchicalParams

if TYPE_CHECKING:
    Doubles: TypeAlias = NDArray[np.float64]

FLOOR = 1e-4  # the least divisor of DAPR's released code
CELLS = 1 << 20  # passages scored and fused at once, which bounds memory (about 200 MB)


@dataclass(frozen=True)
class Hierarchical:
    """A combiner of a passage ranking and a document ranking (DAPR, section 4.2.1). The retriever of the
    first input scores all candidate passages of the best documents of the second input. The passages' scores
    are fused with their documents' scores."""

    params: HierarchicalParams

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure, rescore: Rescore) -> Hits:
        params, ranking = self.params, inputs[1]
        if ranking.unit != "document":
            raise HarnessError(
                "hierarchical: the second input ranks passages; name a system that has `unit: document`"
            )
        documents = np.asarray(ranking.passages[:, : params.documents], np.int64)
        document_side = np.asarray(ranking.scores[:, : params.documents], np.float64)
        inside = Candidates.of(structure)
        widths = inside.counts(documents).sum(axis=1)
        width = min(depth, int(widths.max(initial=0)))
        hits = Hits(
            np.full((len(documents), width), -1, np.int64), np.empty((len(documents), width), np.float32)
        )
        hits.scores.fill(-np.inf)
        for rows in blocks(widths):
            scored = rescore(0, inside.passages(documents[rows]), rows.start)
            scored = Hits(scored.passages[:, : params.passages], scored.scores[:, : params.passages])
            sides = document_scores(scored.passages, documents[rows], document_side[rows], structure)
            total = fused(scored.passages, scored.scores, sides, params.weight)
            order = np.lexsort((scored.passages, -total), axis=1)[:, :depth]  # -1 comes last
            columns = slice(order.shape[1])
            hits.passages[rows, columns] = np.take_along_axis(scored.passages, order, 1)
            hits.scores[rows, columns] = np.take_along_axis(total, order, 1)
        return hits


def blocks(widths: Ints) -> Iterator[slice]:
    """Ranges of queries that are scored at once. `widths` (int64[Q]) are the numbers of passages of the
    queries. A range has at most CELLS cells (its queries times the largest width), or is a single query."""
    start = 0
    while start < len(widths):
        reach = np.maximum.accumulate(widths[start : start + CELLS])
        cells = reach * np.arange(1, len(reach) + 1)
        rows = max(1, int(np.searchsorted(cells, CELLS, "right")))
        yield slice(start, start + rows)
        start += rows


class Candidates(NamedTuple):
    """The candidate passages of each document."""

    positions: Ints  # int64[C], ascending
    first: Ints  # int64[D + 1]: document d has positions[first[d]] to positions[first[d + 1] - 1]

    @classmethod
    def of(cls, structure: Structure) -> Candidates:
        before = np.concatenate([[0], np.cumsum(structure.candidate)])  # candidates before each passage
        return cls(np.flatnonzero(structure.candidate), before[structure.first])

    def counts(self, documents: Ints) -> Ints:
        """int64[Q, D]: the number of candidates of each of these documents, 0 for a document -1."""
        counts: Ints = np.where(documents >= 0, np.diff(self.first)[documents], 0)
        return counts

    def passages(self, documents: Ints) -> Ints:
        """int64[Q, n]: the candidates of all documents in each row of `documents` (int64[Q, D]), in the order
        of the documents. -1 fills short rows of both arrays."""
        counts = self.counts(documents)
        widths, flat = counts.sum(axis=1), counts.ravel()
        # the place of each passage among the candidates of its document
        within = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
        rows = np.full((len(documents), widths.max(initial=0)), -1, np.int64)
        filled = np.arange(rows.shape[1]) < widths[:, None]
        rows[filled] = self.positions[np.repeat(self.first[documents.ravel()], flat) + within]
        return rows


def fused(passages: Ints, scores: Floats, sides: Doubles, weight: float) -> Floats:
    """float32[Q, n]: s = weight * s^_passage + (1 - weight) * s^_document for each passage, -inf for a -1."""
    filled = passages >= 0
    passage_side = normalised(np.where(filled, scores.astype(np.float64), np.nan))
    total = weight * passage_side + (1 - weight) * normalised(np.where(filled, sides, np.nan))
    return np.where(filled, total, -np.inf).astype(np.float32)


def document_scores(passages: Ints, documents: Ints, scores: Doubles, structure: Structure) -> Doubles:
    """float64[Q, n]: for each passage the score of its document. `documents` (int64[Q, D]) and `scores`
    (float64[Q, D]) are the documents of each query and their scores. A passage whose document is not among
    them has NaN."""
    size = len(structure.first)
    rows = np.arange(len(passages))[:, None] * size
    known = np.where(documents >= 0, rows + documents, -1).ravel()
    order = np.argsort(known, kind="stable")
    wanted = np.where(passages >= 0, rows + structure.document_of[passages], -2)
    places = np.minimum(np.searchsorted(known[order], wanted), max(len(known) - 1, 0))
    if len(known) == 0:
        return np.full(passages.shape, np.nan)
    scores_found: Doubles = np.where(known[order][places] == wanted, scores.ravel()[order][places], np.nan)
    return scores_found


def normalised(scores: Doubles) -> Doubles:
    """Each score s of a row q as s^ = (s - m_q) / max(M_q - m_q, 1e-4), where m_q and M_q are the least and
    greatest score of the row (DAPR, equation 1, with the floor of its released code). A missing score, which
    is NaN, becomes 0."""
    least = np.nanmin(np.where(np.isnan(scores), np.inf, scores), axis=1, initial=np.inf)[:, None]
    greatest = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=1, initial=-np.inf)[:, None]
    empty = ~np.isfinite(least)
    width = np.where(empty, 1.0, greatest - np.where(empty, 0.0, least))
    result: Doubles = (scores - np.where(empty, 0.0, least)) / np.maximum(width, FLOOR)
    return np.nan_to_num(result, nan=0.0)
