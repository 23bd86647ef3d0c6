"""Hierarchical retrieval: which passages are scored, and how their scores join those of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.contracts import Rescore
from harness.errors import HarnessError
from harness.types import Hits, Structure

if TYPE_CHECKING:
    from harness.types import Floats, Ints

    Doubles: TypeAlias = NDArray[np.float64]

FLOOR = 1e-4  # the least divisor of DAPR's released code
CELLS = 1 << 20  # passages fused at once, which bounds memory


@dataclass(frozen=True)
class Hierarchical:
    """The first input's retriever scores all candidate passages of the second input's best documents, and
    their scores are fused with their documents' (DAPR, section 4.2.1)."""

    weight: float
    documents: int

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure, rescore: Rescore) -> Hits:
        found = inputs[1]
        if found.unit != "document":
            raise HarnessError(
                "hierarchical: the second input ranks passages; name a system that has `unit: document`"
            )
        documents = np.asarray(found.passages[:, : self.documents], np.int64)
        worth = np.asarray(found.scores[:, : self.documents], np.float64)
        scored = rescore(0, passages_of(documents, structure))
        queries, width = scored.passages.shape
        positions = np.full((queries, min(depth, width)), -1, np.int64)
        scores = np.full(positions.shape, -np.inf, np.float32)
        step = max(1, CELLS // max(1, width))
        for start in range(0, queries, step):
            rows = slice(start, start + step)
            passages = scored.passages[rows]
            sides = document_scores(passages, documents[rows], worth[rows], structure)
            total = fused(passages, scored.scores[rows], sides, self.weight)
            order = np.lexsort((passages, -total), axis=1)[:, :depth]  # fills last
            positions[rows] = np.take_along_axis(passages, order, 1)
            scores[rows] = np.take_along_axis(total, order, 1)
        return Hits(positions, scores)


def passages_of(documents: Ints, structure: Structure) -> Ints:
    """int64[Q, n]: the candidate passages of each row's documents (int64[Q, D], -1 fills), in their order;
    -1 fills short rows."""
    candidates = np.flatnonzero(structure.candidate)
    before = np.concatenate([[0], np.cumsum(structure.candidate)])  # candidates before each passage
    first, last = before[structure.first[:-1]], before[structure.first[1:]]
    lengths = np.where(documents >= 0, (last - first)[documents], 0)  # int64[Q, D]
    widths = lengths.sum(axis=1)
    flat = lengths.ravel()
    within = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)  # the place in its document
    positions = np.full((len(documents), widths.max(initial=0)), -1, np.int64)
    there = np.arange(positions.shape[1]) < widths[:, None]
    positions[there] = candidates[np.repeat(first[documents.ravel()], flat) + within]
    return positions


def fused(passages: Ints, scores: Floats, sides: Doubles, weight: float) -> Floats:
    """float32[Q, n]: s = weight * s^_passage + (1 - weight) * s^_document; -inf where a passage is -1."""
    there = passages >= 0
    own = np.where(there, scores.astype(np.float64), np.nan)
    total = weight * normalised(own) + (1 - weight) * normalised(np.where(there, sides, np.nan))
    return np.where(there, total, -np.inf).astype(np.float32)


def document_scores(passages: Ints, documents: Ints, scores: Doubles, structure: Structure) -> Doubles:
    """float64[Q, n]: for each passage the score of its document among the row's documents (int64[Q, D]
    with float64[Q, D]); NaN where there is none."""
    size = len(structure.first)
    rows = np.arange(len(passages))[:, None] * size
    known = np.where(documents >= 0, rows + documents, -1).ravel()
    order = np.argsort(known, kind="stable")
    wanted = np.where(passages >= 0, rows + structure.document_of[passages], -2)
    places = np.minimum(np.searchsorted(known[order], wanted), max(len(known) - 1, 0))
    if len(known) == 0:
        return np.full(passages.shape, np.nan)
    found: Doubles = np.where(known[order][places] == wanted, scores.ravel()[order][places], np.nan)
    return found


def normalised(scores: Doubles) -> Doubles:
    """s^ = (s - m_q) / max(M_q - m_q, 1e-4) for each row, 0 for a NaN: what is missing (DAPR, equation 1,
    with the floor of its released code)."""
    least = np.nanmin(np.where(np.isnan(scores), np.inf, scores), axis=1, initial=np.inf)[:, None]
    greatest = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=1, initial=-np.inf)[:, None]
    empty = ~np.isfinite(least)
    width = np.where(empty, 1.0, greatest - np.where(empty, 0.0, least))
    result: Doubles = (scores - np.where(empty, 0.0, least)) / np.maximum(width, FLOOR)
    return np.nan_to_num(result, nan=0.0)
