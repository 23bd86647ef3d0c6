"""Keeps the things of a document and their features, while the rules join the phrases that name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness_coreference import english_words as words
from harness_coreference.english_mentions import Phrase


class Entities:
    """The things that a document mentions. Each thing is a set of phrases that were joined (union-find), and
    its features combine those of its phrases."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self.phrases = phrases
        self._parents = list(range(len(phrases)))
        self._people = [_personhood(phrase) for phrase in phrases]
        self._genders = [_gender(phrase) for phrase in phrases]
        self._words = [_spoken(phrase) for phrase in phrases]
        self._named = [phrase.kind == "name" for phrase in phrases]

    def root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def join(self, one: int, other: int) -> None:
        one, other = sorted((self.root(one), self.root(other)))
        if one == other:
            return
        self._parents[other] = one
        self._people[one] += self._people[other]
        self._genders[one] = self._genders[one] or self._genders[other]
        self._words[one] = self._words[one] | self._words[other]
        self._named[one] = self._named[one] or self._named[other]

    def groups(self) -> list[list[Phrase]]:
        groups: dict[int, list[Phrase]] = defaultdict(list)
        for number, phrase in enumerate(self.phrases):
            groups[self.root(number)].append(phrase)
        return list(groups.values())

    def of_kind(self, kind: str) -> Iterator[tuple[int, Phrase]]:
        return ((number, phrase) for number, phrase in enumerate(self.phrases) if phrase.kind == kind)

    def person(self, number: int) -> float:
        """The personhood of the thing: above 0 it is possibly a person, from 2 on certainly."""
        return self._people[self.root(number)]

    def named(self, number: int) -> bool:
        return self._named[self.root(number)]

    def gender(self, number: int) -> str:
        return self._genders[self.root(number)]

    def is_a(self, number: int, gender: str) -> None:
        root = self.root(number)
        self._genders[root] = gender

    def vocabulary(self, number: int) -> frozenset[str]:
        """All words in the phrases of the thing."""
        return self._words[self.root(number)]

    def many(self, number: int) -> bool:
        phrase = self.phrases[number]
        if phrase.kind == "noun":
            return is_plural(phrase.head)
        return phrase.kind == "pronoun" and phrase.head in words.PLURAL

    def is_nameless_person(self, number: int) -> bool:
        """Whether `they` may mean this single person of unknown gender, such as a tenant or the child."""
        phrase = self.phrases[number]
        return phrase.kind == "noun" and self.person(number) > 0 and not self.gender(number)


_PLURALS = frozenset("people children men women police parents feet teeth mice".split())


def is_plural(noun: str) -> bool:
    return noun in _PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "news")))


def _spoken(phrase: Phrase) -> frozenset[str]:
    return frozenset((*phrase.words, *phrase.of, phrase.role)) - {""}


def _is_person(noun: str) -> bool:
    return noun in words.PEOPLE or noun.endswith(words.PERSON_ENDINGS)


def _personhood(phrase: Phrase) -> float:
    if phrase.kind == "pronoun":
        return 0
    if phrase.kind == "noun":
        return 2 if _is_person(phrase.head) else -1
    first = phrase.words[0]
    if phrase.role in words.GROUPS:
        return -4
    if first in words.TITLES or _role_of_person(phrase.role):
        return 4
    if "&" in phrase.words or set(phrase.words) & (words.GROUPS | words.FIRM_TAILS | words.THINGS):
        return -4
    if phrase.capitals:
        return 0
    is_given_name = first in words.MEN | words.WOMEN
    if phrase.determiner and not (is_given_name and phrase.role):
        return -2
    if len(phrase.words) == 1:
        return 1 if is_given_name else (-1 if phrase.place else 0)
    if is_given_name:
        return 2
    return -0.5 if phrase.place else 0.5


def _role_of_person(noun: str) -> bool:
    return _is_person(noun) or noun.endswith(("er", "or", "ist", "ian", "ant", "ent"))


def _gender(phrase: Phrase) -> str:
    spoken = {phrase.words[0], phrase.role} if phrase.kind == "name" else {phrase.words[-1]}
    if spoken & (words.MEN_TITLES | words.MEN_NOUNS | words.MEN):
        return "man"
    if spoken & (words.WOMEN_TITLES | words.WOMEN_NOUNS | words.WOMEN):
        return "woman"
    return ""
