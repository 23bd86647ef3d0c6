"""The resolver `xrenner`: its rules over the dependency parses of a spaCy pipeline (Zeldes & Zhang 2016)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import spacy
from xrenner import Xrenner

from harness.plugin import HarnessError
from harness_coreference.contract import Cluster, Mention

_BRACKET = re.compile(r"\((\d+)\)|\((\d+)|(\d+)\)")
_LONGEST = 100_000  # the most characters of a passage that are parsed; the rest has no mentions


class Token(NamedTuple):
    passage: int
    start: int
    end: int


class Parsed:
    """A resolver by xrenner's English model with OntoNotes' conventions, without its neural parts."""

    def __init__(self, pipeline: str) -> None:
        try:
            self._parser = spacy.load(pipeline, exclude=["ner"])
        except OSError as error:
            what = str(error).splitlines()[0]
            raise HarnessError(f"coreference: spaCy cannot load the pipeline '{pipeline}': {what}") from None
        self._rules = Xrenner(model="eng", override="OntoNotes", rule_based=True, no_seq=True)
        for file in self._rules.lex.model_files.values():  # xrenner has read these files and leaves them open
            file.close()
        # This filter unifies the types of a chain's mentions, which go unused, and fails on empty chains.
        self._rules.lex.filters["force_single_type_chains"] = False

    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        tokens: list[Token] = []
        lines: list[str] = []
        parsed = self._parser.pipe([text[:_LONGEST] for text in passages])
        for number, document in enumerate(parsed):
            for sentence in document.sents:
                words = [word for word in sentence if not word.is_space]
                tokens += [Token(number, word.idx, word.idx + len(word)) for word in words]
                lines += [*_rows(words), ""] if words else []
        if not tokens:
            return []
        annotated = self._rules.analyze("\n".join(lines) + "\n", "conll")
        spans = list(_spans(annotated, len(tokens)))
        mentions_of: dict[int, set[Mention]] = defaultdict(set)
        for thing, first, last in spans:
            begins, ends = tokens[first], tokens[last]
            if begins.passage == ends.passage:
                mentions_of[thing].add(Mention(begins.passage, begins.start, ends.end))
        return sorted(tuple(sorted(mentions)) for mentions in mentions_of.values() if len(mentions) > 1)


def _rows(words: Sequence[Any]) -> Iterator[str]:
    """Yields the words of a sentence as rows of ten columns. If a word's head is white space, the head of
    that white space replaces it."""
    numbers = {word.i: number for number, word in enumerate(words, start=1)}
    for word in words:
        head = word.head
        while head.i not in numbers and head.head.i != head.i:
            head = head.head
        root = head.i == word.i or head.i not in numbers
        relation = "root" if root else word.dep_
        text, lemma = word.text.replace("\t", " "), word.lemma_.replace("\t", " ")
        at = 0 if root else numbers[head.i]
        yield f"{numbers[word.i]}\t{text}\t{lemma}\t{word.tag_}\t{word.tag_}\t_\t{at}\t{relation}\t_\t_"


def _spans(annotated: str, count: int) -> Iterator[tuple[int, int, int]]:
    """Yields (thing, first token, last token) for each mention in CoNLL's brackets."""
    rows = [line.split("\t") for line in annotated.splitlines() if line and not line.startswith("#")]
    if len(rows) != count:
        raise ValueError(f"xrenner returned {len(rows)} tokens for {count}")
    open_since: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        for match in _BRACKET.finditer(row[-1]):
            alone, begins, ends = match.groups()
            if alone:
                yield int(alone), number, number
            elif begins:
                open_since[int(begins)].append(number)
            elif open_since[int(ends)]:
                yield int(ends), open_since[int(ends)].pop(), number
