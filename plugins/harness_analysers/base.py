"""The common parts of the analysers: how a text is cut into tokens, and how a token becomes a term."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from harness_analysers import classes
from harness_analysers.words import LONGEST, Piece, pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Spans: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]


def lower(token: str) -> str:
    """The token in lowercase, character by character as in Lucene: no final sigma, no long dotted i."""
    if token.isascii():
        return token.lower()
    return "".join([character.lower()[0] for character in token])


@dataclass(frozen=True)
class Words:
    """Cuts words by Unicode's rules and turns each into a term by `term`; empty terms are dropped."""

    term: Callable[[str], str]
    bigrams: bool = False  # East Asian characters become overlapping pairs
    fold: Callable[[str], str] | None = None  # applied to each text before it is cut
    letters: classes.Letters = field(default_factory=classes.Letters, repr=False, compare=False)

    def __call__(self, text: str) -> list[str]:
        text = self.prepare(text)
        cut = pieces(text, self.letters)
        spans = pairs(cut) if self.bigrams else [(piece.start, piece.end) for piece in cut]
        terms = [self.term(text[start:end]) for start, end in spans]
        return [term for term in terms if term]

    def prepare(self, text: str) -> str:
        return text if self.fold is None else self.fold(text)

    def spans(self, text: NDArray[np.uint32], bounds: NDArray[np.int64]) -> Spans:
        """The tokens of many prepared texts, in the form of `harness.toolkit.text.analysis.Spanning`."""
        return cut(text, bounds, classes.table(), self.bigrams, LONGEST)


def cut(
    text: NDArray[np.uint32], bounds: NDArray[np.int64], table: NDArray[np.uint8], bigrams: bool, longest: int
) -> Spans:
    """The starts and lengths of all tokens, and how many end with each text, by `segment`."""
    import numpy as np

    from harness_analysers.segment import segment

    room, ends = len(text), np.empty(len(bounds) - 1, np.int64)
    starts, lengths = np.empty(room, np.int32), np.empty(room, np.int32)
    n = segment(text, bounds, table, bigrams, longest, np.empty(room, np.uint8), starts, lengths, ends)
    return starts[:n], lengths[:n], ends


def pairs(cut: list[Piece]) -> list[tuple[int, int]]:
    """The spans of the tokens, with each run of East Asian pieces replaced by overlapping pairs of its
    characters. A run of one character stays as it is."""
    spans: list[tuple[int, int]] = []
    run: tuple[int, int] | None = None
    for start, end, asian in [*cut, Piece(-1, -1, False)]:
        if asian and run and run[1] == start:
            run = (run[0], end)
            continue
        if run:
            spans += [(i, i + 2) for i in range(run[0], run[1] - 1)] or [run]
        run = (start, end) if asian else None
        if not asian and end > 0:
            spans.append((start, end))
    return spans
