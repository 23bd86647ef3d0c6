"""The dataset `t2ranking`: Chinese passages and queries with judgements in four grades, from its release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Dataset, hookimpl, param


@dataclass(frozen=True)
class T2RankingParams:
    path: Path = param(help="the folder that was downloaded, or the one in it with collection.tsv")
    split: str = param("dev", "the queries to read: those in queries.<split>.tsv, such as train, dev or test")
    judgements: Literal["graded", "retrieval"] = param(
        "graded",
        "graded: qrels.<split>.tsv with grades 0 to 3; retrieval: qrels.retrieval.<split>.tsv "
        "with positives only",
    )
    slices: Path | None = param(
        None, "a file with the slices of queries: each line has the id of a query, a tab and a slice"
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="t2ranking",
        summary="T2Ranking: 2.3 million Chinese passages, queries judged in four grades (Xie et al. 2023)",
        build="harness_t2ranking.source:T2Ranking",
        params=T2RankingParams,
        needs=("pyarrow", "zstandard"),
    )
