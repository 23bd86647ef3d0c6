"""The context-augmenter `titles`: a document's title goes before each of its passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.plugin import Context, hookimpl, param


@dataclass(frozen=True)
class TitlesParams:
    missing: Literal["skip", "verbatim", "refuse"] = param(
        "skip",
        "if a title has no letter or digit: skip adds nothing, verbatim adds the title as it is, "
        "refuse stops and names the document",
    )


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="titles",
        summary="The document's title and a space before each passage (DAPR 4.2.2, prepending titles)",
        build="harness_titles.titles:Titles",
        params=TitlesParams,
    )
