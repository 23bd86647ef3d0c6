"""The dataset `dapr-original`: makes DAPR's collections from their own original releases (appendix A)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.plugin import Card, Document, Inputs, Judgement, Part, Query
from harness_dapr import OriginalParams
from harness_dapr.source import CITATION, LICENCES, official


class Labelled(NamedTuple):
    id: str
    text: str
    positives: tuple[str, ...]  # ids of passages, each once


class Reader(Protocol):
    """A reader of the files of one collection, by the rules of the paper's appendix A."""

    url: str
    notes: tuple[str, ...]

    def files(self, part: Part) -> tuple[Path, ...]:
        """The files that a part is made from."""
        ...

    def documents(self) -> Iterator[Document]: ...

    def labelled(self) -> Iterator[Labelled]:
        """The queries of the split with their positives."""
        ...


class Original:
    def __init__(self, params: OriginalParams) -> None:
        self._params = params
        self._reader = _reader(params)

    def card(self) -> Card:
        name, split, reader = self._params.dataset, self._params.split, self._reader
        return Card(
            "en", split, None, LICENCES[name], CITATION, reader.url, reader.notes, official(name, split)
        )

    def inputs(self, part: Part) -> Inputs:
        params = self._params
        values = {"dataset": params.dataset, "train": params.train}
        return Inputs(
            values if part == "corpus" else {**values, "split": params.split}, self._reader.files(part)
        )

    def documents(self) -> Iterator[Document]:
        return self._reader.documents()

    def queries(self) -> Iterator[Query]:
        for item in self._reader.labelled():
            yield Query(item.id, item.text)

    def judgements(self) -> Iterator[Judgement]:
        for item in self._reader.labelled():
            for passage in item.positives:
                yield Judgement(item.id, passage, 1)


def _reader(params: OriginalParams) -> Reader:
    if params.dataset == "ConditionalQA":
        from harness_dapr.conditionalqa import ConditionalQA

        return ConditionalQA(params)
    if params.dataset == "NaturalQuestions":
        from harness_dapr.natural_questions import NaturalQuestions

        return NaturalQuestions(params)
    if params.dataset == "MIRACL":
        from harness_dapr.miracl import Miracl

        return Miracl(params)
    from harness_dapr.msmarco import MsMarco

    return MsMarco(params)
