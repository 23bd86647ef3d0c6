"""Made-up collections by a seeded generator: passages in documents, questions, and what answers them."""

import random
from typing import NamedTuple

from tiny_models import CHINESE

from harness.testing.texts import WORDS


class Passage(NamedTuple):
    id: str
    document: str
    place: int  # in the document
    title: str
    text: str


class Question(NamedTuple):
    id: str
    text: str
    positive: Passage
    answer: str  # words of the positive


class Collection(NamedTuple):
    passages: list[Passage]
    questions: list[Question]


def collection(
    name: str,
    *,
    documents: int = 10,
    each: int = 4,
    questions: int = 12,
    language: str = "en",
    asked: str | None = None,
    first: int = 0,
    id: str = "{document}-{place}",
) -> Collection:
    """A collection that depends on its arguments alone. A document has a theme, words that its passages share.
    `asked` is the language of the questions, `first` the number of the first question; `id` is the form of
    the passages' ids, from `document`, `place` and the passage's `number`."""
    chance = random.Random(name)
    passages: list[Passage] = []
    for document in range(documents):
        theme = _words(chance, language, 4)
        title = _joined(language, [*theme[:2], *_words(chance, language, 1)])
        for place in range(each):
            words = [*_words(chance, language, 10), *chance.sample(theme, 2)]
            chance.shuffle(words)
            number = id.format(document=document, place=place, number=document * each + place)
            # the number makes each text another, so that the questions have one answer
            text = _joined(language, [*words, str(1000 + document * each + place)]) + "."
            passages.append(Passage(number, str(document), place, title, text))
    asked_questions = []
    for number in range(first, first + questions):
        positive = passages[(number * 7) % len(passages)]
        if asked in (None, language):
            words = chance.sample(_tokens(language, positive.text), 4)
        else:
            words = [*_words(chance, asked or language, 4), _tokens(language, positive.text)[-1]]
        text = _joined(asked or language, [*words, f"{number:x}"])
        answer = _joined(language, _tokens(language, positive.text)[:2])
        asked_questions.append(Question(f"{name}-q{number}", text, positive, answer))
    return Collection(passages, asked_questions)


def _words(chance: random.Random, language: str, count: int) -> list[str]:
    if language == "zh":
        return ["".join(chance.sample(CHINESE, 2)) for _ in range(count)]
    return chance.sample(WORDS, count)


def _tokens(language: str, text: str) -> list[str]:
    text = text.rstrip(".")
    return (
        [text[at : at + 2] for at in range(0, len(text) - 4, 2)] + [text[-4:]]
        if language == "zh"
        else text.split()
    )


def _joined(language: str, words: list[str]) -> str:
    return "".join(words) if language == "zh" else " ".join(words)
