"""Protocols: how papers score, with every cut-off, level, gain and denominator pinned."""

from __future__ import annotations

from collections.abc import Iterable

from harness.hookspecs import hookimpl
from harness.records import Column, Protocol

_NDCG = "nDCG with trec_eval's linear gain: sum of grade / log2(rank + 1) over ranks 1 to 10 / its ideal"
_RECALL = "passages of grade 1 or more among the first 100 / all of grade 1 or more"
_MAXP = " of documents: a document ranks by its best passage (MaxP) and has its passages' highest grade"
_ALL = "; mean over all judged queries, 0 for one that the run lacks or that has no positive"


@hookimpl
def harness_protocols() -> Iterable[Protocol]:
    yield Protocol(
        name="dapr",
        summary="DAPR: nDCG@10 and R@100 of passages, and of documents by their best passage",
        columns=(
            Column("nDCG@10", "passage", _NDCG + _ALL),
            Column("R@100", "passage", _RECALL + _ALL),
            Column("nDCG@10", "document", _NDCG + _MAXP + _ALL),
            Column("R@100", "document", _RECALL + _MAXP + _ALL),
        ),
        depth=1000,  # as the paper retrieves; 100 documents may take many more passages
        cite="Wang et al. 2023, DAPR: A Benchmark on Document-Aware Passage Retrieval, section 4",
    )
    yield Protocol(
        name="beir",
        summary="BEIR: nDCG@10 and R@100",
        columns=(Column("nDCG@10", "passage", _NDCG + _ALL), Column("R@100", "passage", _RECALL + _ALL)),
        depth=100,
        cite="Thakur et al. 2021, BEIR: A Heterogenous Benchmark for Zero-shot Evaluation",
    )
