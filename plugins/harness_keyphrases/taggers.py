"""Taggers split a document's text into words, and say of each whether it is a noun or an adjective."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from harness_keyphrases.topicrank import Word

Tagger: TypeAlias = Callable[[str], list[Word]]


def embedded() -> Tagger:
    """The tagger for English that uses the weights in this package."""
    from harness_keyphrases import english

    fixed, weights = english.load()

    def tag(text: str) -> list[Word]:
        tagged: list[Word] = []
        at = 0
        for line in text.split("\n"):
            spans = english.tokens(line)
            classes = english.tag([line[start:end] for start, end in spans], fixed, weights)
            tagged += [
                Word(at + start, at + end, kind in english.KEPT)
                for (start, end), kind in zip(spans, classes, strict=True)
            ]
            at += len(line) + 1
        return tagged

    return tag


def spacy_(model: str) -> Tagger:
    """A tagger that uses the tokens and tags of the spaCy pipeline `model`."""
    import spacy

    nlp = spacy.load(model, exclude=["parser", "senter", "ner", "lemmatizer"])

    def tag(text: str) -> list[Word]:
        return [
            Word(token.idx, token.idx + len(token), token.pos_ in ("NOUN", "PROPN", "ADJ"))
            for token in nlp(text)
            if not token.is_space
        ]

    return tag


def jieba_() -> Tagger:
    """The tagger for Chinese, by jieba's words and parts of speech. It keeps nouns (n, nr, ns, nt, nz, ...,
    verbal vn), foreign words (eng) and adjectives (a, an, ag, b), but not adjectives used as adverbs (ad)."""
    from harness.toolkit.text.jieba_words import tokenizer
    from harness_keyphrases import chinese

    cut = chinese.Tagger(tokenizer()).lcut

    def tag(text: str) -> list[Word]:
        tagged: list[Word] = []
        at = 0
        foreign, space = False, False  # whether the last word was foreign, and whether a space follows it
        for word, flag in cut(text):
            if word.isspace():
                space = True
            else:
                # white space separates Chinese words like a mark, but not the words of a foreign name
                if space and not (foreign and flag == "eng"):
                    tagged.append(Word(at, at, False))
                kept = flag[0] == "n" or flag in ("vn", "eng", "a", "an", "ag", "b")
                tagged.append(Word(at, at + len(word), kept))
                foreign, space = flag == "eng", False
            at += len(word)
        return tagged

    return tag
