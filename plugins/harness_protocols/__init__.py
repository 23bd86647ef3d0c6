"""The protocols of papers and benchmarks, each with its cut-offs, levels, gains and denominators fixed."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Protocol, hookimpl
from harness_protocols import (
    beir,
    dapr,
    dureader,
    mteb,
    rocketqa,
    survey,
    t2ranking,
    trec_dl,
)


@hookimpl
def harness_protocols() -> Iterable[Protocol]:
    yield dapr.PROTOCOL
    yield beir.PROTOCOL
    yield mteb.PROTOCOL
    yield dureader.PROTOCOL
    yield t2ranking.RETRIEVAL
    yield t2ranking.RERANKING
    yield rocketqa.MSMARCO
    yield rocketqa.NQ
    yield trec_dl.PROTOCOL
    yield survey.PROTOCOL
