"""Lowercase words, stemmed by Snowball's algorithm for a language; Finnish and Russian without stopwords."""

from __future__ import annotations

from typing import Any

import Stemmer

from harness_analysers.base import Words, lower
from harness_analysers.light import light

_TURKISH = {ord("I"): "ı", ord("İ"): "i"}
_STOPPED = {"finnish": "fi", "russian": "ru"}


def build(algorithm: str, _: Any) -> Words:
    stemmer = Stemmer.Stemmer(algorithm, 0).stemWord
    if algorithm in _STOPPED:
        return light(_STOPPED[algorithm], after=stemmer)

    def term(token: str) -> str:
        word = lower(token.translate(_TURKISH) if algorithm == "turkish" else token)
        return str(stemmer(word))

    return Words(term)
