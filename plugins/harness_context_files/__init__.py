"""Context that was computed elsewhere: a prefix or a whole text for each passage, from a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Context, hookimpl, param


@dataclass(frozen=True)
class _FromFile:
    file: Path = param(
        help="rows of passages: .jsonl, .csv or .tsv with a header, each also with .gz or .zst; or .parquet"
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if the file lacks a passage: refuse, or skip (the passage stays as it is)"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "if the collection lacks a passage of the file: refuse, or skip (it is ignored)"
    )


@dataclass(frozen=True)
class PrefixParams(_FromFile):
    column: str = param("prefix", "the key or column of a passage's prefix; its id is in `id` or `_id`")


@dataclass(frozen=True)
class TextParams(_FromFile):
    column: str = param("text", "the key or column of a passage's text; its id is in `id` or `_id`")


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="prefix-from-file",
        summary="Puts a prefix from a file before each passage, such as a context written elsewhere",
        build="harness_context_files.augmenters:Prefixes",
        params=PrefixParams,
    )
    yield Context(
        name="text-from-file",
        summary="Replaces each passage's text by a text from a file",
        build="harness_context_files.augmenters:Texts",
        params=TextParams,
    )
