"""Context from the document itself: headings, neighbouring passages, first sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.plugin import Context, hookimpl, param


@dataclass(frozen=True)
class Headings:
    plain: bool = param(
        True,
        "in a document without marked headings, recognises headings by their form: short lines before text",
    )


@dataclass(frozen=True)
class Neighbours:
    before: int = param(1, "how many of the preceding passages are put before a passage", minimum=0)
    after: int = param(1, "how many of the following passages are put after a passage", minimum=0)

    def __post_init__(self) -> None:
        if not self.before and not self.after:
            raise ValueError("before and after are both 0, so nothing would be added; raise one of them")


@dataclass(frozen=True)
class Summary:
    sentences: int = param(3, "how many of the document's first sentences", minimum=1)


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="headings",
        summary="Puts the headings above a passage before it, outermost first",
        build="harness_surroundings.headings:Augmenter",
        params=Headings,
    )
    yield Context(
        name="neighbours",
        summary="The passages before and after a passage, around it",
        build="harness_surroundings.neighbours:Augmenter",
        params=Neighbours,
    )
    yield Context(
        name="summary",
        summary="Puts the document's first sentences before each passage that does not contain them",
        build="harness_surroundings.summary:Augmenter",
        params=Summary,
    )
