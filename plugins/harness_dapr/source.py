"""DAPR as the harness reads it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import pyarrow as pa

from harness.errors import HarnessError
from harness.toolkit.paths import first_there
from harness.toolkit.rows import documents_of
from harness.types import Card, Document, Inputs, Judgement, Part, Query
from harness_dapr import DaprParams
from harness_dapr.dump import Dump
from harness_dapr.hub import Hub
from harness_dapr.judged import digest, highest, merged
from harness_dapr.places import configuration

CITATION = "Wang et al., DAPR: A Benchmark on Document-Aware Passage Retrieval, ACL 2024"
URL = "https://huggingface.co/datasets/UKPLab/dapr"
LICENCES = {  # of the original datasets, as appendix A of the paper gives them
    "MSMARCO": "MIT, for non-commercial research",
    "NaturalQuestions": "CC BY-SA 3.0",
    "nq-hard": "CC BY-SA 3.0",
    "MIRACL": "Apache-2.0",
    "Genomics": "",
    "ConditionalQA": "CC BY-SA 4.0",
}


class Dapr:
    """One of the benchmark's datasets. The queries are all those of the split."""

    def __init__(self, params: DaprParams) -> None:
        self.params = params
        self._release = _release(params)

    def card(self) -> Card:
        return Card("en", self.params.split, None, LICENCES[self.params.dataset], CITATION, URL)

    def inputs(self, part: Part) -> Inputs:
        """Queries that share a file with judgements are addressed by what they say."""
        release = self._release
        form = {"form": type(release).__name__.lower(), "hard": self.params.dataset == "nq-hard"}
        if part == "corpus":
            return Inputs({"form": form["form"]}, release.corpus)
        if part == "judgements":
            return Inputs(form, release.judged)
        if release.queries_apart or self._asked_digest is None:
            return Inputs(form, release.asked)
        return Inputs({"asked": self._asked_digest})

    def rows(self) -> Iterator[pa.RecordBatch]:
        return self._release.rows()

    def locate(self, row: int) -> str:
        return self._release.locate(row)

    def documents(self) -> Iterator[Document]:
        return documents_of(self.rows())

    def queries(self) -> Iterator[Query]:
        return iter(merged(self._release.queries()))

    def judgements(self) -> Iterator[Judgement]:
        return iter(highest(self._release.judgements(), self.queries()))

    @cached_property
    def _asked_digest(self) -> str | None:
        """None where a file is not there yet."""
        return digest(self.queries()) if all(path.exists() for path in self._release.asked) else None


def _release(params: DaprParams) -> Hub | Dump:
    """The dump if its corpus.jsonl is there, otherwise the hub's configurations, there or not."""
    hard = params.dataset == "nq-hard"
    dataset = "NaturalQuestions" if hard else params.dataset
    for folder in (params.path, params.path / dataset):
        corpus = first_there([folder / "corpus.jsonl"])
        if corpus.exists():
            if hard or params.text != "corpus":
                wanted = "nq-hard" if hard else params.text
                raise HarnessError(f"{folder}: the dump has no {wanted}; take the hub's files")
            return Dump(corpus, first_there([folder / f"{params.split}.jsonl"]))
    passages = configuration(params.path, dataset, params.text, "test")  # whatever the queries' split is
    if hard:
        asked = configuration(params.path, dataset, "nq-hard", "test")
        return Hub(passages, asked, asked, hard=True)
    queries = configuration(params.path, dataset, "queries", params.split)
    qrels = configuration(params.path, dataset, "qrels", params.split)
    return Hub(passages, queries, qrels, hard=False)
