"""Queries and judgements on disk: checked, compact, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from harness.collection.lines import check_words
from harness.errors import ContractError, HarnessError, check_is, check_several, converting, each, refuse_all
from harness.types import JSON, Judgement, Query

QUERIES, JUDGEMENTS = "queries.arrow", "judgements.arrow"
_LIST = pa.list_(pa.string())
_QUERY = pa.schema(
    [("id", pa.string()), ("text", pa.string()), ("slices", _LIST), ("exclude", _LIST), ("answers", _LIST)]
)
_CODES = pa.dictionary(pa.int32(), pa.string())
_JUDGEMENT = pa.schema([("query", _CODES), ("passage", _CODES), ("grade", pa.int32())])
_LABELS = pa.field("labels", _LIST)  # a column only if any judgement has a label
_BATCH = 65536
_INT32 = range(-(2**31), 2**31)


class Queries(NamedTuple):
    """All queries of a collection in order. `slices`, `exclude` and `answers` have a list for each query."""

    ids: list[str]
    texts: list[str]
    slices: list[list[str]]
    exclude: list[list[str]]
    answers: list[list[str]]


class Judgements(NamedTuple):
    """n judgements in order, as codes. Judgement i is of the query `query_ids[query[i]]` and the passage
    `passage_ids[passage[i]]`. The ids are distinct, in the order of their first judgements."""

    query_ids: list[str]
    passage_ids: list[str]
    query: NDArray[np.int32]  # int32[n]
    passage: NDArray[np.int32]  # int32[n]
    grade: NDArray[np.int32]  # int32[n]
    labels: tuple[tuple[str, ...], ...] | None = None  # the labels of each judgement; None: no labels


def write_queries(queries: Iterable[Query], folder: Path) -> dict[str, JSON]:
    """Writes the queries. Returns their counts. Raises HarnessError for an empty or duplicate id."""
    rows = list(each(queries, Query, "a dataset's queries"))
    seen: set[str] = set()
    wrong: list[str] = []
    for number, query in enumerate(rows, start=1):
        check_is(query.id, str, "ids of queries")
        check_is(query.text, str, "texts of queries")
        check_several(query.slices, "the slices of a query")
        if not query.id:
            wrong.append(f"queries: query {number} has an empty id; give every query one")
        elif query.id in seen:
            wrong.append(f"queries: the id '{query.id}' occurs twice; keep one of the two queries")
        seen.add(query.id)
    if wrong:
        refuse_all(wrong, len(wrong))
    check_words([query.id for query in rows], "query id")
    columns = zip(*rows, strict=True) if rows else [[]] * len(_QUERY)
    arrays = []
    for column, field in zip(columns, _QUERY, strict=True):
        with converting(f"the queries: the column {field.name}"):
            arrays.append(pa.array(column, field.type))
    table = _table(arrays, _QUERY)
    _save(table, folder / QUERIES)
    return {
        "queries": len(rows),
        "empty_queries": sum(not query.text.strip() for query in rows),
        "characters": sum(len(query.text) for query in rows),
        "slices": sorted({name for query in rows for name in query.slices}),
    }


def read_queries(folder: Path) -> Queries:
    return Queries(*(column.to_pylist() for column in _load(folder / QUERIES).columns))


def write_judgements(judgements: Iterable[Judgement], folder: Path) -> dict[str, JSON]:
    """Write the judgements into `folder` and return their counts. Raises HarnessError for an empty id, a
    query and passage that are judged twice, and a grade that does not fit 32 bits."""
    queries: dict[str, int] = {}
    passages: dict[str, int] = {}
    parts = []
    labels: list[tuple[str, ...]] = []
    rows = each(judgements, Judgement, "a dataset's judgements")
    while batch := list(islice(rows, _BATCH)):
        _check(batch)
        parts.append(
            (
                np.array([queries.setdefault(row.query, len(queries)) for row in batch], dtype=np.int32),
                np.array([passages.setdefault(row.passage, len(passages)) for row in batch], dtype=np.int32),
                np.array([row.grade for row in batch], dtype=np.int32),
            )
        )
        labels += [row.labels for row in batch]
    query, passage, grade = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else _NONE
    in_columns = Judgements(list(queries), list(passages), query, passage, grade)
    _refuse_twice(in_columns)
    columns = [_coded(query, in_columns.query_ids), _coded(passage, in_columns.passage_ids), pa.array(grade)]
    if any(labels):
        labelled = [*columns, pa.array(labels, _LIST)]
        _save(_table(labelled, _JUDGEMENT.append(_LABELS)), folder / JUDGEMENTS)
    else:
        _save(_table(columns, _JUDGEMENT), folder / JUDGEMENTS)
    return {
        "judgements": len(grade),
        "judged_queries": len(queries),
        "judged_passages": len(passages),
        "positives": int((grade > 0).sum()),
    }


def read_judgements(folder: Path) -> Judgements:
    table = _load(folder / JUDGEMENTS)
    query, passage = table.column("query"), table.column("passage")
    return Judgements(
        query.dictionary.to_pylist(),
        passage.dictionary.to_pylist(),
        query.indices.to_numpy(),
        passage.indices.to_numpy(),
        table.column("grade").to_numpy(),
        tuple(map(tuple, table.column("labels").to_pylist())) if "labels" in table.schema.names else None,
    )


_NONE = tuple(np.empty(0, dtype=np.int32) for _ in range(3))


def _check(batch: Sequence[Judgement]) -> None:
    for row in batch:
        query, passage, grade, labels = row
        check_is(query, str, "queries of judgements")
        check_is(passage, str, "passages of judgements")
        if not query or not passage:
            raise HarnessError(
                f"judgements: the judgement of query '{query}' and passage '{passage}' lacks an id; give both"
            )
        if not isinstance(labels, tuple) or not all(isinstance(label, str) and label for label in labels):
            what = f"the labels of query '{query}' and passage '{passage}'"
            raise ContractError(f"{what} must be a tuple of strings that are not empty")
        if type(grade) is not int:
            raise ContractError(f"the grade of query '{query}' and passage '{passage}' must be an int")
        if grade not in _INT32:
            raise HarnessError(
                f"judgements: the grade {grade} of query '{query}' and passage '{passage}' does not fit "
                f"32 bits; use small whole numbers"
            )


def _refuse_twice(judgements: Judgements) -> None:
    pairs = judgements.query.astype(np.int64) * max(1, len(judgements.passage_ids)) + judgements.passage
    order = np.argsort(pairs, kind="stable")
    twice = np.flatnonzero(np.diff(pairs[order]) == 0)
    if len(twice):
        texts = (
            f"judgements: query '{judgements.query_ids[judgements.query[row]]}' and passage "
            f"'{judgements.passage_ids[judgements.passage[row]]}' are judged twice; keep one of the two"
            for row in np.sort(order[twice + 1]).tolist()
        )
        refuse_all(texts, len(twice))


def _coded(codes: NDArray[np.int32], ids: list[str]) -> pa.DictionaryArray:
    with converting("the ids of judgements"):
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(ids, pa.string()))


def _table(columns: list[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _save(batch: pa.RecordBatch, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as stream:
        stream.write_batch(batch)


def _load(path: Path) -> pa.RecordBatch:
    with pa.ipc.open_file(pa.memory_map(str(path))) as reader:
        return reader.get_batch(0)
