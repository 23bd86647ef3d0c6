"""Sentences of English and Chinese texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Full-width marks end a sentence anywhere. Other marks end it only before white space that no lowercase
# letter follows. The possessive quantifiers read a row of marks once, so the time is linear in the text.
END = re.compile(r"""[。！？…]++[”’」』）】]*+|(?<![.!?])[.!?]++["'”’)\]]*+(?=\s++[^\sa-z])""")
# A dot after one of these abbreviations, or after a single capital, ends no sentence.
ABBREVIATION = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|Mrs?|Ms|Drs?|Prof|St|Jr|Sr|No|Nos|Fig|Figs|Eq|vs|cf|al|approx|e\.g|i\.e|Inc|Ltd|Co)$"
)
ABBREVIATED = 8  # characters before a dot to search for an abbreviation: more than the longest one has


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text. The end of a line ends a sentence. Text without letters and digits is no
    sentence."""
    for line in text.splitlines():
        start = 0
        for match in END.finditer(line):
            before = line[max(start, match.start() - ABBREVIATED) : match.start()]
            if line[match.start()] != "." or not ABBREVIATION.search(before):
                yield from _real(line[start : match.end()])
                start = match.end()
        yield from _real(line[start:])


def _real(sentence: str) -> Iterator[str]:
    if any(character.isalnum() for character in sentence):
        yield sentence.strip()
