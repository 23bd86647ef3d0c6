"""Japanese words by MeCab and its IPA dictionary, which Lucene's JapaneseAnalyzer reads too: their dictionary
forms, without particles and stopwords."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import fugashi
import ipadic

from harness_analysers.base import lower
from harness_analysers.light import stopwords

PARTICLES = ("助詞", "助動詞", "接続詞", "記号", "フィラー", "非言語音", "その他")
LONG = "\u30fc"


def build(_: Any) -> Callable[[str], list[str]]:
    tagger, dropped = fugashi.GenericTagger(ipadic.MECAB_ARGS), stopwords("ja")

    def terms(text: str) -> list[str]:
        tokens = tagger(unicodedata.normalize("NFKC", text))
        forms = [_form(token) for token in tokens if not token.feature[0].startswith(PARTICLES)]
        return [lower(_without_long_end(form)) for form in forms if form and form not in dropped]

    return terms


def _form(token: Any) -> str:
    """The dictionary form of a token, or what is written where the dictionary has none. Empty for signs."""
    feature = token.feature
    form = feature[6] if len(feature) > 6 and feature[6] != "*" else token.surface
    return form if any(map(str.isalnum, token.surface)) else ""


def _without_long_end(word: str) -> str:
    """Words in katakana are written with or without a long vowel at their end."""
    katakana = len(word) >= 4 and all("\u30a0" <= letter <= "\u30ff" for letter in word)
    return word.removesuffix(LONG) if katakana else word
