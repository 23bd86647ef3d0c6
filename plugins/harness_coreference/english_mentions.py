"""Finds the mentions in an English document (names, noun phrases, pronouns) without a tagger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from harness_coreference import english_words as words

_PIECE = re.compile(r"(?:[A-Z]\.){2,}|[A-Z]\.(?=\s[A-Z])|[^\W\d_]+(?:-[^\W\d_]+)*|['’][a-z]+|\d+|\S")
_LONGEST = 4  # the most words of a noun phrase after its determiner
_ENDS = frozenset(".!?:;•|")
_INNER = frozenset({"&", "de", "van", "von", "der", "la", "du"})


class Word(NamedTuple):
    text: str
    lower: str
    start: int
    end: int
    sentence: int  # counted through the document
    opens: bool  # whether it is the first of its sentence


class Phrase(NamedTuple):
    """A mention with the features that the rules use."""

    passage: int
    start: int
    end: int
    kind: Literal["name", "noun", "pronoun"]
    words: tuple[str, ...]  # in lowercase; of a noun phrase, without the determiner and with the noun last
    sentence: int
    subject: bool = False  # whether it opens its sentence
    determiner: str = ""
    of: tuple[str, ...] = ()  # the content words of a following phrase with `of`
    role: str = ""  # the noun before a name, as in `the surveyor Ann Hill`
    place: bool = False  # whether it is a name after `in`, `at` ...
    capitals: bool = False  # whether it is a name with an acronym in it
    ends: int = 0  # the index of the word after it, within its passage
    begins: int = 0

    @property
    def head(self) -> str:
        return self.words[-1]


def cut(passages: Sequence[str]) -> list[list[Word]]:
    """The words and punctuation marks of each passage, with sentences numbered across the document."""
    chunks: list[list[Word]] = []
    sentence = 0
    for text in passages:
        row: list[Word] = []
        opens = True
        sentence += 1
        for match in _PIECE.finditer(text):
            piece = match.group()
            if row and not opens and "\n" in text[row[-1].end : match.start()]:
                opens, sentence = True, sentence + 1
            row.append(Word(piece, piece.lower(), match.start(), match.end(), sentence, opens))
            if piece not in "\"'“”‘’()[]-–*":
                opens = False
            if piece in _ENDS and not (len(row) > 1 and row[-2].lower in words.TITLES):
                opens, sentence = True, sentence + 1
        chunks.append(row)
    return chunks


class Vocabulary(NamedTuple):
    """Evidence from the document about words whose capital may be due to the start of a sentence."""

    common: frozenset[str]  # words that occur in lowercase
    proper: frozenset[str]  # words that occur capitalised inside a sentence


def vocabulary(rows: Sequence[Sequence[Word]]) -> Vocabulary:
    every = [word for row in rows for word in row]
    common = frozenset(word.text for word in every if word.text.islower())
    proper = frozenset(
        word.lower for word in every if not word.opens and _large(word) and word.lower not in words.STOPS
    )
    return Vocabulary(common, proper)


def phrases(passage: int, row: Sequence[Word], known: Vocabulary) -> Iterator[Phrase]:
    """Yields the mentions of a passage in the order of their start; they are not nested."""
    at = 0
    while at < len(row):
        phrase = (
            _pronoun(passage, row, at)
            or _name(passage, row, at, at, known)
            or _noun_phrase(passage, row, at, known)
        )
        if phrase is None:
            at += 1
        else:
            yield phrase
            at = phrase.ends


def _pronoun(passage: int, row: Sequence[Word], at: int) -> Phrase | None:
    word = row[at]
    if word.lower not in words.PRONOUNS or (word.text.isupper() and len(word.text) > 1):
        return None
    if word.lower == "it" and _empty(row, at):
        return None
    return _phrase(passage, row, at, at + 1, "pronoun", (word.lower,))


_CLAUSE = frozenset("to that if whether when who because for".split())
_WEATHER = frozenset(
    "takes took seems seemed appears appeared means turns depends says said follows matter matters take seem "
    "appear mean turn depend".split()
)


def _empty(row: Sequence[Word], at: int) -> bool:
    """Whether the `it` at index `at` refers to nothing, as in `it is said that`, `it takes`, `it may be
    possible to`."""
    after = [word.lower for word in row[at + 1 : at + 10] if word.sentence == row[at].sentence]
    while after and after[0] in words.AUXILIARIES - {"is", "was", "be", "been"} | {"not", "t"}:
        after = after[1:]  # skips the auxiliaries of `it will not take`, `it does not matter`
    if after and after[0] in _WEATHER:
        return True
    copula = {"is", "was", "be", "been", "'s", "’s"}
    return bool(after and after[0] in copula and _CLAUSE & set(after[1:6]))


def _name(passage: int, row: Sequence[Word], begins: int, at: int, known: Vocabulary) -> Phrase | None:
    """The name at index `at`, as a phrase that begins at `begins` with its determiner and role; None if no
    name stands there."""
    if not _starts_name(row, at, known):
        return None
    end = at + 1
    while end < len(row) and row[end].sentence == row[at].sentence:
        if _continues(row, end):
            end += 1
        elif end + 1 < len(row) and _continues(row, end + 1) and _joins(row, at, end):
            end += 2
        else:
            break
    spoken = [word.lower.rstrip(".") for word in row[at:end]]
    if all(word in words.CALENDAR for word in spoken) or (len(spoken) > 6 and _shouted(row[at:end])):
        return None
    if row[at].lower in words.TITLES and len(spoken) == 1:
        return None
    before = row[begins - 1].lower if begins else ""
    phrase = _phrase(passage, row, begins, end, "name", tuple(spoken))
    return phrase._replace(
        place=before in words.PLACES and len(spoken) <= 2,  # three words are no place: Hill & Sons
        capitals=any(word.text.isupper() and len(word.text) > 2 for word in row[at:end])
        or row[at].text in ("UK", "US", "EU"),
    )


def _starts_name(row: Sequence[Word], at: int, known: Vocabulary) -> bool:
    word = row[at]
    if not _large(word) or word.lower in (words.STOPS if word.opens else words.NO_NAMES):
        return False
    if not word.opens:
        return True
    if word.lower in known.proper:
        return True
    follows = at + 1 < len(row) and (_continues(row, at + 1) or row[at + 1].text == "&")
    return follows and word.lower not in known.common


def _large(word: Word) -> bool:
    return word.text[0].isupper() and (len(word.text) > 1)


def _continues(row: Sequence[Word], at: int) -> bool:
    word = row[at]
    return _large(word) and (word.lower not in words.NO_NAMES or word.text.isupper())


def _joins(row: Sequence[Word], begins: int, at: int) -> bool:
    """Whether the word at `at` may be inside a name, as in Hill & Sons, Bank of England, Department for
    Work."""
    word, before = row[at].lower, row[at - 1].lower
    if word in _INNER:
        return True
    if word in ("of", "for"):
        return before in words.GROUPS or before in ("bank", "house", "kingdom", "isle")
    if word == "and":
        return any(item.lower in ("of", "for") for item in row[begins:at])
    return False


def _shouted(row: Sequence[Word]) -> bool:
    return all(word.text.isupper() for word in row if word.text.isalpha())


def _noun_phrase(passage: int, row: Sequence[Word], at: int, known: Vocabulary) -> Phrase | None:
    """The noun phrase that begins at index `at`, such as `the old firm` or `a firm of builders`. If the
    phrase ends with a name, as in `the surveyor Ann Hill`, the result is the name. None if no phrase begins
    there."""
    first = row[at].lower
    definite = first in words.DEFINITE
    if not (definite or first in words.INDEFINITE or first in words.POSSESSIVE):
        return None
    if first == "that" and not row[at].opens and _is_content(row[at - 1]):
        return None  # `that` is no determiner in `the order that appointed you`
    end = _nouns_end(row, at + 1)
    spoken = tuple(word.lower for word in row[at + 1 : end])
    role = spoken[-1] if spoken else ""
    # `the surveyor Ann Hill` and `the ship Gannet` have a role before a name; `the form HMRC sent` has not
    role_like = _is_role(role) or (first == "the" and end < len(row) and not row[end].text.isupper())
    if end < len(row) and row[end].sentence == row[at].sentence and (not spoken or role_like):
        name = _name(passage, row, at if spoken else end, end, known)
        if name is not None:
            return name._replace(determiner=first, role=role)
    if not spoken or first in words.POSSESSIVE:
        return None
    phrase = _phrase(passage, row, at, end, "noun", spoken)
    return phrase._replace(determiner=first, of=_complement(row, end))


def _is_content(word: Word) -> bool:
    return word.text.isalpha() and word.lower not in words.STOPS


def _nouns_end(row: Sequence[Word], at: int) -> int:
    """The index after the nouns and adjectives that begin at `at`: a verb, a function word or a mark ends
    them."""
    begins = at
    while at < len(row) and at - begins < _LONGEST:
        word = row[at]
        if not word.text.replace("-", "").isalpha() or word.lower in words.STOPS or _large(word):
            break
        if at > begins and _verbal(row, at):
            break
        if word.lower.endswith("ly") and word.lower not in ("family", "assembly", "reply", "supply", "ally"):
            break
        at += 1
    return at


def _verbal(row: Sequence[Word], at: int) -> bool:
    """Whether the word at `at`, which follows a noun, looks like a verb."""
    lower = row[at].lower
    if lower.endswith(("ed", "ing")) and len(lower) > 4:
        return not lower.endswith(("building", "meeting", "hearing", "training", "wedding"))
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and at + 1 < len(row):
        after = row[at + 1].lower
        return after in words.DEFINITE | words.INDEFINITE | words.POSSESSIVE | words.PRONOUNS | {"you", "not"}
    return False


def _is_role(noun: str) -> bool:
    return noun in words.PEOPLE or noun in words.GROUPS or noun.endswith(("er", "or", "ist", "ian", "man"))


def _complement(row: Sequence[Word], at: int) -> tuple[str, ...]:
    """The content words of a phrase like `of the old town` at `at`; empty if there is none."""
    if at >= len(row) or row[at].lower != "of":
        return ()
    at += 1
    while at < len(row) and row[at].lower in words.DEFINITE | words.INDEFINITE | words.POSSESSIVE:
        at += 1
    words_after: list[str] = []
    while at < len(row) and len(words_after) < _LONGEST and row[at].text.replace("-", "").isalpha():
        if row[at].lower in words.STOPS:
            break
        words_after.append(row[at].lower)
        at += 1
    return tuple(words_after)


def _phrase(
    passage: int,
    row: Sequence[Word],
    begins: int,
    end: int,
    kind: Literal["name", "noun", "pronoun"],
    spoken: tuple[str, ...],
) -> Phrase:
    first, last = row[begins], row[end - 1]
    subject = first.opens
    return Phrase(
        passage, first.start, last.end, kind, spoken, first.sentence, subject, begins=begins, ends=end
    )
