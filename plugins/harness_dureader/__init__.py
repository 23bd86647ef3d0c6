"""The dataset `dureader-retrieval`: Chinese web passages and search queries, in the files of its release."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.hookspecs import hookimpl
from harness.records import Dataset, param


@dataclass(frozen=True)
class DureaderParams:
    path: Path = param(help="the folder with part-00 to part-03 and dev.json, or the one that was unpacked")
    split: str = param("dev", "which queries: those of <split>.json, as train, dev or test")
    english: Path | None = param(
        None, "translated queries to ask instead: JSON lines of question_id and question, as in dev.json"
    )

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")


def build(params: DureaderParams) -> Any:
    from harness_dureader.source import Dureader

    return Dureader(params)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="dureader-retrieval",
        summary="DuReader-retrieval: 8.1 million Chinese web passages and search queries (Qiu et al. 2022)",
        build=build,
        params=DureaderParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
