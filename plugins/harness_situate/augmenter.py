"""The context-augmenter `situate`: makes the prompts, and the prefixes of passages from the answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from harness.plugin import Addition, Document
from harness.toolkit.text.sentences import sentences
from harness_situate import Situate
from harness_situate.windows import shortened, shown, windows

FIELD = re.compile(r"\{(title|document|passage)\}")
PART = 4  # a passage fills at most this part of the room for its document


class Answer(NamedTuple):
    text: str
    cut: bool  # whether it was cut at max_tokens


class Writer(Protocol):
    together: int  # documents whose questions are asked together

    def length(self, text: str) -> int:
        """The tokens of the text, or an estimate."""
        ...

    def write(self, groups: Sequence[Sequence[str]]) -> list[list[Answer]]:
        """The answer to each prompt. The prompts of a group begin alike."""
        ...


def writer(params: Situate) -> Writer:
    if params.service is not None:
        from harness_situate.by_service import Asking

        return Asking(params, params.service)
    from harness_situate.by_model import Local

    return Local(params)


class Asked(NamedTuple):
    """The prompts about one document: a group for each window, with the passages that it asks about."""

    passages: list[list[int]]
    prompts: list[list[str]]
    counts: Counter[str]


class Augmenter:
    def __init__(self, params: Situate) -> None:
        self._params, self._writer = params, writer(params)

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        every = iter(documents)
        while batch := list(islice(every, self._writer.together)):
            asked = [self._asked(document) for document in batch]
            answers = iter(self._writer.write([group for one in asked for group in one.prompts]))
            for document, one in zip(batch, asked, strict=True):
                prefixes = [""] * len(document.passages)
                for group in one.passages:
                    for i, answer in zip(group, next(answers), strict=True):
                        prefixes[i] = cleaned(answer, document.passages[i].text, one.counts)
                yield Addition(prefixes=tuple(prefixes), counts=dict(one.counts))

    def _asked(self, document: Document) -> Asked:
        """The prompts about a document. Nothing is asked about passages without text and those that are not
        retrieved, nor about the only passage of a document."""
        room, length = self._params.document_length, self._writer.length
        filled = {i for i, passage in enumerate(document.passages) if passage.text.strip()}
        if len(filled) < (1 if self._params.single else 2):
            return Asked([], [], Counter(documents_of_one_passage=1))
        texts = [shortened(passage.text, room - 1, length) for passage in document.passages]
        cut = windows([length(text) + 1 for text in texts], room)  # 1: the end of the line
        groups = [
            [i for i in window.asked if i in filled and document.passages[i].candidate] for window in cut
        ]
        prompts = [
            self._prompts(document, texts, share, group)
            for share, group in zip(shown(texts, cut), groups, strict=True)
        ]
        whole = len(cut) == 1 and all(
            text == passage.text for text, passage in zip(texts, document.passages, strict=True)
        )
        return Asked(groups, prompts, Counter() if whole else Counter(documents_cut=1))

    def _prompts(
        self, document: Document, texts: Sequence[str], share: str, group: Sequence[int]
    ) -> list[str]:
        room, length = self._params.document_length, self._writer.length
        values = {"title": shortened(document.title, room // PART, length), "document": share}
        prompts: list[str] = []
        for i in group:
            values["passage"] = shortened(texts[i], room // PART, length)
            prompts.append(FIELD.sub(lambda match: values[match[1]], self._params.prompt))
        return prompts


def cleaned(answer: Answer, passage: str, counts: Counter[str]) -> str:
    """The sentences of an answer without those that the passage itself has, that were said before, that
    introduce the answer, or that were cut off while others are whole. `counts` gets what was mended."""
    given = list(dict.fromkeys(sentences(answer.text)))
    kept = given[:-1] if answer.cut and len(given) > 1 else given
    if len(kept) > 1 and kept[0].endswith((":", "：")):
        kept = kept[1:]
        counts["answers_with_preamble"] += 1
    new = [sentence for sentence in kept if sentence not in passage]
    counts["answers_cut"] += answer.cut
    counts["answers_repeating_the_passage"] += len(new) < len(kept)
    counts["answers_empty"] += not new
    return " ".join(new)
