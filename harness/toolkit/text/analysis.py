"""Finds analysers by name or language, and turns many texts into numbered terms quickly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from harness import catalogue
from harness.errors import HarnessError, NoLanguage
from harness.records import NoParams

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Analyse: TypeAlias = Callable[[str], Sequence[str]]


@runtime_checkable
class Spanning(Protocol):
    """An optional interface of an analyser, which lets the harness read texts many times faster. It gives the
    tokens of many texts as spans of code points, and the term of each different token. The terms of the spans
    of `prepare(text)`, without the empty ones, must equal what the analyser, as a function, returns for the
    text."""

    def prepare(self, text: str) -> str:
        """The text that `spans` will read."""
        ...

    def spans(
        self, text: NDArray[np.uint32], bounds: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """For the texts `text[bounds[i] : bounds[i + 1]]`: the start and the length of every token, and the
        number of tokens up to the end of each text. Called from several threads."""
        ...

    def term(self, token: str) -> str:
        """The index term of a token; empty if the token has none."""
        ...


class Encoded(NamedTuple):
    """The terms of some texts, as numbers in the vocabulary. Dropped tokens leave no gap."""

    terms: NDArray[np.int32]  # int32[T]
    ends: NDArray[np.int64]  # int64[n]: the number of terms up to the end of each text


def load(name: str) -> Analyse:
    """The analyser of that name. Raises HarnessError if there is none, or if a module is missing. Unless it
    is a `Spanning`, it raises HarnessError when it does not return a list of terms."""
    entry = catalogue.load().find("analysers", name)
    missing = catalogue.missing_modules(entry.record, entry.plugin.distribution)
    if missing is not None:
        raise HarnessError(str(missing))
    analyse: Analyse = entry.record.build(NoParams())
    fast: object = analyse
    return analyse if isinstance(fast, Spanning) else _checked(analyse, name)


def _checked(analyse: Analyse, name: str) -> Analyse:
    """The same analyser with a check. It raises HarnessError if its result is not a list of terms."""

    def terms(text: str) -> Sequence[str]:
        result: object = analyse(text)
        if not isinstance(result, list | tuple):
            kind = type(result).__name__
            raise HarnessError(f"the analyser '{name}' must return a list of terms, not {kind}; mend it")
        for term in result:
            if not isinstance(term, str):
                raise HarnessError(f"the analyser '{name}' returned {term!r}, which is no term; mend it")
        return result

    return terms


def resolve(name: str, language: str | None) -> str:
    """The analyser's name: the given one, or for `auto` that whose record claims the dataset's language."""
    if name != "auto":
        catalogue.current().find("analysers", name)
        return name
    advice = "choose one with `analyser: NAME` (harness list analysers), such as simple or whitespace"
    if language is None:
        raise NoLanguage(f"analyser: the dataset does not say its language; {advice}")
    code = language.lower().replace("_", "-").split("-")[0]
    offers = catalogue.current().entries["analysers"]
    names = sorted(n for n, entries in offers.items() if any(code in e.record.languages for e in entries))
    if not names:
        raise HarnessError(f"analyser: there is none for the language '{language}'; {advice}")
    if len(names) > 1:
        raise HarnessError(f"analyser: {' and '.join(names)} both claim the language '{language}'; {advice}")
    return names[0]


class Vocabulary:
    """A numbering of terms in the order of their first appearance. It depends on the texts alone, not on the
    number of threads or the division of the texts into batches."""

    def __init__(self, analyse: Analyse) -> None:
        self.analyse = analyse
        self.terms: list[str] = []
        self._numbers: dict[str, int] = {}

    def encode(self, batches: Iterable[list[str]], threads: int) -> Iterator[Encoded]:
        """Yields the terms of each batch of texts, in order."""
        fast: object = self.analyse
        if isinstance(fast, Spanning):
            from harness.toolkit.text.spans import encode

            return encode(fast, batches, self._number, threads)
        return map(self._plain, batches)

    def _number(self, term: str) -> int:
        """The number of a term; -1 for the empty term."""
        if not term:
            return -1
        number = self._numbers.setdefault(term, len(self.terms))
        if number == len(self.terms):
            self.terms.append(term)
        return number

    def _plain(self, texts: list[str]) -> Encoded:
        import numpy as np

        term_numbers = [[self._number(term) for term in self.analyse(text)] for text in texts]
        numbers = np.fromiter((number for row in term_numbers for number in row), np.int32)
        ends = np.cumsum([len(row) for row in term_numbers], dtype=np.int64)
        if (numbers < 0).any():
            raise HarnessError("analyser: it returned an empty term; drop such terms")
        return Encoded(numbers, ends)
