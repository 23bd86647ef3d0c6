"""Chinese words as jieba finds them; words without a letter or digit are dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.toolkit.text.jieba_words import tokenizer


def build(_: Any) -> Callable[[str], list[str]]:
    cut = tokenizer().lcut

    def terms(text: str) -> list[str]:
        return [word for word in cut(text.lower()) if any(map(str.isalnum, word))]

    return terms
