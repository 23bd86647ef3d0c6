"""Chinese words as jieba finds them; what is neither letter nor digit is dropped."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import jieba


def build(_: Any) -> Callable[[str], list[str]]:
    jieba.setLogLevel(logging.WARNING)  # it would report its dictionary's loading on stderr
    tokenizer = jieba.Tokenizer()

    def terms(text: str) -> list[str]:
        return [word for word in tokenizer.lcut(text.lower()) if any(map(str.isalnum, word))]

    return terms
