"""The parameters of a collection in files, checked together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import param
from harness.toolkit.files.paths import first_there


@dataclass(frozen=True)
class FilesParams:
    """The parameters of a collection in files: either `path`, or `corpus`, `queries` and `qrels`. In
    `queries` and `qrels`, `{split}` is replaced by the split."""

    path: Path | None = param(
        None,
        "a folder with corpus.jsonl, queries.jsonl and qrels/<split>.tsv, or each as .parquet or .csv; each "
        "may end in .gz or .zst",
    )
    corpus: Path | None = param(
        None,
        "a file of passages: JSON lines with the keys of BEIR, Tevatron or Pyserini (.jsonl); "
        "id, text or id, title, text, separated by tabs (.tsv); DPR's psgs_w100.tsv; or a table "
        "with the keys as columns (.parquet, .csv)",
    )
    queries: Path | None = param(
        None,
        "a file of queries: JSON lines (.jsonl); id, text and perhaps a JSON list of answers, "
        "separated by tabs (.tsv); DPR's .qa.csv; TREC topics; or a table with the keys as "
        "columns (.parquet, .csv)",
    )
    qrels: Path | None = param(
        None,
        "a file of judgements: the four columns of TREC, the three of BEIR with a header, or a "
        "table of these (.parquet, .csv); null if answers decide what is relevant",
    )
    split: str = param("test", "the split; its queries are those in qrels/<split>.tsv")
    language: str | None = param(None, "the language of the passages (ISO 639-1), such as en or zh")
    query_language: str | None = param(None, "the language of the queries, if it is another")
    exclude_self: bool = param(
        False, "removes a passage with the query's id from the results, as BEIR's evaluation does"
    )
    slices: Path | None = param(
        None, "a file with the slices of queries: each line has the id of a query, a tab and a slice"
    )
    match: Literal["words", "regex"] = param(
        "words",
        "how a passage contains an answer: its words one after the other, or each answer is a regular "
        "expression, as in CuratedTREC",
    )
    judged: bool = param(True, "false if nothing is judged yet; all queries are then read (docs/making.md)")
    licence: str = param("", "the licence of the collection, for the leaderboard")
    citation: str = param("", "how to cite the collection, for the leaderboard")
    url: str = param("", "where the collection came from, for the leaderboard")

    def __post_init__(self) -> None:
        single = {"corpus": self.corpus, "queries": self.queries, "qrels": self.qrels}
        named = [name for name, path in single.items() if path is not None]
        if self.path is not None and named:
            raise ValueError(
                f"'path' and '{named[0]}' exclude each other; give the folder or the single files"
            )
        if self.path is None and not named:
            raise ValueError("no files are named; give 'path', or 'corpus', 'queries' and 'qrels'")
        missing = [f"'{name}'" for name in ("corpus", "queries") if name not in named]
        if self.path is None and missing:
            what = f"{' and '.join(missing)} is missing beside '{named[0]}'"
            raise ValueError(f"{what}; give corpus, queries and qrels, or a folder as 'path'")
        if not self.judged and self.qrels is not None:
            raise ValueError("'qrels' is given, and 'judged: false' says that there are none; drop one")
        if not re.fullmatch(r"[\w.-]+", self.split) or set(self.split) == {"."}:
            raise ValueError(f"split '{self.split}' is no plain name; write it like test or dev")
        for name in ("language", "query_language"):
            code = getattr(self, name)
            if code is not None and not re.fullmatch("[a-z]{2,3}", code):
                raise ValueError(f"{name} '{code}' is no language code; write it like en or zh")

    def corpus_path(self) -> Path:
        return self.corpus or self._table("corpus", ".jsonl")

    def queries_path(self) -> Path:
        return self._of_split(self.queries) or self._table("queries", ".jsonl")

    def qrels_path(self) -> Path | None:
        """The path of the judgements, or None if there is no such file: relevance then follows from the
        queries' answers, or nothing is judged yet."""
        if not self.judged:
            return None
        if self.path is None:
            return self._of_split(self.qrels)
        return self._table(f"qrels/{self.split}", ".tsv")

    def _table(self, name: str, suffix: str) -> Path:
        """The path of a file of the folder, with the suffix that BEIR has, or as a table (.parquet, .csv)."""
        names = [f"{name}{ending}" for ending in (suffix, ".parquet", ".csv")]
        return first_there([self._folder() / each for each in names])

    def _folder(self) -> Path:
        assert self.path is not None  # __post_init__ has checked it
        return self.path

    def _of_split(self, path: Path | None) -> Path | None:
        return path and Path(str(path).replace("{split}", self.split))
