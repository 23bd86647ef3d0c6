"""The source of DuReader-retrieval."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from harness.plugin import Card, Document, HarnessError, Inputs, Judgement, Official, Part, Query
from harness.toolkit.files.paths import first_there
from harness.toolkit.files.reading import refuse
from harness.toolkit.files.rows import documents_of
from harness_dureader import DureaderParams, passages, questions
from harness_dureader.questions import Question

IDS = "passage2id.map.json"
# The archives of the release unpack to these folders; people also put their files side by side.
COLLECTION = ("", "passage-collection", "dureader-retrieval-baseline-dataset/passage-collection")
SPLITS = (
    "",
    "{split}",
    "dureader_retrieval-data",
    "dureader-retrieval-{split}",
    "dureader-retrieval-baseline-dataset/{split}",
)
CITATION = (
    "Qiu et al., DuReader-retrieval: A Large-scale Chinese Benchmark for Passage Retrieval from Web Search "
    "Engine, EMNLP 2022"
)
URL = "https://github.com/baidu/DuReader/tree/master/DuReader-Retrieval"
LICENCE = "for research only"  # section 7 of the paper
_SOURCE = "Qiu et al. 2022, table 3"
_PASSAGES = {"passages": 8_096_668}
OFFICIAL = {  # by split; the table's "#passages" are positives
    "train": {
        "queries": 86_395,
        "positives": 222_395,
        "positives_per_query.mean": 2.57,
        "query_characters.mean": 9.51,
    },
    "dev": {
        "queries": 2_000,
        "positives": 9_863,
        "positives_per_query.mean": 4.93,
        "query_characters.mean": 9.29,
    },
    "test": {
        "queries": 4_000,
        "positives": 19_601,
        "positives_per_query.mean": 4.90,
        "query_characters.mean": 9.23,
    },
}
CHARACTERS = {
    "train": {"passage_characters.mean": 358.58},
    "dev": {"passage_characters.mean": 398.59},
    "test": {"passage_characters.mean": 401.61},
}
SWAPPED = (
    "section 2.5 of the paper says 4,000 translated queries for development and 2,000 for testing, table 3 "
    "the other way round; the splits of the Chinese queries agree with the table"
)
POOLED = (
    "beyond distant supervision, annotators saw five passages a query, which an ensemble re-ranker chose "
    "from the first 50 of BM25 and of four dense retrievers (ERNIE, BERT, RoBERTa, MacBERT) and nothing else "
    "(section 2.3): a system unlike these may find positives that nobody judged"
)
DISTANT = "its positives are those of distant supervision, which no annotator checked (sections 2.2 and 2.3)"
ENGLISH = {
    "train": {"queries": 9_500, "query_words.mean": 6.41},
    "dev": {"queries": 2_000, "query_words.mean": 6.55},
    "test": {"queries": 4_000, "query_words.mean": 6.46},
}


class Dureader:
    """One split of DuReader-retrieval. Every passage is a document of its own, without a title, because the
    authors removed the titles (section 2.2.2). With the parameter `english`, the queries come from the file
    that it names, and the judgements from the split."""

    def __init__(self, params: DureaderParams) -> None:
        self.params = params
        self._ids = first_there([params.path / folder / IDS for folder in COLLECTION])
        self._parts = _parts(self._ids.parent)
        folders = [params.path / folder.format(split=params.split) for folder in SPLITS]
        self._questions = first_there([folder / f"{params.split}.json" for folder in folders])
        self._map = first_there([folder / f"q2qid.{params.split}.json" for folder in folders])

    def card(self) -> Card:
        queries = "en" if self.params.english else None
        printed = (ENGLISH if self.params.english else OFFICIAL).get(self.params.split, {})
        length = {} if self.params.english else CHARACTERS.get(self.params.split, {})
        official = [Official(_SOURCE, {**_PASSAGES, **printed})]
        if length:
            official.append(Official(f"{_SOURCE}, of positives", length, comparable=False))
        notes = (DISTANT if self.params.split == "train" else POOLED, *([SWAPPED] if queries else []))
        return Card("zh", self.params.split, queries, LICENCE, CITATION, URL, notes, tuple(official))

    def inputs(self, part: Part) -> Inputs:
        """The parameters and files that a part is keyed by. The queries are keyed by their content, because
        their file holds the judgements too. The judgements also depend on which queries are searched."""
        if part == "corpus":
            return Inputs({}, (*self._parts, self._ids))
        keyed = {"asked": self._asked_digest}
        if part == "queries":
            return Inputs(keyed, () if self._asked_digest else (self._asked_path,))
        return Inputs(keyed, (self._questions,))

    def rows(self) -> Iterator[pa.RecordBatch]:
        return passages.rows(self._parts, self._ids)

    def locate(self, row: int) -> str:
        return passages.line_of(self._parts, row)

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        return (Query(question.id, question.text) for question in self._asked())

    def judgements(self) -> Iterator[Judgement]:
        """The judgements of the queries: the answer paragraphs of a question have the grade 1, and nothing
        else is judged."""
        if not self._questions.exists():
            raise HarnessError(f"{self._questions}: there is no such file; it holds the judgements")
        line_of = {question.id: question.line for question in self._asked()}
        for question in questions.questions(self._questions):
            if line_of.pop(question.id, None) is None:
                continue
            if question.positives is None:
                refuse(
                    self._questions,
                    question.line,
                    "'answer_paragraphs' is missing, as in the test files of the competition; "
                    "take a split that was published with its judgements",
                )
            for passage in question.positives:
                yield Judgement(question.id, passage, 1)
        for id, line in line_of.items():
            refuse(self._asked_path, line, f"question '{id}' is not in {self._questions}; drop it")

    def locate_judgement(self, query: str, passage: str) -> str:
        for question in questions.questions(self._questions):
            if question.id == query and passage in (question.positives or ()):
                return f"{self._questions}:{question.line}"
        raise LookupError(f"{self._questions} has no such judgement")

    def _asked(self) -> Iterator[Question]:
        path = self._asked_path
        return questions.mapped(path) if path == self._map else questions.questions(path)

    @property
    def _asked_path(self) -> Path:
        """The file of the queries: `english` if it is given, otherwise the split's JSON lines. If that file
        is missing, but the file that maps queries to ids exists, the latter."""
        if self.params.english:
            return self.params.english
        return self._map if self._map.exists() and not self._questions.exists() else self._questions

    @cached_property
    def _asked_digest(self) -> str | None:
        """The digest of the queries, or None while their file is missing."""
        return questions.digest(self._asked()) if self._asked_path.exists() else None


def _parts(folder: Path) -> tuple[Path, ...]:
    """The paths of part-00, part-01, ... in order, plain or compressed. Without any, that of part-00."""
    numbered = re.compile(r"(part-\d\d)(\.gz|\.zst)?")
    matches = [numbered.fullmatch(path.name) for path in folder.glob("part-*")]
    names = sorted({match.group(1) for match in matches if match})
    return tuple(first_there([folder / name]) for name in names or ["part-00"])
