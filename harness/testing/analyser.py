"""What an analyser promises: a text has the same terms every time, and no term is empty."""

from __future__ import annotations

from pathlib import Path

from harness.testing.subject import Subject, able, build, require
from harness.testing.texts import QUERIES, SCRIPTS, sentences

TEXTS = (*QUERIES, *SCRIPTS, *sentences(10), "", " ", "...", "a" * 5000)


def terms(subject: Subject) -> list[list[str]]:
    analyse = build(subject)
    return [list(analyse(text)) for text in TEXTS]


def fingerprint(subject: Subject, _: Path) -> str:
    return ascii(terms(subject))


def gives_terms(subject: Subject, _: Path) -> None:
    with able("analyse empty text and text of any script"):
        analysed = terms(subject)
    for text, of_text in zip(TEXTS, analysed, strict=True):
        require(all(isinstance(term, str) for term in of_text), f"a term of {text[:30]!r} is not a string")
        require("" not in of_text, f"it gives an empty term for {text[:30]!r}")
        require(text.strip() or not of_text, f"it finds terms in {text!r}")
    require(any(analysed), "it finds no term in any text")


def gives_the_same_twice(subject: Subject, _: Path) -> None:
    require(terms(subject) == terms(subject), "the same texts get different terms the second time")


def names_languages_by_two_letters(subject: Subject, _: Path) -> None:
    for code in subject.record.languages:
        good = len(code) == 2 and code.isascii() and code.isalpha() and code.islower()
        require(good, f"'{code}' is not an ISO 639-1 code")
