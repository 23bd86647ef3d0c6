"""The datasets of DuReader: Chinese web passages and search queries, in the files of its releases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.plugin import Dataset, hookimpl, param


@dataclass(frozen=True)
class DureaderParams:
    path: Path = param(
        help="the folder into which the archives were unpacked, or the one with part-00 to part-03 "
        "and dev.json"
    )
    split: str = param("dev", "the queries to read: those in <split>.json, such as train, dev or test")
    english: Path | None = param(
        None,
        "a file with translated queries that replace the queries: JSON lines of question_id and question",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")


@dataclass(frozen=True)
class RawParams:
    path: Path = param(help="the folder with train.jsonl, dev.jsonl and test.jsonl")
    split: str = param("dev", "the questions to read: those in <split>.jsonl")
    documents: tuple[str, ...] = param(
        ("train", "dev", "test"), "the splits whose web documents are the corpus"
    )

    def __post_init__(self) -> None:
        for split in (self.split, *self.documents):
            if not re.fullmatch(r"[A-Za-z0-9_-]+", split):
                raise ValueError(f"split '{split}' is no plain name; write it like train, dev or test")
        if self.split not in self.documents:
            raise ValueError(f"'documents' lacks '{self.split}': its questions need their own documents")


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="dureader-retrieval",
        summary="DuReader-retrieval: 8.1 million Chinese web passages and search queries (Qiu et al. 2022)",
        build="harness_dureader.source:Dureader",
        params=DureaderParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
    yield Dataset(
        name="dureader-questions",
        summary="DuReader 2.0: questions with web documents and written answers, to make a collection from",
        build="harness_dureader.raw:Raw",
        params=RawParams,
        needs=("msgspec", "zstandard"),
    )
