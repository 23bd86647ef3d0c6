"""A dataset and a retriever that misbehave while a suite is planned."""

import os
import signal
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toy_plugin import Collection, Overlap, OverlapIndexer, Toy

from harness import hookimpl
from harness.records import Dataset, Retriever, param
from harness.types import Card, Inputs, Judgement


@dataclass(frozen=True)
class Odd:
    how: str = param("none", "the name of a way below")


class OddSource(Toy):
    def __init__(self, params: Odd) -> None:
        super().__init__(Collection())
        self.how = params.how

    def card(self) -> Any:
        if self.how == "exit":
            sys.exit(5)
        if self.how == "hang":
            time.sleep(600)
        while self.how == "stubborn":
            try:
                time.sleep(600)
            except Exception:  # as who tries a download again
                continue
        if self.how == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "leave":
            os._exit(7)
        if self.how == "base":
            raise BaseException("of no other kind")
        if self.how == "lines":
            raise ValueError("the first line\nand what to do about it")
        return {"type": 17, "field": Card(17, "test")}.get(self.how, super().card())

    def inputs(self, part: str) -> Any:
        if self.how == "leave-inputs":
            os._exit(7)
        odd = {"inputs": [], "files": Inputs({}, ("a text",)), "params": Inputs({"a": {1, 2}})}
        return odd.get(self.how, super().inputs(part))

    def judgements(self) -> Any:
        yield from super().judgements()
        if self.how == "stray":
            yield Judgement("a query of nobody", "a passage", 1)


def resolve(params: Odd, facts: object) -> Any:
    if params.how == "leave-resolve":
        os._exit(7)
    return 17 if params.how == "resolve" else params


def missing_files(params: Odd) -> Any:
    if params.how == "leave-missing_files":
        os._exit(7)
    return {"missing": 17, "needs": [17]}.get(params.how, ())


def depends_on(params: Odd) -> Any:
    if params.how == "leave-depends_on":
        os._exit(7)
    return [("analysers",)] if params.how == "depends" else ()


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    yield Dataset(name="odd-dataset", summary="misbehaves", build=OddSource, params=Odd)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="odd-method",
        summary="misbehaves",
        build=lambda params: OverlapIndexer(Overlap()),
        params=Odd,
        resolve=resolve,
        missing_files=missing_files,
        depends_on=depends_on,
    )
