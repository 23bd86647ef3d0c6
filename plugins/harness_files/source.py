"""The source of a collection in files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from harness.plugin import ANSWER_PATTERN, Card, Document, Inputs, Judgement, Part, Query, exported_card
from harness.toolkit.files import reading, rows
from harness.toolkit.files.paths import bare
from harness.toolkit.files.slices import sliced
from harness_files import corpus, qrels, topics
from harness_files.params import FilesParams
from harness_files.tables import is_table


class Files:
    """A collection in files, with the queries of one split.

    The split's queries are those that its judgements name, in the order of the queries' file. Without
    judgements they are all queries, each with its answers. A judged query that the queries' file lacks is
    refused, because no system could find anything for the query, and the scores would only look low. A judged
    passage that the corpus lacks is kept, and stays in the denominator."""

    def __init__(self, params: FilesParams) -> None:
        self.params = params
        self._corpus, self._queries = params.corpus_path(), params.queries_path()
        self._qrels = params.qrels_path()

    def card(self) -> Card:
        """The card from the parameters. If `harness datasets export` wrote the folder, the folder's
        `card.json` fills in what the parameters do not give, and its flags are those of every row."""
        params = self.params
        card = Card(
            params.language, params.split, params.query_language, params.licence, params.citation, params.url
        )
        if params.path is None:
            return card
        written = exported_card(params.path)
        names = ("language", "query_language", "licence", "citation", "url")
        missing = {name: written[name] for name in names if not getattr(card, name) and written.get(name)}
        # the file's `query_language` belongs to the file's language
        if card.language not in (None, written.get("language")):
            missing.pop("query_language", None)
        listed = written.get("flags")
        flags = tuple(flag for flag in listed if isinstance(flag, str)) if isinstance(listed, list) else ()
        return card._replace(**missing, flags=flags)

    def inputs(self, part: Part) -> Inputs:
        """The parameters and files that a part is keyed by. The queries depend on which queries are judged,
        but not on the grades, so a changed grade does not change the queries' key."""
        if part == "corpus":
            return Inputs({"format": _format(self._corpus)}, (self._corpus,))
        if part == "queries":
            keyed = {"judged": self._judged_digest(), "exclude_self": self.params.exclude_self}
            if self.params.match != "words":
                keyed["match"] = self.params.match
            labels = (self.params.slices,) if self.params.slices else ()
            return Inputs({"format": _format(self._queries), **keyed}, (self._queries, *labels))
        return Inputs({}, (self._qrels,) if self._qrels else ())

    def rows(self) -> Iterator[pa.RecordBatch]:
        return corpus.rows(self._corpus, _format(self._corpus))

    def locate(self, row: int) -> str:
        return f"{self._corpus}:{corpus.line_of(self._corpus, row)}"

    def documents(self) -> Iterator[Document]:
        return rows.documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        return sliced(self._all_queries(), self.params.slices)

    def _all_queries(self) -> Iterator[Query]:
        if self._qrels is None:
            return self._answered()
        first_judged: dict[str, int] = {}  # query -> line
        for judged in qrels.judged(self._qrels):
            first_judged.setdefault(judged.query, judged.line)
        queries = []
        for topic in topics.topics(self._queries, _query_format(self._queries)):
            if first_judged.pop(topic.id, None) is not None:
                queries.append(self._query(topic))
        # a query may stand in a line that cannot be read
        for id, line in {} if reading.has_left_out(self._queries) else first_judged.items():
            what = f"query '{id}' is judged, but {self._queries} does not have it"
            reading.refuse(self._qrels, line, f"{what}; add it there or drop its judgements")
        return iter(queries)

    def judgements(self) -> Iterable[Judgement]:
        if self._qrels is None:
            return ()
        return (Judgement(row.query, row.passage, row.grade) for row in qrels.judged(self._qrels))

    def locate_judgement(self, query: str, passage: str) -> str:
        assert self._qrels is not None  # this file yielded the judgement
        rows = qrels.judged(self._qrels)
        lines = (row.line for row in rows if (row.query, row.passage) == (query, passage))
        return f"{self._qrels}:{next(lines)}"

    def _answered(self) -> Iterator[Query]:
        for topic in topics.topics(self._queries, _query_format(self._queries)):
            if not topic.answers and self.params.judged:
                what = f"the query '{topic.id}' has no answer, and there are no judgements"
                reading.refuse(
                    self._queries, topic.line, f"{what}; add answers, give qrels, or say 'judged: false'"
                )
            yield self._query(topic)

    def _query(self, topic: topics.Topic) -> Query:
        excluded = (topic.id,) if self.params.exclude_self else ()
        answers = topic.answers
        if self.params.match == "regex":
            answers = tuple(f"{ANSWER_PATTERN}{answer}" for answer in answers)
        return Query(topic.id, topic.text, exclude=excluded, answers=answers)

    def _judged_digest(self) -> str | None:
        """The SHA-256 of the ids of the judged queries, or None without a file of judgements."""
        if self._qrels is None or not self._qrels.exists():
            return None
        ids = sorted({row.query for row in qrels.judged(self._qrels)})
        return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def _format(path: Path) -> str:
    if is_table(path):
        return "table"
    return "jsonl" if bare(path).suffix in (".jsonl", ".json", ".ndjson") else "tsv"


def _query_format(path: Path) -> str:
    if _format(path) == "jsonl" or bare(path).suffix == ".parquet":
        return _format(path)
    if bare(path).suffix == ".csv":
        return "dpr" if b"\t" in next((line for _, line in reading.lines(path)), b"") else "table"
    first = next((line for _, line in reading.lines(path)), b"")
    return "trec" if first.lstrip().lower().startswith(b"<top>") else "tsv"
