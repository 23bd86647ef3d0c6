"""The dataset `dapr`: passages in their documents (DAPR), in the files of the hub or of the released dump."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Dataset, hookimpl, param


@dataclass(frozen=True)
class DaprParams:
    path: Path = param(
        help="the folder with the files of the hub or of the dump, for one dataset or for several"
    )
    dataset: Literal["MSMARCO", "NaturalQuestions", "MIRACL", "Genomics", "ConditionalQA", "nq-hard"] = param(
        help="the dataset of the benchmark; nq-hard has its own queries over the passages of NaturalQuestions"
    )
    split: str = param("test", "the queries to read: train, dev or test")
    text: Literal["corpus", "corpus_coref"] = param(
        "corpus", "the original passages, or those in which the authors resolved coreferences"
    )

    titles: Literal["own", "keyphrases"] = param(
        "own",
        "the documents' own titles, or in their place the keyphrases that the authors published: with the "
        "context `titles` these go before each passage, as in the authors' code",
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")
        if self.dataset == "nq-hard" and self.split != "test":
            raise ValueError(f"nq-hard has no split '{self.split}'; its one split is test")


@dataclass(frozen=True)
class OriginalParams:
    path: Path = param(help="the folder with the files of the original release")
    dataset: Literal["ConditionalQA", "NaturalQuestions", "MSMARCO", "MIRACL"] = param(
        help="which collection"
    )
    split: Literal["train", "dev", "test"] = param(
        "test", "the queries to read; dev is the authors' sample of those that are not for testing"
    )
    train: bool = param(True, "whether the documents of the training questions are in the corpus too")

    def __post_init__(self) -> None:
        of_train = self.split == "train" or (self.split == "dev" and self.dataset == "NaturalQuestions")
        if of_train and not self.train:
            raise ValueError(f"the split {self.split} needs 'train: true'")


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="dapr",
        summary="DAPR: passages in their documents, five collections and NQ-hard (Wang et al. 2024)",
        build="harness_dapr.source:Dapr",
        params=DaprParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
    yield Dataset(
        name="dapr-original",
        summary="DAPR's ConditionalQA, NQ, MS MARCO and MIRACL, made from their releases (DAPR, appendix A)",
        build="harness_dapr.original:Original",
        params=OriginalParams,
        needs=("msgspec", "regex"),
        extra="dapr",
    )
