"""The dataset `files`: the user's own collection, in a BEIR folder or in files named one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.hookspecs import hookimpl
from harness.records import Dataset
from harness_files.params import FilesParams


def build(params: FilesParams) -> Any:
    from harness_files.source import Files

    return Files(params)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="files",
        summary="Your own files: a BEIR folder, or JSONL, TSV and TREC files; plain, .gz or .zst",
        build=build,
        params=FilesParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
