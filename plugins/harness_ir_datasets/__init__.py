"""The dataset `ir_datasets`: any collection of ir_datasets by its id, or by its name in a survey's table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.plugin import Dataset, Meant, hookimpl, param


@dataclass(frozen=True)
class IrDatasetsParams:
    id: str = param(
        help="an id such as beir/nfcorpus/test, or a name in the survey's table 4 such as NFCorpus; "
        "if the name has several collections, add one of them, as in mMARCO/zh"
    )
    split: str | None = param(
        None, "reads the queries of another split than the id names; null: the split in the id"
    )
    query: str | None = param(
        None, "the field of a query that is its text, such as description; null: the default of ir_datasets"
    )
    exclude_self: bool = param(
        False, "removes a passage with the query's id from the results, as BEIR's evaluation does"
    )

    only: Path | None = param(
        None,
        "a file of query ids, one on each line: all other queries and their judgements are left out, as for "
        "the hard queries of MS MARCO Chameleons",
    )

    def __post_init__(self) -> None:
        if self.split is not None and not re.fullmatch(r"[A-Za-z0-9_.-]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")


def from_word(word: str, language: str | None) -> Meant | None:
    """An id of ir_datasets has a slash, and so has much else."""
    is_id = "/" in word and not word.startswith((".", "~", "/"))
    return Meant({"id": word}, sure=False) if is_id else None


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="ir_datasets",
        summary="Any collection of ir_datasets, such as BEIR, MIRACL and mMARCO; downloaded when it is read",
        build="harness_ir_datasets.source:IrDatasets",
        params=IrDatasetsParams,
        needs=("ir_datasets", "pyarrow"),
        extra="ir-datasets",
        libraries=("ir_datasets",),
        from_word=from_word,
    )
