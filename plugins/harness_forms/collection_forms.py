"""Writes a dataset in the form of BEIR, TREC, DuReader-retrieval, T2Ranking or MTEB, to be read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from harness.plugin import Card, HarnessError
from harness.toolkit.boards.stored import Corpus, Judgements, Queries

BLOCK = 8192  # passages that are in memory at once


class Whole(NamedTuple):
    """A finished dataset, from which a form is written."""

    corpus: Corpus
    queries: Queries
    judgements: Judgements
    card: Card


def beir(whole: Whole, out: Path) -> list[str]:
    """Writes `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`. A passage also has the keys of its
    document, and a query its answers, under the names that the dataset `files` reads."""
    _lines(out / "corpus.jsonl", _passages(whole, documents=True))
    answers = zip(_queries(whole), whole.queries.answers, strict=True)
    _lines(out / "queries.jsonl", ({**row, "answers": texts} if texts else row for row, texts in answers))
    _table(out / "qrels" / f"{whole.card.split}.tsv", ("query-id", "corpus-id", "score"), _graded(whole))
    return [*_unjudged(whole), *_slices(whole, out), *_labels(whole), *_exclude(whole)]


def mteb(whole: Whole, out: Path) -> list[str]:
    """Writes the folder of an MTEB task: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.jsonl`, and a README
    whose header names the language. Passages do not name their documents."""
    _lines(out / "corpus.jsonl", _passages(whole, documents=False))
    _lines(out / "queries.jsonl", _queries(whole))
    rows = (
        {"query-id": query, "corpus-id": passage, "score": grade} for query, passage, grade in _graded(whole)
    )
    _lines(out / "qrels" / f"{whole.card.split}.jsonl", rows)
    return [*_documents(whole), *_unjudged(whole), *_neither(whole), *_labels(whole), *_exclude(whole)]


def trec(whole: Whole, out: Path) -> list[str]:
    """Writes `corpus.jsonl`, `topics.<split>.tsv`, and `qrels.<split>.txt` in trec_eval's columns."""
    split = whole.card.split
    _lines(out / "corpus.jsonl", _passages(whole, documents=True))
    _flat(whole.queries.texts, "a query")
    rows = zip(whole.queries.ids, whole.queries.texts, strict=True)
    _table(out / f"topics.{split}.tsv", None, rows)
    _blanks(whole)
    judged = ((query, "0", passage, grade) for query, passage, grade in _graded(whole))
    _table(out / f"qrels.{split}.txt", None, judged)
    return [*_answers(whole), *_slices(whole, out), *_labels(whole), *_exclude(whole)]


def dureader(whole: Whole, out: Path) -> list[str]:
    """Writes `part-00`, `passage2id.map.json` and `<split>.json`. Each question holds its positives."""
    collection, split = out / "passage-collection", whole.card.split
    texts = (("-", "-", text, "0") for _, text in _flat_passages(whole))
    _table(collection / "part-00", None, texts)
    with (collection / "passage2id.map.json").open("wb") as file:
        for row, (name, _) in enumerate(_flat_passages(whole)):
            file.write((b"{" if row == 0 else b", ") + orjson.dumps(str(row)) + b": " + orjson.dumps(name))
        file.write(b"}\n")
    _lines(out / f"{split}.json", _questions(whole))
    notes = [*_documents(whole), *_neither(whole), *_labels(whole), *_exclude(whole)]
    kept = np.count_nonzero(whole.judgements.grade > 0)
    if kept < len(whole.judgements.grade) or (whole.judgements.grade > 1).any():
        notes.append("this form holds positives alone: grades above 0 are 1, the others are left out")
    return notes


def t2ranking(whole: Whole, out: Path) -> list[str]:
    """Writes `collection.tsv`, `queries.<split>.tsv`, and the judgements twice: the positives alone, and all
    judgements with their grades."""
    split, graded = whole.card.split, list(_graded(whole))
    passages = ((name, text) for name, text in _flat_passages(whole))
    _table(out / "collection.tsv", ("pid", "text"), passages)
    _flat(whole.queries.texts, "a query")
    texts = zip(whole.queries.ids, whole.queries.texts, strict=True)
    _table(out / f"queries.{split}.tsv", ("qid", "text"), texts)
    positives = ((query, passage) for query, passage, grade in graded if grade >= 2)
    _table(out / f"qrels.retrieval.{split}.tsv", ("qid", "pid"), positives)
    every = ((query, "0", passage, grade) for query, passage, grade in graded)
    _table(out / f"qrels.{split}.tsv", ("qid", "-", "pid", "rel"), every)
    notes = [*_documents(whole), *_answers(whole), *_slices(whole, out), *_labels(whole), *_exclude(whole)]
    if not any(grade >= 2 for _, _, grade in graded):
        notes.append("no grade is 2 or more, the level of T2Ranking's positives: read `judgements: graded`")
    return notes


FORMS: dict[str, Callable[[Whole, Path], list[str]]] = {
    "beir": beir, "dureader": dureader, "t2ranking": t2ranking, "trec": trec, "mteb": mteb,
}  # fmt: skip


def _passages(whole: Whole, documents: bool) -> Iterator[dict[str, Any]]:
    """Each passage as an object, in order. With `documents`, the object names the passage's document and
    place, unless each passage is a document of its own with the same id."""
    read = whole.corpus
    for low in range(0, read.passages, BLOCK):
        positions = np.arange(low, min(low + BLOCK, read.passages))
        owners = read.document_of[positions]
        columns = (
            read.ids(positions), read.texts(positions), read.document_ids(owners), read.titles(owners),
            (positions - read.first[owners]).tolist(), read.candidate[positions].tolist(),
        )  # fmt: skip
        for name, text, document, title, place, candidate in zip(*columns, strict=True):
            row: dict[str, Any] = {"_id": name, "title": title, "text": text}
            if documents and _has_documents(whole):
                row |= {"doc_id": document, "paragraph_no": place}
            if documents and not candidate:
                row["is_candidate"] = False
            yield row


def _flat_passages(whole: Whole) -> Iterator[tuple[str, str]]:
    """The id and text of each passage, for tables without quoting. Raises HarnessError for a text with a tab
    or a line end."""
    for row in _passages(whole, documents=False):
        _flat([row["text"]], f"the passage '{row['_id']}'")
        yield row["_id"], row["text"]


def _flat(texts: list[str], what: str) -> None:
    for text in texts:
        if any(character in text for character in "\t\n\r"):
            advice = "this form cannot hold it; take the form beir, or make the text one line"
            raise HarnessError(f"{what} has a tab or a line end in its text; {advice}")


def _blanks(whole: Whole) -> None:
    for name in (*whole.judgements.query_ids, *whole.judgements.passage_ids):
        if not name or name.split() != [name]:
            raise HarnessError(f"the id '{name}' has a blank; trec_eval cannot read it, take the form beir")


def _queries(whole: Whole) -> Iterator[dict[str, str]]:
    for name, text in zip(whole.queries.ids, whole.queries.texts, strict=True):
        yield {"_id": name, "text": text}


def _graded(whole: Whole) -> Iterator[tuple[str, str, int]]:
    judged = whole.judgements
    for query, passage, grade in zip(judged.query, judged.passage, judged.grade, strict=True):
        yield judged.query_ids[query], judged.passage_ids[passage], int(grade)


def _questions(whole: Whole) -> Iterator[dict[str, Any]]:
    positives: dict[str, list[str]] = {name: [] for name in whole.queries.ids}
    for query, passage, grade in _graded(whole):
        if grade > 0 and query in positives:
            positives[query].append(passage)
    at = dict(zip(whole.judgements.passage_ids,
                  whole.corpus.positions(whole.judgements.passage_ids).tolist(), strict=True))  # fmt: skip
    for name, text in zip(whole.queries.ids, whole.queries.texts, strict=True):
        paragraphs = [
            {"paragraph_id": passage, "paragraph_text": _text(whole, at[passage])}
            for passage in positives[name]
        ]
        yield {"question_id": name, "question": text, "answer_paragraphs": paragraphs}


def _text(whole: Whole, position: int) -> str:
    """The text of a passage; empty for a passage that the corpus lacks."""
    return whole.corpus.texts(np.array([position]))[0] if position >= 0 else ""


def _has_documents(whole: Whole) -> bool:
    return whole.corpus.documents < whole.corpus.passages or bool(
        whole.corpus.documents and whole.corpus.document_ids(np.arange(1)) != whole.corpus.ids(np.arange(1))
    )


def _documents(whole: Whole) -> list[str]:
    titled = any(whole.corpus.titles(np.arange(whole.corpus.documents)))
    notes = []
    if whole.corpus.documents < whole.corpus.passages:
        notes.append("this form holds no documents: every passage stands alone")
    if titled:
        notes.append("titles stand with each passage, or are left out where the form has none")
    if not whole.corpus.candidate.all():
        notes.append("this form does not say which passages are no candidates")
    return notes


def _unjudged(whole: Whole) -> list[str]:
    unjudged = len(set(whole.queries.ids) - set(whole.judgements.query_ids))
    return (
        [f"{unjudged} queries without a judgement: readers of this form leave them out"] if unjudged else []
    )


def _answers(whole: Whole) -> list[str]:
    return ["answers of queries are left out"] if any(whole.queries.answers) else []


def _neither(whole: Whole) -> list[str]:
    return [*_answers(whole), *(["slices of queries are left out"] if any(whole.queries.slices) else [])]


def _slices(whole: Whole, out: Path) -> list[str]:
    """Writes the slices of queries as a table. `slices` of `files` and `t2ranking` reads it."""
    if not any(whole.queries.slices):
        return []
    path = out / f"slices.{whole.card.split}.tsv"
    slices = zip(whole.queries.ids, whole.queries.slices, strict=True)
    rows = [(query, name) for query, names in slices for name in names]
    _flat([name for _, name in rows], "the name of a slice")
    _table(path, None, iter(rows))
    return [f"the slices of queries are in {path.name}: read them with `slices: {path.name}`"]


def _labels(whole: Whole) -> list[str]:
    return ["labels of judgements are left out"] if whole.judgements.labels else []


def _exclude(whole: Whole) -> list[str]:
    return ["passages that queries exclude are left out"] if any(whole.queries.exclude) else []


def _lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")


def _table(path: Path, header: tuple[str, ...] | None, rows: Iterator[tuple[Any, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        if header is not None:
            file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(map(str, row)) + "\n")
