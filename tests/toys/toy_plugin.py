"""A third party's plugin for the tests: small, and slow or faulty on request."""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness import hookimpl
from harness.records import Context, Dataset, NoParams, Reranker, Retriever, param
from harness.types import Addition, Card, Document, Edit, Hits, Inputs, Judgement, Passage, Query

WORDS = "amber basalt cedar delta ember fjord grove heath islet jetty knoll lagoon marsh notch oxbow".split()


@dataclass(frozen=True)
class Collection:
    documents: int = param(12, "how many documents, of three passages each")
    split: str = param("test", "the split")
    language: str = param("en", "the declared language")
    fault: Literal["none", "planning", "reading"] = param("none", "where it fails")


class Toy:
    def __init__(self, params: Collection) -> None:
        self.params = params
        if params.fault == "planning":
            raise RuntimeError("the toy was asked to fail")

    def card(self) -> Card:
        return Card(self.params.language, self.params.split, licence="CC0-1.0")

    def inputs(self, part: str) -> Inputs:
        params = {"documents": self.params.documents, "fault": self.params.fault}
        return Inputs(params if part == "corpus" else {**params, "split": self.params.split})

    def documents(self) -> Iterable[Document]:
        if self.params.fault == "reading":
            raise RuntimeError("the toy was asked to fail")
        for i in range(self.params.documents):
            names = [WORDS[(i * 7 + j) % len(WORDS)] for j in range(4)]
            passages = tuple(
                Passage(
                    f"d{i}-{j}", f"the {names[j]} near the {names[j + 1]} number {i}", j < 2 or i % 2 == 0
                )
                for j in range(3)
            )
            yield Document(f"d{i}", f"{names[0]} and {names[1]}", passages)

    def queries(self) -> Iterable[Query]:
        for i in range(self.params.documents):
            word = WORDS[(i * 7) % len(WORDS)]
            exclude = ("d0-0",) if i == 3 else ()
            yield Query(f"q{i}", f"{word} number {i}", ("even",) if i % 2 == 0 else (), exclude)

    def judgements(self) -> Iterable[Judgement]:
        for i in range(self.params.documents):
            yield Judgement(f"q{i}", f"d{i}-0", 2)
            yield Judgement(f"q{i}", f"d{i}-1", 1)


@dataclass(frozen=True)
class Overlap:
    weight: float = param(1.0, "of every shared word")
    fault: Literal["none", "raise", "hang", "die", "nan", "twice", "range", "shape"] = param(
        "none", "what goes wrong"
    )
    seconds: float = param(0.0, "how long indexing takes")


class OverlapIndexer:
    """Scores a passage by the number of words that it shares with the query."""

    def __init__(self, params: Overlap) -> None:
        self.params = params

    def index(self, texts, folder: Path) -> None:
        _count("index")
        time.sleep(self.params.seconds)
        while not Path(os.environ.get("OVERLAP_WAITS_FOR", folder)).exists():
            time.sleep(0.02)
        if self.params.fault == "raise":
            raise ValueError("the toy was asked to fail")
        if self.params.fault == "hang" or "OVERLAP_HANGS" in os.environ:
            time.sleep(600)
        if self.params.fault == "die":
            os.kill(os.getpid(), 9)
        with (folder / "index.tsv").open("w", encoding="utf-8") as out:
            for batch in texts.batches(size=4):
                for position, text in zip(batch.positions.tolist(), batch.texts, strict=True):
                    out.write(f"{position}\t{text}\n")

    def open(self, texts, folder: Path):
        return OverlapSearcher(self.params, folder, texts.unit)


class OverlapSearcher:
    def __init__(self, params: Overlap, folder: Path, unit: str) -> None:
        self.params = params
        self.unit = unit
        lines = (folder / "index.tsv").read_text(encoding="utf-8").split("\n")
        self.texts = {
            int(line.split("\t")[0]): set(line.split("\t")[1].split()) for line in lines if "\t" in line
        }
        _count("open")

    def search(self, queries: Sequence[str], k: int, within=None) -> Hits:
        import numpy as np

        passages = np.full((len(queries), k), -1, np.int64)
        scores = np.full((len(queries), k), -np.inf, np.float32)
        for i, query in enumerate(queries):
            words = set(query.split())
            allowed = self.texts if within is None else set(within[i].tolist()) & set(self.texts)
            hits = sorted((-self.params.weight * len(words & self.texts[p]), p) for p in allowed)
            for rank, (score, position) in enumerate(hits[:k]):
                passages[i, rank], scores[i, rank] = position, -score
        fault = self.params.fault
        if fault == "nan":
            scores[0, 0] = np.nan
        elif fault == "twice":
            passages[0, 1] = passages[0, 0]
        elif fault == "range":
            passages[0, 0] = 10**9
        elif fault == "shape":
            passages, scores = passages[:1], scores[:1]
        return Hits(passages, scores, self.unit)


class Shout:
    """Adds the document's id as a prefix, and an exclamation mark within each passage."""

    def augment(self, documents: Iterable[Document]) -> Iterable[Addition]:
        for document in documents:
            edits = tuple((Edit(3, 3, "!"),) for _ in document.passages)
            yield Addition(f"about {document.id}", edits=edits)


class Length:
    """Prefers short passages."""

    def index(self, texts, folder: Path) -> None: ...

    def open(self, texts, folder):
        self.texts = texts
        return self

    def score(self, queries, candidates):
        import numpy as np

        lengths = [
            [len(self.texts.take(np.array([max(p, 0)]))[0]) for p in row] for row in candidates.tolist()
        ]
        return -np.array(lengths, np.float32).reshape(candidates.shape)


def _count(what: str) -> None:
    """Append a line to the file that TOY_COUNTS names."""
    if "TOY_COUNTS" in os.environ:
        with Path(os.environ["TOY_COUNTS"]).open("a", encoding="utf-8") as out:
            out.write(f"{what}\n")


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(name="toy", summary="a few words", build=Toy, params=Collection)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="overlap",
        summary="words in common",
        build=OverlapIndexer,
        params=Overlap,
        search_only=("weight",),
    )


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(name="shout", summary="the document's id", build=lambda params: Shout(), params=NoParams)


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield Reranker(name="length", summary="short ones first", build=lambda params: Length(), params=NoParams)
