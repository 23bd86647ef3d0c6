"""Reads which slices each query is in, from a table that a user makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.toolkit.files.reading import lines, refuse, text_of
from harness.types import Query


def sliced(queries: Iterable[Query], path: Path | None) -> Iterator[Query]:
    """The queries with their slices, which the table at `path` gives. If `path` is None, the queries are
    unchanged. A query that the table lacks is in no slice. The table may also have queries of other splits,
    but at least one query of this split must be in it."""
    if path is None:
        yield from queries
        return
    table = _read(path)
    known = False
    for query in queries:
        known = known or query.id in table
        yield query._replace(slices=tuple(table.get(query.id, ())))
    if not known:
        refuse(path, 1, "this table has no query of the split; use the ids of the queries' file")


def _read(path: Path) -> dict[str, list[str]]:
    """By id of query, its slices in the order of the table: lines of an id, a tab and a slice."""
    table: dict[str, list[str]] = {}
    for number, line in lines(path):
        columns = text_of(path, number, line).split("\t")
        if len(columns) != 2 or not all(columns):
            what = f"expected the id of a query, a tab and a slice, got {len(columns)} columns"
            refuse(path, number, f"{what}, or an empty one; correct the line")
        names = table.setdefault(columns[0], [])
        if columns[1] in names:
            refuse(
                path, number, f"query '{columns[0]}' is already in the slice '{columns[1]}'; drop one line"
            )
        names.append(columns[1])
    return table
