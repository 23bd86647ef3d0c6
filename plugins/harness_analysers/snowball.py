"""Lowercase words, stemmed by Snowball's algorithm for a language."""

from __future__ import annotations

from typing import Any

import Stemmer

from harness_analysers.base import Words, lower

_TURKISH = {ord("I"): "ı", ord("İ"): "i"}


def build(algorithm: str, _: Any) -> Words:
    stemmer = Stemmer.Stemmer(algorithm, 0).stemWord

    def term(token: str) -> str:
        word = lower(token.translate(_TURKISH) if algorithm == "turkish" else token)
        return str(stemmer(word))

    return Words(term)
