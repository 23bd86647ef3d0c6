"""The words of a text that a query has too, in whatever form, by the analyser of the language."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.plugin import HarnessError
from harness.toolkit.text import analysis

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Shared(NamedTuple):
    """Forms as they are written in the texts. If `apart`, each is a whole word."""

    forms: list[str]
    apart: bool


def shared(query: str, texts: Iterable[str], language: str | None) -> Shared:
    analyse = _analyser(language)
    terms = set(analyse(query))
    every = "\n".join(texts)
    if _UNSPACED.search(query):
        return Shared(_runs({term for term in terms if len(term) > 1}, every), apart=False)
    written = {word for word in set(_WORD.findall(every)) if not terms.isdisjoint(analyse(word))}
    return Shared(_longest_first(written), apart=True)


@functools.cache
def _analyser(language: str | None) -> Callable[[str], Sequence[str]]:
    try:
        return analysis.load(analysis.resolve("auto", language))
    except HarnessError:  # a language without an analyser, or one whose extra is not installed
        return analysis.load("simple")


def _runs(terms: set[str], text: str) -> list[str]:
    """The longest stretches of the text that terms cover. Terms may overlap, as pairs of characters do."""
    if not terms:
        return []
    starts = re.finditer(f"(?=({'|'.join(map(re.escape, _longest_first(terms)))}))", text)
    runs: list[tuple[int, int]] = []
    for match in starts:
        start, end = match.span(1)
        if runs and start <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((start, end))
    return _longest_first({text[start:end] for start, end in runs})


def _longest_first(forms: set[str]) -> list[str]:
    return sorted(forms, key=lambda form: (-len(form), form))
