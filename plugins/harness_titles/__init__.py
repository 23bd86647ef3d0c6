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
        "if a title has no letter or digit: skip adds nothing, verbatim adds the title as it is, "
        "refuse stops and names the document",
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
