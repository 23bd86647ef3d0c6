"""Python functions as methods: their arguments and their return values, from and to plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.errors import ContractError
from harness.types import JSON, Document, Passage

Kind: TypeAlias = Literal["retriever", "reranker", "context"]


class CorpusTexts(NamedTuple):
    """All texts that may be retrieved, in reading order. Text i has the id `ids[i]` and the title
    `titles[i]`."""

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
    if kind == "retriever":
        rows = list(returned)
        _check(len(rows) == expected, f"hits of {len(rows)} queries, asked were {expected}")
        return [_ranked(row) for row in rows]
    if kind == "reranker":
        scores = [float(score) for score in returned]
        _check(len(scores) == expected, f"{len(scores)} scores for {expected} texts")
        return scores
    if returned is None or isinstance(returned, str):
        return returned or ""
    prefixes = [str(prefix) for prefix in returned]
    _check(len(prefixes) == expected, f"{len(prefixes)} prefixes for {expected} passages; or one for all")
    return prefixes


def _ranked(row: Any) -> list[list[Any]]:
    """The ids or places of one query's hits, and the hits' scores. `row` is a mapping from id to score, or
    pairs of an id or a place and a score."""
    pairs = list(row.items()) if isinstance(row, Mapping) else [tuple(pair) for pair in row]
    for pair in pairs:
        _check(len(pair) == 2, f"a hit is an id or a place, and a score; not {pair!r}"[:200])
    names = [name if isinstance(name, str) else int(name) for name, _ in pairs]
    return [names, [float(score) for _, score in pairs]]


def _check(right: bool, what: str) -> None:
    if not right:
        raise ContractError(f"the function returned {what}")
