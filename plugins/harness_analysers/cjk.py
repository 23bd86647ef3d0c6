"""Chinese, Japanese and Korean as in Lucene's CJKAnalyzer: pairs of characters, and other words."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from harness_analysers.base import Words, lower

STOPWORDS = frozenset((
    "a", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "s", "such", "t", "that", "the", "their", "then", "there", "these", "they",
    "this", "to", "was", "will", "with", "www",
))  # fmt: skip


_WIDTHS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    code: ord(unicodedata.normalize("NFKC", chr(code))) for code in range(0xFF65, 0xFFA0)
}
_VOICED = re.compile("[ｦ-ﾝ][ﾞﾟ]")  # two half-width characters that are one full-width character


def fold(text: str) -> str:
    """The text with full-width Latin characters made plain, and half-width katakana made full-width."""
    if text.isascii():
        return text
    text = _VOICED.sub(lambda pair: unicodedata.normalize("NFKC", pair.group()), text)
    return text.translate(_WIDTHS)


def build(_: Any) -> Words:
    def term(token: str) -> str:
        word = lower(token)
        return "" if word in STOPWORDS else word

    return Words(term, bigrams=True, fold=fold)
