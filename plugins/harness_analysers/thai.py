"""Thai words by PyThaiNLP's dictionary, without Lucene's stopwords."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from harness_analysers.base import Words, lower
from harness_analysers.light import digits, stopwords

if "PYTHAINLP_READ_MODE" not in os.environ:  # the older name; both together are refused
    os.environ.setdefault("PYTHAINLP_READ_ONLY", "1")  # otherwise a folder is made in the user's home

from pythainlp.tokenize.newmm import segment


def build(_: Any) -> Callable[[str], list[str]]:
    words, dropped = Words(lambda token: digits(lower(token))), stopwords("th")

    def terms(text: str) -> list[str]:
        cut = [word for token in words(text) for word in _cut(token)]
        return [word for word in cut if word not in dropped and any(map(str.isalnum, word))]

    return terms


def _cut(token: str) -> list[str]:
    """The words of a token: a run of Thai letters has no blanks between its words."""
    return segment(token) if any("\u0e00" <= letter <= "\u0e7f" for letter in token) else [token]
