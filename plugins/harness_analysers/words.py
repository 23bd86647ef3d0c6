"""Cuts a text into words as Lucene's StandardTokenizer does: by Unicode's word boundaries (UAX #29)."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness_analysers.classes import Letters

LONGEST = 255  # longer words are cut into pieces of this length, as Lucene cuts them


class Piece(NamedTuple):
    """A token, and whether it consists of East Asian characters, which `cjk` turns into bigrams."""

    start: int
    end: int
    asian: bool


def pieces(text: str, letters: Letters) -> list[Piece]:
    """The tokens of a text, in order."""
    spans = []
    for match in _TOKEN.finditer(text.translate(letters)):
        kind = match.lastgroup
        if kind != "joiners":
            start, end = match.span()
            cuts = range(start, end, LONGEST)
            spans += [Piece(cut, min(cut + LONGEST, end), kind == "asian") for cut in cuts]
    return spans


def _grammar() -> re.Pattern[str]:
    """A regular expression for tokens over class letters (see `classes`). Comments name UAX #29's rules."""
    e = "[ezMm]*+"  # WB4: characters that extend another belong to it
    letter = rf"(?:[AN]{e}|H{e}(?:'{e}|\"{e}(?=H))?)"  # WB7a to WB7c: Hebrew and its quotes
    letters = rf"{letter}(?:(?:[lb']{e})?{letter})*"  # WB5 to WB7: a single mark between letters
    digits = rf"D{e}(?:(?:[db']{e})?D{e})*"  # WB8, WB11, WB12: a single mark between digits
    body = rf"(?:K{e}(?:K{e})*|(?:{digits}|{letters})+)"  # WB9, WB10, WB13
    word = rf"(?:X{e})*{body}(?:(?:X{e})+{body})*(?:X{e})*"  # WB13a, WB13b: underscores join
    asian = rf"C{e}|G{e}|(?:K{e})+(?![KX])|(?:N{e})+(?![AHNDX]|[lb']{e}[AHN])"
    emoji = rf"[EM]{e}(?:(?<=z)E{e})*|F{e}F{e}"
    kinds = {
        "asian": asian,
        "word": word,
        "complex": rf"(?:[Tm]{e})+",
        "emoji": emoji,
        "joiners": rf"(?:X{e})+",
    }
    return re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in kinds.items()))


_TOKEN = _grammar()
