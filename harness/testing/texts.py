"""Small corpora in memory, as the `Texts` that methods read in tests."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.composed_texts import document_borders
from harness.types import Batch, Unit, WholeDocument

if TYPE_CHECKING:
    from harness.types import Ints

SCRIPTS = (  # scripts that are hard for tokenisers
    "Ünïcödé naïve café, decomposed: cafe\u0301",
    "北京是中华人民共和国的首都。",
    "パッセージ検索の評価",
    "مرحبا بالعالم",
    "Привет, мир",
    "हिन्दी में एक वाक्य",
    "👩‍👩‍👧 🎉 emoji and a zero\u200bwidth space",
    "İstanbul ﬁnds ligatures ＦＵＬＬ width",
    "tabs\tand\nnew lines\r\nand\u2028separators\x00\x1f",
)
WORDS = (
    *("river", "bridge", "harbour", "stone", "market", "tower", "garden", "museum", "railway", "council"),
    *("winter", "festival", "painter", "novel", "theory", "engine", "island", "valley", "castle", "letter"),
    *("ocean", "copper", "signal", "forest", "miner", "teacher", "voyage", "archive", "history", "opened"),
    *("closed", "built", "moved", "named", "during", "before", "under", "the", "of", "and", "in"),
)
QUERIES = (
    "the castle of the island",
    "painter",
    "when was the railway bridge built",
    "winter winter festival",
)


@dataclass(frozen=True)
class MemoryTexts:
    """A corpus in memory; implements `harness.contracts.Texts`."""

    every: tuple[str, ...]
    titles: tuple[str, ...]
    candidates: Ints  # int64[n]: the positions of candidates, ascending
    language: str | None
    unit: Unit
    largest: int  # maximum batch size, so that a small corpus has several batches
    numbers: Ints | None = None  # int64[size]: the document of each position; if None, each is its own

    @property
    def size(self) -> int:
        return len(self.every)

    def __len__(self) -> int:
        return len(self.candidates)

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        chosen = self.candidates[start:stop]
        step = min(size, self.largest)
        for first in range(0, len(chosen), step):
            positions = chosen[first : first + step]
            yield Batch(positions, self.take(positions), [self.titles[p] for p in positions.tolist()])

    def take(self, positions: Ints) -> list[str]:
        return [self.every[position] for position in np.asarray(positions).tolist()]

    def document_of(self, positions: Ints) -> Ints:
        return np.asarray(positions, np.int64) if self.numbers is None else self.numbers[positions]

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[WholeDocument]:
        of = self.document_of(np.arange(self.size))
        for number in range(int(of[-1]) + 1 if self.size else 0)[start:stop]:
            positions = np.flatnonzero(of == number)
            candidates = np.isin(positions, self.candidates)
            title = self.titles[positions[0]]
            yield WholeDocument(number, title, (), positions, candidates, self.take(positions))

    def borders(self, size: int) -> Ints:
        return document_borders(self.document_of(self.candidates), size)

    def ids(self, positions: Ints) -> list[str]:
        return [str(position) for position in np.asarray(positions).tolist()]

    def progress(self, done: int) -> None:
        """Does nothing."""


def texts(
    every: Sequence[str],
    *,
    titles: Sequence[str] | None = None,
    candidates: Sequence[bool] | None = None,
    unit: Unit = "passage",
    language: str | None = "en",
    batch: int = 16,
    sizes: Sequence[int] | None = None,
) -> MemoryTexts:
    """A corpus of these texts as a system reads them. All are candidates by default. Batches hold at most
    `batch` texts. `sizes` are the numbers of passages of the documents; by default, each text is a document
    of its own."""
    kept = np.ones(len(every), np.bool_) if candidates is None else np.array(candidates, np.bool_)
    names = tuple(titles) if titles is not None else ("",) * len(every)
    if not len(every) == len(names) == len(kept):
        raise ValueError("texts, titles and candidates must be of one length")
    numbers = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    if numbers is not None and len(numbers) != len(every):
        raise ValueError("sizes must add up to the number of texts")
    chosen = np.flatnonzero(kept).astype(np.int64)
    return MemoryTexts(tuple(every), names, chosen, language, unit, batch, numbers)


def sample(unit: Unit = "passage", count: int = 40, candidates: Sequence[bool] | None = None) -> MemoryTexts:
    """The corpus of the contract's cases: generated sentences that are the same in every process."""
    return texts(sentences(count), candidates=candidates, unit=unit)


def sentences(count: int, seed: int = 1) -> list[str]:
    """Distinct texts of 4 to 40 words."""
    chance = random.Random(seed)
    return [f"{' '.join(chance.choices(WORDS, k=chance.randint(4, 40)))} entry{i}" for i in range(count)]
