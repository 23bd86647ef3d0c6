"""Texts and rankings of a limited number of queries, for the query inspector of the report."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson

from harness.inspect import query
from harness.inspect.marks import Piece
from harness.inspect.material import Variant
from harness.inspect.query import Inspected, QueryView
from harness.leaderboard.board_file import Leaderboard
from harness.store.artifacts import Store
from harness.types import JSON

QUERIES = 200  # the most queries of a report
BYTES = 2_000_000  # the most compressed bytes of a report
TOP = 10  # how many hits of a ranking are kept
POSITIVES = 10  # how many positives of a query and system are kept
LONGEST = 1500  # how many characters of a text are kept


class Evidence(NamedTuple):
    """The queries of one dataset that the inspector shows, with a note on them."""

    data: dict[str, JSON]
    judged: list[float | None]  # for each row, the share of judged passages among its first hits
    note: str  # how many queries are in the report, and which data are missing


def chosen(values: Any, most: int) -> list[int]:
    """The numbers of the `most` queries on which systems differ most (`values` is float64[rows, Q]), the
    largest difference first. Equal differences are in the order of the queries."""
    if not values.size or not most:
        return []
    known = np.isfinite(values)
    high = np.where(known, values, -np.inf).max(axis=0)
    low = np.where(known, values, np.inf).min(axis=0)
    spread = np.where(known.any(axis=0), high - low, -1.0)
    order = np.argsort(-spread, kind="stable")[:most]
    return [int(i) for i in order if spread[i] >= 0]


def of_dataset(
    board: Leaderboard, number: int, ids: Sequence[str], values: Any, store: Store, texts: bool
) -> Evidence:
    """The available evidence for the queries of one dataset on which systems differ most. Without `texts`, it
    contains only ids and numbers."""
    datasets = board.data.datasets
    dataset = datasets[number]
    rows = board.rows_of(dataset.name)
    names = [ids[i] for i in chosen(values, max(1, QUERIES // len(datasets)))]
    scored = [row for row in rows if row.status == "ok"]
    inspected = query.opened(board, dataset, scored, store, names)
    places = [i for i, row in enumerate(rows) if row.status == "ok"]
    read_as = [item or Variant((), row.unit) for item, row in zip(inspected.variants, scored, strict=True)]
    variants = list(dict.fromkeys(read_as))
    queries: list[JSON] = []
    passages: dict[str, list[JSON]] = {}
    left = BYTES / len(datasets)
    for name in names:
        view = inspected.query(name, TOP)
        item, seen = _query(view, places), {}
        if texts:
            seen = _texts(inspected, view, variants, passages)
        else:
            item.update(text=None, answers=[], cut=0)
        left -= len(zlib.compress(orjson.dumps([item, list(seen.values())]), 1))
        if left < 0:
            break
        queries.append(item)
        passages.update(seen)
    systems: list[JSON] = [None] * len(rows)
    judged: list[float | None] = [None] * len(rows)
    for place, run in zip(places, inspected.runs, strict=True):
        if inspected.material is not None and run.hits is not None:
            judged[place] = inspected.material.judged_share(run.hits, TOP)
    for place, variant, known in zip(places, read_as, inspected.variants, strict=True):
        systems[place] = {"variant": variants.index(variant), "known": known is not None}
    data = {"queries": queries, "passages": passages, "systems": systems}
    return Evidence(data, judged, _note(len(queries), len(ids), texts, inspected))


def _note(shown: int, queries: int, texts: bool, inspected: Inspected) -> str:
    known = texts and inspected.material is not None and inspected.material.has_texts
    content = "Rankings and texts" if known else "Rankings (ids and scores)"
    note = f"{content} are here for {shown:,} of {queries:,} queries: those on which systems differ most."
    if not texts:
        note += " Texts were left out (--no-text)."
    if len(inspected.notes) > 1:
        return f"{note} Not at hand: {inspected.notes[0]}; and {len(inspected.notes) - 1} more of the kind."
    return f"{note} Not at hand: {inspected.notes[0]}." if inspected.notes else note


def _query(view: QueryView, places: Sequence[int]) -> dict[str, JSON]:
    rankings = {}
    for place, ranking in zip(places, view.rankings, strict=True):
        rankings[str(place)] = {
            "length": ranking.length,
            "hits": [[hit.id, round(hit.score, 6), hit.grade] for hit in ranking.hits],
            "positives": [list(item) for item in ranking.positives[:POSITIVES]],
            "more": max(0, len(ranking.positives) - POSITIVES),
        }
    text, cut = _cut(view.text or "")
    return {
        "id": view.id,
        "text": None if view.text is None else text,
        "cut": cut,
        "slices": list(view.slices),
        "answers": [_cut(answer)[0] for answer in view.answers[:TOP]],
        "rankings": rankings,
    }


def _texts(
    inspected: Inspected, view: QueryView, variants: Sequence[Variant], written: dict[str, list[JSON]]
) -> dict[str, list[JSON]]:
    """`VARIANT ID` -> [pieces, number of characters cut]. A piece is [text, 1 if context added it]."""
    wanted: dict[Variant, dict[str, None]] = {}
    for ranking in view.rankings:
        variant = ranking.variant or Variant((), ranking.unit)
        ids = [hit.id for hit in ranking.hits] + [item.id for item in ranking.positives[:POSITIVES]]
        wanted.setdefault(variant, {}).update(dict.fromkeys(ids))
    texts: dict[str, list[JSON]] = {}
    for variant, names in wanted.items():
        head = f"{variants.index(variant)} "
        ids = [name for name in names if head + name not in written]
        for name, pieces in inspected.texts(ids, variant).items():
            texts[head + name] = _bounded(pieces)
    return texts


def _bounded(pieces: Sequence[Piece]) -> list[JSON]:
    left, kept = LONGEST, []
    for piece in pieces:
        if left > 0 and piece.text:
            kept.append([_whole(piece.text[:left]), int(piece.added)])
        left -= len(piece.text)
    return [kept, max(0, -left)]


def _cut(text: str) -> tuple[str, int]:
    return _whole(text[:LONGEST]), max(0, len(text) - LONGEST)


def _whole(text: str) -> str:
    """The text with lone surrogates replaced, since JSON in UTF-8 cannot hold them."""
    return text.encode("utf-8", "replace").decode()
