"""The context-augmenter `titles`: a document's title goes before each of its passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from harness import records
from harness.hookspecs import hookimpl
from harness.records import param


@dataclass(frozen=True)
class TitlesParams:
    missing: Literal["skip", "verbatim", "refuse"] = param(
        "skip",
        "a title without a letter or digit: skip leaves the passages as they are, verbatim prepends it all "
        "the same (an empty one adds nothing), refuse stops with the document's id",
    )


def build(params: TitlesParams) -> Any:
    from harness_titles.titles import Titles

    return Titles(params.missing)


@hookimpl
def harness_contexts() -> Iterable[records.Context]:
    yield records.Context(
        name="titles",
        summary="The document's title and a space before each passage (DAPR 4.2.2, prepending titles)",
        build=build,
        params=TitlesParams,
    )
