"""The source of a collection of ir_datasets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import ir_datasets
import pyarrow as pa

from harness.plugin import Card, Document, HarnessError, Inputs, Judgement, Official, Part, Query
from harness.toolkit.files.rows import batch, documents_of
from harness_ir_datasets import IrDatasetsParams, survey
from harness_ir_datasets.downloads import Fetched, files_of
from harness_ir_datasets.fields import answers_of, document_of, question_of, text_of, title_of
from harness_ir_datasets.naming import named

_KINDS: dict[Part, str] = {"corpus": "docs", "queries": "queries", "judgements": "qrels"}
_ROWS = 8192
_CODES = {"dt": "nl"}  # ir_datasets' code for Dutch in mMARCO


class IrDatasets:
    """A collection of ir_datasets. A document of ir_datasets is a passage here. A step that reads the data
    downloads it into the folder of ir_datasets (IR_DATASETS_HOME). Planning does not download it."""

    def __init__(self, params: IrDatasetsParams) -> None:
        self.params = params
        self.id, self.split, self._entry = named(params.id, params.split, set(ir_datasets.registry))
        self._loaded = ir_datasets.load(self.id)
        for part, kind in _KINDS.items():
            if not getattr(self._loaded, f"has_{kind}")() and part != "judgements":
                inner = [name for name in ir_datasets.registry if name.startswith(f"{self.id}/")][:8]
                hint = f"; choose from {', '.join(sorted(inner))}" if inner else "; choose another id"
                raise HarnessError(f"id: '{self.id}' has no {kind} in ir_datasets{hint}")

    def card(self) -> Card:
        language, query_language = (_code(self._handler(part), part) for part in ("corpus", "queries"))
        names = (self._loaded.documentation() or {}).get("bibtex_ids", ())
        note = self._entry.note if self._entry else ""
        return Card(
            language,
            self.split,
            None if query_language == language else query_language,
            "",
            "; ".join(names),
            f"https://ir-datasets.com/{self.id.partition('/')[0]}.html#{self.id}",
            (f"{self.params.id}: {note}",) if note else (),
            self._official(),
        )

    def inputs(self, part: Part) -> Inputs:
        """The parameters and files that a part is keyed by. A public file is keyed by the digest that
        ir_datasets expects, even if the file is not downloaded yet. A licensed file is keyed by its contents,
        and a plan says where to put the file."""
        keyed: dict[str, Any] = {"id": self.id}
        if part == "queries":
            keyed |= {"query": self.params.query, "exclude_self": self.params.exclude_self}
        if part == "judgements" and not self._loaded.has_qrels():
            return Inputs(keyed)
        files = files_of(self._handler(part))
        local = tuple(file.place for file in files if file.url is None)
        if part != "corpus" and self.params.only is not None:
            local = (*local, self.params.only)
        return Inputs({**keyed, "md5": [file.md5 for file in files if file.url is not None]}, local)

    def rows(self) -> Iterator[pa.RecordBatch]:
        docs = self._read("corpus", self._handler("corpus").docs_iter)
        while some := list(islice(docs, _ROWS)):
            places = [document_of(doc) for doc in some]
            yield batch(
                [doc.doc_id for doc in some],
                [text_of(doc) for doc in some],
                titles=[title_of(doc) for doc in some],
                documents=[document for document, _ in places],
                places=[place for _, place in places],
            )

    def locate(self, row: int) -> str:
        return f"{self.id}: document {row + 1}"

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        wanted, found = self._only(), set[str]()
        for query in self._read("queries", self._handler("queries").queries_iter):
            if wanted is not None and query.query_id not in wanted:
                continue
            found.add(query.query_id)
            excluded = (query.query_id,) if self.params.exclude_self else ()
            text = question_of(query, self.params.query)
            yield Query(query.query_id, text, exclude=excluded, answers=answers_of(query))

        if absent := sorted((wanted or set()) - found):
            raise HarnessError(
                f"{self.params.only}: {self.id} has no query '{absent[0]}' and {len(absent) - 1} more of the "
                "file; take the file of this split"
            )

    def judgements(self) -> Iterator[Judgement]:
        """All judgements, one for each pair of a query and a passage. A pair that is judged more than once,
        such as for several aspects, has its highest grade."""
        if not self._loaded.has_qrels():
            raise HarnessError(f"id: '{self.id}' has no judgements; take a split that has some")
        grades: dict[tuple[str, str], int] = {}
        wanted = self._only()
        for qrel in self._read("judgements", self._handler("judgements").qrels_iter):
            if wanted is not None and qrel.query_id not in wanted:
                continue
            pair = qrel.query_id, qrel.doc_id
            grades[pair] = max(int(qrel.relevance), grades.get(pair, -(2**31)))
        return (Judgement(*pair, grade) for pair, grade in grades.items())

    def _only(self) -> set[str] | None:
        """The ids of the queries that are kept; None for all."""
        path = self.params.only
        if path is None:
            return None
        try:
            ids = path.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise HarnessError(f"{path}: cannot be read ({error}); name a file of query ids") from error
        if not ids:
            raise HarnessError(f"{path}: names no query; write one id on each line")
        return set(ids)

    def _handler(self, part: Part) -> Any:
        return getattr(self._loaded, f"{_KINDS[part]}_handler")()

    def _read(self, part: Part, begin: Any) -> Iterator[Any]:
        """The records that the iterator from `begin` yields. If reading them fails, a HarnessError names the
        files of `part` and what to do."""
        try:
            records = iter(begin())
            yield from records
        except Exception as error:  # network, disk or format: ir_datasets does not wrap its errors
            files = files_of(self._handler(part))
            reason = (str(error).splitlines() or [""])[0] or type(error).__name__
            raise HarnessError(f"{self.id}: ir_datasets: {reason}; {_advice(files)}") from error

    def _official(self) -> tuple[Official, ...]:
        known = self._loaded.metadata()
        pairs = (("passages", "docs"), ("queries", "queries"), ("judgements", "qrels"))
        counts = {name: known[kind]["count"] for name, kind in pairs if known.get(kind, {}).get("count")}
        officials = [Official("ir_datasets' own count", counts)] if counts else []
        if self._entry is not None:
            officials.append(Official(survey.SOURCE, survey.printed(self._entry, self.split)))
        return tuple(officials)


def _code(handler: Any, part: Part) -> str | None:
    code = handler.docs_lang() if part == "corpus" else handler.queries_lang()
    code = _CODES.get(code, code)
    return code if isinstance(code, str) and re.fullmatch("[a-z]{2}", code) else None


def _advice(files: Iterable[Fetched]) -> str:
    lacking = [file for file in files if not file.there]
    if not lacking:
        return "remove what is damaged to fetch it again: " + ", ".join(str(file.place) for file in files)
    lines = []
    for file in lacking:
        source = f"what {file.url} gives" if file.url else "the licensed file"
        lines.append(f"{source} to {file.place}" + (f" (MD5 {file.md5})" if file.md5 else ""))
    return "connect to the network, or put " + " and ".join(lines)
