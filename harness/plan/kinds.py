"""The kinds of steps: the one list of them, and the groups that other modules ask for."""

from __future__ import annotations

from typing import Final

from harness.types import Part

PARTS: Final[tuple[Part, ...]] = ("corpus", "queries", "judgements")  # of a dataset, made columnar
PREPARING: Final = ("augment", "index")  # what a method does before it sees a query
RANKINGS: Final = ("search", "combine", "rerank")  # whose artifact holds hits
METHODS: Final = (*PREPARING, "rewrite", *RANKINGS)
CUTTABLE: Final = ("augment", "index", "search", "rerank")  # that several workers can share
PART: Final = "part"  # what one of these workers does
MAKING: Final = ("examples", "train", "validate")  # of a model
MAKE: Final = "make"  # a stage of a made collection: its artifact has a folder for each part that it changes
APART: Final = ("tune", "train", "validate", MAKE)  # what lies behind them is not a system's own work

# The format of each kind's artifact: raised when the harness itself writes it differently, or writes other
# numbers into it. It is in every key.
FORMATS: Final[dict[str, int]] = dict.fromkeys(
    (*PARTS, *METHODS, "tune", "label", "analyse", *MAKING, MAKE, PART), 1
)
