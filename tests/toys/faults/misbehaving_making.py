"""Trainers, makers, rewriters and analysers for each way to misbehave, and two retrievers that use them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from misbehaving import act, records
from toy_plugin import Overlap, OverlapIndexer

from harness import hookimpl
from harness.records import Analyser, Maker, NoParams, Retriever, Rewriter, Trainer, param
from harness.toolkit.text import analysis
from harness.types import Made, Rewritten


class Teacher:
    def __init__(self, way: str) -> None:
        self.way = way

    def train(self, examples: Any, folder: Path, training: Any) -> Any:
        act(self.way)
        if self.way != "contract":
            (folder / "model").mkdir()
            (folder / "model" / "weights").write_text("learnt")
        return "a text" if self.way == "type" else {"loss": float("nan") if self.way == "nan" else 0.5}


class Stage:
    def __init__(self, way: str) -> None:
        self.way = way

    def make(self, given: Any) -> Any:
        act(self.way)
        if self.way == "type":
            return ["a text"]
        if self.way == "contract":
            return Made(queries=given.asked())
        grade = {"grade": float("nan")} if self.way == "nan" else {}
        return Made(judgements=(judgement._replace(**grade) for judgement in given.judged()))


class Writer:
    def __init__(self, way: str) -> None:
        self.way = way

    def open(self, texts: Any, folder: Any, searcher: Any) -> Writer:
        return self

    def rewrite(self, queries: Sequence[str], feedback: Any) -> Any:
        act(self.way)
        if self.way == "type":
            return list(queries)
        if self.way == "contract":
            return Rewritten(texts=list(queries[1:]))
        return Rewritten(texts=[float("nan") if self.way == "nan" else query for query in queries])  # type: ignore[misc]


def analyse(way: str) -> Any:
    acted: list[str] = []

    def terms(text: str) -> Any:
        if not acted:
            acted.append(way)
            act(way)
        odd = {"type": text, "nan": [float("nan")], "contract": ["a term", ""]}
        return odd.get(way, text.split())

    return terms


@dataclass(frozen=True)
class Learnt:
    model: Path | str = param(help="a folder, or a made model")


@dataclass(frozen=True)
class Analysed:
    analyser: str = param(help="the name of an analyser")


class OfModel(OverlapIndexer):
    def __init__(self, params: Learnt) -> None:
        super().__init__(Overlap())
        self.model = Path(params.model)

    def index(self, texts: Any, folder: Path) -> None:
        assert (self.model / "weights").read_text() == "learnt"
        super().index(texts, folder)


class OfTerms(OverlapIndexer):
    def __init__(self, params: Analysed) -> None:
        super().__init__(Overlap())
        self.analyser = params.analyser

    def index(self, texts: Any, folder: Path) -> None:
        vocabulary = analysis.Vocabulary(analysis.load(self.analyser))
        for _ in vocabulary.encode((batch.texts for batch in texts.batches()), threads=1):
            pass
        super().index(texts, folder)


@hookimpl
def harness_trainers() -> Iterable[Trainer]:
    yield from records(Trainer, "trainer", Teacher, params=NoParams)


@hookimpl
def harness_makers() -> Iterable[Maker]:
    yield from records(Maker, "maker", Stage, params=NoParams, changes=("judgements",))


@hookimpl
def harness_rewriters() -> Iterable[Rewriter]:
    yield from records(Rewriter, "rewriter", Writer, params=NoParams)


@hookimpl
def harness_analysers() -> Iterable[Analyser]:
    yield from records(Analyser, "analyser", analyse, params=NoParams)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(name="of-model", summary="needs a model", build=OfModel, params=Learnt)
    yield Retriever(
        name="of-terms",
        summary="indexes terms",
        build=OfTerms,
        params=Analysed,
        depends_on=lambda params: [("analysers", params.analyser)],
    )
