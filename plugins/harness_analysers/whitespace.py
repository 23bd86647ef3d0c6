"""Tokenised text: every string between white space is a term, unchanged."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from harness_analysers.base import cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness_analysers.base import Spans


class Spaces:
    """An analyser by `str.split`, for one text or for many texts at once."""

    def __call__(self, text: str) -> list[str]:
        return text.split()

    def prepare(self, text: str) -> str:
        return text

    def term(self, token: str) -> str:
        return token

    def spans(self, text: NDArray[np.uint32], bounds: NDArray[np.int64]) -> Spans:
        return cut(text, bounds, _table(), False, sys.maxsize)


@functools.cache
def _table() -> NDArray[np.uint8]:
    """uint8[0x110000]: 0 for white space, the class of a letter for all other characters."""
    import numpy as np

    table = np.ones(0x110000, np.uint8)
    table[[code for code in range(0x3001) if chr(code).isspace()]] = 0
    return table


def build(_: Any) -> Spaces:
    return Spaces()
