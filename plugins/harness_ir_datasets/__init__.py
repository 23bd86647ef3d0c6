"""The dataset `ir_datasets`: any collection of ir_datasets by its id, or by its name in a survey's table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.hookspecs import hookimpl
from harness.records import Dataset, param


@dataclass(frozen=True)
class IrDatasetsParams:
    id: str = param(
        help="an id, as beir/nfcorpus/test, or a name in the survey's table 4, as NFCorpus; a name "
        "of several collections takes which one behind a slash, as mMARCO/zh"
    )
    split: str | None = param(
        None,
        "the queries of another split, in the place of the one in the id; null: the id's own",
    )
    query: str | None = param(
        None,
        "the field of a query that is asked, as description; null: what ir_datasets takes for it",
    )
    exclude_self: bool = param(False, "a passage with the query's own id is no hit, as in BEIR's evaluation")

    def __post_init__(self) -> None:
        if self.split is not None and not re.fullmatch(r"[A-Za-z0-9_.-]+", self.split):
            raise ValueError(f"split '{self.split}' is no plain name; write it like train, dev or test")


def build(params: IrDatasetsParams) -> Any:
    from harness_ir_datasets.source import IrDatasets

    return IrDatasets(params)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="ir_datasets",
        summary="Any collection of ir_datasets, BEIR, MIRACL and mMARCO among them, downloaded when read",
        build=build,
        params=IrDatasetsParams,
        needs=("ir_datasets", "pyarrow"),
        extra="ir-datasets",
        libraries=("ir_datasets",),
    )
