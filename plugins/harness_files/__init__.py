"""The dataset `files`: the user's own collection, in a BEIR folder or in files named one by one."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Dataset, hookimpl
from harness_files.params import FilesParams


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="files",
        summary="Your own files: a BEIR folder, or JSONL, TSV and TREC files; plain, .gz or .zst",
        build="harness_files.source:Files",
        params=FilesParams,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
