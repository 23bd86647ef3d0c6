"""The dataset `files`: the user's own collection, in a BEIR folder or in files named one by one."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Dataset, Meant, hookimpl
from harness_files.params import FilesParams


def from_word(word: str, language: str | None) -> Meant | None:
    from harness_files.folder_of_word import meant

    return meant(word, language)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(
        name="files",
        summary="Your own files: a BEIR folder, or JSONL, TSV and TREC files; plain, .gz or .zst",
        build="harness_files.source:Files",
        params=FilesParams,
        from_word=from_word,
        needs=("msgspec", "pyarrow", "zstandard"),
    )
