"""One plugin of every kind for each way to misbehave: `retrievers` offers `retriever-hang` and so on."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from toy_plugin import Collection, Length, Overlap, OverlapIndexer, Shout, Toy

from harness import hookimpl
from harness.findings import Finding
from harness.records import Analysis, Combiner, Context, Dataset, Measure, NoParams, Reranker, Retriever
from harness.types import Addition, Edit, Hits, Judgement


def fail() -> None:
    raise ValueError("asked to fail")


def hang() -> None:
    time.sleep(600)


def leave() -> None:
    sys.exit(5)


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fork() -> None:
    if os.fork() == 0:
        time.sleep(600)


def flood() -> None:
    for _ in range(100):
        os.write(1, b"x" * 99_999 + b"\n")


def hoard() -> None:
    kept = [np.ones(100_000_000 // 8) for _ in range(10)]  # 1 GB, until it is seen
    time.sleep(600)
    del kept


# what happens before the work is done
ACTS: dict[str, Callable[[], None]] = {
    "raise": fail, "sys.exit": leave, "segfault": segfault, "hang": hang, "memory": hoard, "fork": fork,
    "output": flood,
}  # fmt: skip
WAYS = (*ACTS, "type", "nan", "contract")  # these three return something wrong


def act(way: str) -> None:
    ACTS.get(way, lambda: None)()


class Documents(Toy):
    def __init__(self, way: str) -> None:
        super().__init__(Collection())
        self.way = way

    def documents(self) -> Iterable[Any]:
        act(self.way)
        if self.way == "type":
            return iter(["a text"])
        return super().documents()

    def judgements(self) -> Iterable[Any]:
        for judgement in super().judgements():
            yield judgement._replace(grade=float("nan")) if self.way == "nan" else judgement
        if self.way == "contract":
            yield Judgement("a query of nobody", "d0-0", 1)


class Augmenter(Shout):
    def __init__(self, way: str) -> None:
        self.way = way

    def augment(self, documents: Iterable[Any]) -> Iterable[Any]:
        act(self.way)
        if self.way == "nan":
            return [Addition(float("nan")) for _ in documents]  # type: ignore[arg-type]
        if self.way == "contract":
            overlapping = (Edit(0, 3, "a"), Edit(1, 4, "b"))
            return [Addition("", edits=tuple(overlapping for _ in item.passages)) for item in documents]
        return ["a text"] * len(list(documents)) if self.way == "type" else super().augment(documents)


class Searcher:
    def __init__(self, way: str, searcher: Any) -> None:
        self.way, self.searcher = way, searcher

    def search(self, queries: Any, k: int, within: Any = None) -> Any:
        act(self.way)
        return spoilt(self.way, self.searcher.search(queries, k, within))


class Indexer(OverlapIndexer):
    def __init__(self, way: str) -> None:
        super().__init__(Overlap())
        self.way = way

    def open(self, texts: Any, folder: Any) -> Any:
        return Searcher(self.way, super().open(texts, folder))


class Judge(Length):
    def __init__(self, way: str) -> None:
        self.way = way

    def score(self, queries: Any, candidates: Any) -> Any:
        act(self.way)
        scores = super().score(queries, candidates)
        if self.way == "type":
            return scores.tolist()
        if self.way == "contract":
            return scores[:1]
        return np.full_like(scores, np.nan) if self.way == "nan" else scores


class Fuser:
    def __init__(self, way: str) -> None:
        self.way = way

    def combine(self, inputs: Any, k: int, structure: Any) -> Any:
        act(self.way)
        hits = inputs[0]
        if self.way == "contract":
            return with_candidates_that_no_input_found(inputs)
        return spoilt(self.way, Hits(hits.passages[:, :k], hits.scores[:, :k], hits.unit))


def with_candidates_that_no_input_found(inputs: Any) -> Hits:
    """The hits of the first input, with another candidate in the place of each query's last one."""
    passages = inputs[0].passages.copy()
    for row in range(len(passages)):
        known = {position for hits in inputs for position in hits.passages[row].tolist()}
        passages[row, -1] = next(place for place in range(36) if place % 3 < 2 and place not in known)
    return inputs[0]._replace(passages=passages)  # type: ignore[no-any-return]


class Analyst:
    def __init__(self, way: str) -> None:
        self.way = way

    def analyse(self, data: Any) -> Iterable[Any]:
        act(self.way)
        if self.way == "type":
            return ["a text"]
        if self.way == "contract":
            return [Finding(name="ragged", title="ragged", kind="table", columns=("a", "b"), rows=((1,),))]
        cell = float("nan") if self.way == "nan" else 1.0
        return [Finding(name=self.way, title=self.way, kind="table", columns=("a",), rows=((cell,),))]


def spoilt(way: str, hits: Hits) -> Any:
    if way == "type":
        return hits.passages.tolist()
    if way == "nan":
        return hits._replace(scores=np.full_like(hits.scores, np.nan))
    if way == "contract":  # one passage many times
        return hits._replace(passages=np.repeat(hits.passages[:, :1], hits.passages.shape[1], axis=1))
    return hits


def measure(way: str) -> Callable[..., Any]:
    def compute(grades: Any, ideal: Any, rel: int, cutoff: int | None) -> Any:
        act(way)
        if way == "type":
            return ["a text"]
        if way == "contract":  # a numerator for half of the queries
            return np.ones(len(grades) // 2), np.ones(len(grades))
        return np.full(len(grades), np.nan if way == "nan" else 1.0), np.ones(len(grades))

    return compute


def records(kind: type, name: str, build: Callable[[str], Any], **more: Any) -> Iterable[Any]:
    for way in WAYS:
        made = (lambda params, way=way: build(way)) if kind is not Measure else (lambda way=way: build(way))
        called = f"{name}-{way}" if kind is not Measure else f"{name}{way.replace('.', '').title()}"
        yield kind(name=called, summary="misbehaves", build=made, **more)


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield from records(Dataset, "dataset", Documents, params=NoParams)


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield from records(Context, "context", Augmenter, params=NoParams)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield from records(Retriever, "retriever", Indexer, params=NoParams)


@hookimpl
def harness_rerankers() -> Iterable[Reranker]:
    yield from records(Reranker, "reranker", Judge, params=NoParams)


@hookimpl
def harness_combiners() -> Iterable[Combiner]:
    yield from records(Combiner, "combiner", Fuser, params=NoParams)


@hookimpl
def harness_analyses() -> Iterable[Analysis]:
    yield from records(Analysis, "analysis", Analyst, params=NoParams)


@hookimpl
def harness_measures() -> Iterable[Measure]:
    yield from records(Measure, "Measure", measure)
