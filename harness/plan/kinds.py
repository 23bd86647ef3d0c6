"""The kinds of steps: the one list of them, and the groups that other modules ask for."""

from __future__ import annotations

from typing import Final

from harness.types import Part

PARTS: Final[tuple[Part, ...]] = ("corpus", "queries", "judgements")  # of a dataset, made columnar
RANKINGS: Final = ("search", "combine", "rerank")  # whose artifact holds hits
METHODS: Final = ("augment", "index", *RANKINGS)  # that a system's hits are made by

# The format of each kind's artifact: raised when the harness itself writes it differently, or writes other
# numbers into it. It is in every key.
FORMATS: Final[dict[str, int]] = dict.fromkeys((*PARTS, *METHODS, "tune", "label", "analyse"), 1)
