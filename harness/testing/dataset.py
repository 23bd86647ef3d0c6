"""What a dataset promises: unique ids, parts that agree, and equal results at every reading."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from harness.catalogue import params
from harness.contracts import ColumnarSource
from harness.testing.subject import Subject, able, build, require
from harness.types import Card, Document, Inputs, Judgement, Part, Passage, Query


def fingerprint(subject: Subject, _: Path) -> str:
    source = build(subject)
    digest = hashlib.sha256()
    for stream in (source.documents(), source.queries(), source.judgements()):
        for item in stream:
            digest.update(repr(item).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def has_a_card(subject: Subject, _: Path) -> None:
    card = build(subject).card()
    require(isinstance(card, Card), f"its card is a {type(card).__name__}")
    require(card.split and isinstance(card.split, str), "its card names no split")
    for code in (card.language, card.query_language):
        good = code is None or (len(code) == 2 and code.isascii() and code.isalpha() and code.islower())
        require(good, f"its card has the language {code!r}, which is not an ISO 639-1 code")
    texts = (card.licence, card.citation, card.url)
    require(all(isinstance(text, str) for text in texts), "the licence, citation and url must be strings")


def lists_its_inputs(subject: Subject, _: Path) -> None:
    for part in get_args(Part):
        first, second = build(subject).inputs(part), build(subject).inputs(part)
        require(isinstance(first, Inputs), f"its inputs of the {part} are a {type(first).__name__}")
        require(first == second, f"its inputs of the {part} change from one call to the next")
        try:
            json.dumps(params.plain(first.params), allow_nan=False)
        except (TypeError, ValueError) as problem:
            require(False, f"its inputs of the {part} hold something other than plain data: {problem}")
        for file in first.files:
            require(Path(file).is_file(), f"its inputs of the {part} name a missing file: {file}")


def has_documents_with_unique_ids(subject: Subject, _: Path) -> None:
    documents, passages = set[str](), set[str]()
    with able("read its documents"):
        for document in build(subject).documents():
            _check_document(document)
            require(document.id not in documents, f"the document '{document.id}' occurs twice")
            documents.add(document.id)
            for passage in document.passages:
                require(passage.id not in passages, f"the passage '{passage.id}' occurs twice")
                passages.add(passage.id)
    require(passages, "it has no passages")


def _check_document(document: Any) -> None:
    require(isinstance(document, Document), f"its documents are of the type {type(document).__name__}")
    require(_is_id(document.id), f"a document has the id {document.id!r}")
    require(isinstance(document.title, str), f"the title of the document '{document.id}' is not a string")
    for passage in document.passages:
        require(isinstance(passage, Passage), f"the document '{document.id}' has a {type(passage).__name__}")
        require(_is_id(passage.id), f"a passage of the document '{document.id}' has the id {passage.id!r}")
        require(isinstance(passage.text, str), f"the text of the passage '{passage.id}' is not a string")
        require(
            isinstance(passage.candidate, bool), f"`candidate` of the passage '{passage.id}' is not a bool"
        )


def has_queries_and_judgements_that_agree(subject: Subject, _: Path) -> None:
    """A judgement may name a missing passage, as real collections do, but not a missing query."""
    source = build(subject)
    queries = set[str]()
    with able("read its queries"):
        for query in source.queries():
            require(isinstance(query, Query), f"its queries are of the type {type(query).__name__}")
            require(_is_id(query.id), f"a query has the id {query.id!r}")
            require(isinstance(query.text, str), f"the text of the query '{query.id}' is not a string")
            for name in ("slices", "exclude", "answers"):
                value = getattr(query, name)
                good = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
                require(good, f"`{name}` of the query '{query.id}' is not a tuple of strings")
            require(query.id not in queries, f"the query '{query.id}' occurs twice")
            queries.add(query.id)
    require(queries, "it has no queries")
    pairs = set[tuple[str, str]]()
    with able("read its judgements"):
        for judgement in source.judgements():
            _check_judgement(judgement, queries)
            pair = (judgement.query, judgement.passage)
            require(pair not in pairs, f"the passage '{pair[1]}' is judged twice for the query '{pair[0]}'")
            pairs.add(pair)
    require(pairs, "it has no judgements")


def _check_judgement(judgement: Any, queries: set[str]) -> None:
    require(isinstance(judgement, Judgement), f"its judgements are of the type {type(judgement).__name__}")
    require(judgement.query in queries, f"a judgement is for the query '{judgement.query}', which is missing")
    require(_is_id(judgement.passage), f"a judgement is of the passage {judgement.passage!r}")
    whole = isinstance(judgement.grade, int) and not isinstance(judgement.grade, bool)
    require(whole, f"the grade {judgement.grade!r} of a judgement is not an integer")
    labels = judgement.labels
    good = isinstance(labels, tuple) and all(isinstance(label, str) and label for label in labels)
    require(good, "`labels` of a judgement is not a tuple of strings")


def reads_the_same_twice(subject: Subject, folder: Path) -> None:
    first, second = fingerprint(subject, folder), fingerprint(subject, folder)
    require(first == second, "a second reading gives other contents")


def has_rows_that_equal_its_documents(subject: Subject, _: Path) -> None:
    """The rows of a dataset must equal its documents, if it also gives its passages as Arrow batches."""
    source = build(subject)
    if not isinstance(source, ColumnarSource):
        return
    from harness.collection.corpus import ROWS

    for batch in source.rows():
        require(
            batch.schema.equals(ROWS),
            f"its rows have the schema {batch.schema}; see harness.collection.corpus.ROWS",
        )
    by_rows = _by_document(_from_rows(source.rows()))
    by_documents = _by_document(_from_documents(source.documents()))
    require(by_rows == by_documents, "its rows and its documents hold different passages")
    where = source.locate(0)
    require(isinstance(where, str) and where, "it cannot locate its first row")


Row = tuple[str, str, str, str, bool, int]  # (document, passage, title, text, candidate, order)


def _from_rows(batches: Iterable[Any]) -> Iterator[Row]:
    """The rows of Arrow batches. Nulls have the meaning that `harness.collection.corpus.ROWS` gives them."""
    for batch in batches:
        for row in batch.to_pylist():
            order = -1 if row["order"] is None else row["order"]
            document = row["document"] or row["id"]
            yield document, row["id"], row["title"] or "", row["text"], row["candidate"] is not False, order


def _from_documents(documents: Iterable[Document]) -> Iterator[Row]:
    for document in documents:
        for passage in document.passages:
            yield document.id, passage.id, document.title, passage.text, passage.candidate, -1


def _by_document(rows: Iterable[Row]) -> dict[str, list[tuple[str, str, str, bool]]]:
    """Document -> its passages in reading order: sorted by `order`, or as given if `order` is -1."""
    documents: dict[str, list[Row]] = {}
    for row in rows:
        documents.setdefault(row[0], []).append(row)
    return {
        name: [row[1:5] for row in sorted(rows, key=lambda row: row[5])] for name, rows in documents.items()
    }


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and value != ""
