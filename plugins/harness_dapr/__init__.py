"""The dataset `dapr`: passages in their documents (DAPR), in the files of the hub or of the released dump."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.hookspecs import hookimpl
from harness.records import Dataset, param


@dataclass(frozen=True)
class DaprParams:
    path: Path = param(help="the folder of the hub's files or of the dump; that of one dataset will do")
    dataset: Literal["MSMARCO", "NaturalQuestions", "MIRACL", "Genomics", "ConditionalQA", "nq-hard"] = param(
        help="which of the benchmark's datasets; nq-hard asks its own queries over NaturalQuestions"
    )
    split: str = param("test", "which queries, as train, dev or test")
    text: Literal["corpus", "corpus_coref"] = param(
        "corpus", "the passages as they are, or the hub's with coreferences resolved by the authors"
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")
        if self.dataset == "nq-hard" and self.split != "test":
            raise ValueError(f"nq-hard has no split '{self.split}'; its one split is test")


@dataclass(frozen=True)
class OriginalParams:
    path: Path = param(help="the folder with the files of the collection's own release")
    dataset: Literal["ConditionalQA", "NaturalQuestions", "MSMARCO"] = param(help="which collection")
    split: Literal["train", "dev", "test"] = param(
        "test", "which queries; dev exists for MSMARCO alone: the others' was drawn in a way not published"
    )
    train: bool = param(
        True, "the documents of training questions are in the corpus too; without: a small one"
    )

    def __post_init__(self) -> None:
        if self.split == "dev" and self.dataset != "MSMARCO":
            raise ValueError(f"{self.dataset} has no split 'dev' here; take train or test")
        if self.split == "train" and not self.train:
            raise ValueError("the split train needs 'train: true'")


def build(params: DaprParams) -> Any:
    from harness_dapr.source import Dapr

    return Dapr(params)


def build_original(params: OriginalParams) -> Any:
    from harness_dapr.original import Original

    return Original(params)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="dapr",
        summary="DAPR: passages in their documents, five collections and NQ-hard (Wang et al. 2024)",
        build=build,
        params=DaprParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
    yield Dataset(
        name="dapr-original",
        summary="DAPR's ConditionalQA, NQ and MS MARCO, made from their own releases (DAPR, appendix A)",
        build=build_original,
        params=OriginalParams,
        needs=("msgspec", "regex"),
        extra="dapr",
    )
