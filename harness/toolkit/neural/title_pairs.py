"""Reads a passage as a pair of title and text, as dual-encoders of DPR's and RocketQA's families do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.toolkit.neural import tokens
from harness.toolkit.neural.tokens import Lost, Tokeniser, Tokens


def tokenise(
    tokeniser: Tokeniser, how: str, titles: Sequence[str], texts: Sequence[str], length: int, prompt: str = ""
) -> tuple[Tokens, Lost]:
    """The tokens of passages with titles, at most `length` for each, and what was cut off. With `how` =
    `pair`, the pair has the token types 0 and 1 even if the title is empty (RocketQA). With `untyped-pair`,
    every type is 0, and a passage without a title or without a text is no pair (DPR). The prompt is put
    before the first of the two."""
    if how == "pair":
        return tokens.tokenise(tokeniser, [prompt + title for title in titles], length, texts)
    untyped = tokeniser._replace(pair=tokeniser.pair._replace(types=(0, 0, 0, 0, 0)))
    both = [bool(title and text) for title, text in zip(titles, texts, strict=True)]
    paired = [i for i, pair in enumerate(both) if pair]
    single = [i for i, pair in enumerate(both) if not pair]
    firsts, seconds = [prompt + titles[i] for i in paired], [texts[i] for i in paired]
    pairs, lost = tokens.tokenise(untyped, firsts, length, seconds)
    singles, more = tokens.tokenise(untyped, [prompt + (titles[i] or texts[i]) for i in single], length)
    order = np.argsort(np.array([*paired, *single], np.int64))
    return tokens.select(tokens.joined([pairs, singles]), order), lost.plus(more)
