"""Python functions as methods: their arguments and their return values, from and to plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, SupportsFloat, TypeAlias

from harness.errors import ContractError
from harness.types import JSON, Document, Hits, Passage

Kind: TypeAlias = Literal["retriever", "reranker", "context"]


class CorpusTexts(NamedTuple):
    """All texts to retrieve, in reading order. Text i has the id `ids[i]` and the title `titles[i]`."""

    ids: list[str]
    texts: list[str]
    titles: list[str]


def arguments(kind: Kind, plain: Sequence[JSON]) -> tuple[Any, ...]:
    """The arguments of a function, from plain data: (queries, corpus, k) for a retriever, (query, texts) for
    a re-ranker, and (document) for a context."""
    if kind == "retriever":
        queries, corpus, k = plain
        return queries, CorpusTexts(*corpus), k
    if kind == "context":
        id, title, passages = plain[0]
        return (Document(id, title, tuple(Passage(*passage) for passage in passages)),)
    return tuple(plain)


def answer(kind: Kind, returned: Any, expected: int) -> JSON:
    """The return value of a function as plain data, checked. `expected` is the number of queries, texts or
    passages that the function was given. Raises ContractError."""
    if kind == "context" and (returned is None or isinstance(returned, str)):
        return returned or ""
    _check(isinstance(returned, Iterable), f"{returned!r}; expected a list"[:200])
    if kind == "retriever":
        rows = list(map(zip, *returned[:2])) if isinstance(returned, Hits) else list(returned)
        _check(len(rows) == expected, f"hits of {len(rows)} queries, asked were {expected}")
        return [_ranked(row) for row in rows]
    if kind == "reranker":
        scored = list(returned)
        if scored and all(len(_pair(item)) == 2 for item in scored):  # of a text's place and its score
            places, scored = map(list, zip(*sorted(map(_pair, scored)), strict=True))
            _check(places == list(range(expected)), f"scores of the places {places}"[:200])
        _check(len(scored) == expected, f"{len(scored)} scores for {expected} texts")
        return [_score(score) for score in scored]
    prefixes = [str(prefix) for prefix in returned]
    _check(len(prefixes) == expected, f"{len(prefixes)} prefixes for {expected} passages; or one for all")
    return prefixes


def _ranked(row: Any) -> list[list[Any]]:
    """The ids or places of one query's hits, and the hits' scores. `row` is a mapping from id to score, or
    pairs of an id or a place and a score."""
    _check(isinstance(row, Iterable), f"the hits {row!r}; give pairs of an id or a place, and a score"[:200])
    pairs = list(map(_pair, row.items() if isinstance(row, Mapping) else row))
    for pair in pairs:
        _check(len(pair) == 2, f"a hit is an id or a place, and a score; not {pair!r}"[:200])
    filled = [(name, score) for name, score in pairs if isinstance(name, str) or name != -1]
    names = [name if isinstance(name, str) else int(name) for name, _ in filled]
    return [names, [_score(score) for _, score in filled]]


def _pair(item: Any) -> tuple[Any, ...]:
    single = isinstance(item, str | Mapping) or getattr(item, "shape", None) == ()  # an array of one number
    return tuple(item) if isinstance(item, Iterable) and not single else (item,)


def _score(value: Any) -> float:
    _check(isinstance(value, SupportsFloat) and type(value).__name__ not in ("bool", "bool_"),
           f"the score {value!r}, which is no number"[:200])  # fmt: skip
    return float(value)


def _check(right: bool, what: str) -> None:
    if not right:
        raise ContractError(f"the function returned {what}")
