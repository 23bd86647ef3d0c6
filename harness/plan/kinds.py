"""The kinds of steps: the one list of them, and the groups that other modules ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.types import Part

PARTS: Final[tuple[Part, ...]] = ("corpus", "queries", "judgements")  # steps that make a dataset columnar
PREPARING: Final = ("augment", "index")  # steps that need no query
RANKINGS: Final = ("search", "combine", "rerank")  # steps whose artifact holds hits
METHODS: Final = (*PREPARING, "rewrite", *RANKINGS)
CUTTABLE: Final = ("augment", "index", "search", "rerank")  # steps that several workers can share
PART: Final = "part"  # a step that one of these workers does
MAKING: Final = ("examples", "train", "validate")  # steps that make a model
MAKE: Final = "make"  # a stage of a made dataset; its artifact has a folder for each part that it changes
APART: Final = ("tune", "train", "validate", MAKE)  # the steps behind these are not a system's own work

# The format of each kind's artifact, a number in every key. It is raised when the harness itself writes the
# artifact differently, or writes other numbers into it.
FORMATS: Final[dict[str, int]] = dict.fromkeys(
    (*PARTS, *METHODS, "tune", "label", "analyse", *MAKING, MAKE, PART), 1
)


def kind_of(step: str) -> str:
    """The kind of a step, by its id, as `harness.plan.graph.Step.id` composes it."""
    return step.partition("-")[0]


def of_kind(kind: str, steps: Iterable[str]) -> list[str]:
    """Those of the ids of steps that are of this kind, in their order."""
    return [step for step in steps if kind_of(step) == kind]
