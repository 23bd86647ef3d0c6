"""Checks the hits and scores that a method returned, and sorts them by the harness's one rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.collection.corpus import Corpus
from harness.errors import ContractError, check_is
from harness.scoring import ranking
from harness.types import Floats, Hits, Ints, Unit


def canonical(
    hits: Hits, read: Corpus, depth: int, queries: int, most_columns: int, excluded: Sequence[Ints] | None
) -> Hits:
    document = hits.unit == "document"
    size = read.documents if document else read.passages
    ranks = read.document_rank if document else read.id_rank
    ranked = ranking.canonical(
        hits,
        size=size,
        rank_of_id=ranks,
        depth=depth,
        exclude=excluded,
        queries=queries,
        most_columns=most_columns,
    )
    strange = ~read.candidate[ranked.passages] & (ranked.passages >= 0) if not document else np.zeros(0)
    if strange.any():
        row, column = np.argwhere(strange)[0]
        text = f"query {row}: the position {ranked.passages[row, column]} is no candidate"
        raise ContractError(f"{text}; only what `batches` yields may be returned")
    return ranked


def of_unit(hits: Hits, unit: Unit) -> Hits:
    """A retriever's hits with the unit of the texts that it searched."""
    check_is(hits, Hits, "hits")
    return hits._replace(unit=unit)


def check_unit(hits: Hits, unit: Unit) -> None:
    check_is(hits, Hits, "hits")
    if hits.unit != unit:
        raise ContractError(f"hits that count {hits.unit}s; {unit}s are expected")


def check_only_found(hits: Hits, inputs: Sequence[Hits], read: Corpus) -> None:
    """Check that a combiner returned, for each query, only hits that one of its inputs found. A document
    stands for its passages, and a passage for its document. Raises ContractError."""

    def counted(positions: Ints, unit: Unit, as_unit: Unit) -> Ints:
        return positions if unit == as_unit else read.document_of[positions].astype(np.int64)

    for row, passages in enumerate(hits.passages):
        returned = passages[passages >= 0]
        known = np.zeros(len(returned), np.bool_)
        for each in inputs:
            as_unit: Unit = "passage" if each.unit == hits.unit == "passage" else "document"
            of_input = each.passages[row][each.passages[row] >= 0]
            known |= np.isin(counted(returned, hits.unit, as_unit), counted(of_input, each.unit, as_unit))
        if not known.all():
            what = f"query {row}: the position {returned[~known][0]} is returned, which no input found"
            raise ContractError(what)


def scores(scores: Floats, candidates: Ints) -> Floats:
    check_is(scores, np.ndarray, "scores")
    if scores.shape != candidates.shape:
        raise ContractError(f"scores of the shape {scores.shape} for candidates of {candidates.shape}")
    if scores.dtype.kind not in "fiu":
        raise ContractError(f"scores of the type {scores.dtype}; they must be float32")
    return np.where(candidates >= 0, scores, np.float32(-np.inf)).astype(np.float32)
