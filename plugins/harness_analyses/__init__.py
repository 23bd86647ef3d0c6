"""Analyses of finished runs, such as those that the DAPR paper gives besides its main table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.plugin import Analysis, hookimpl, param


@dataclass(frozen=True)
class DepthParams:
    bins: tuple[int, ...] = param((1, 2, 3, 6, 11, 21, 51), "the first depth of each group, from 1")

    def __post_init__(self) -> None:
        if not self.bins or self.bins[0] != 1 or list(self.bins) != sorted(set(self.bins)):
            raise ValueError("'bins' are first depths in ascending order, starting with 1: [1, 2, 6, 21]")


@dataclass(frozen=True)
class WeightsParams:
    parameter: str = param("weight", "the combiner's parameter that is varied")
    steps: int = param(10, "equal steps from 0 to 1", minimum=1, maximum=1000)


@dataclass(frozen=True)
class JaccardParams:
    tokens: Literal["words", "whitespace"] = param(
        "words",
        "words without the marks around them, of Chinese the characters; or whatever white space separates, "
        "as in DAPR's tables 5 and 10",
    )


@dataclass(frozen=True)
class BeforeParams:
    before: str = param(help="the dataset of the suite with the judgements before, such as 'mine'")


@dataclass(frozen=True)
class IlsParams:
    encoder: Mapping[str, Any] = param(help="a retriever that gives vectors: {dense: {model: NAME}}")
    of: Literal["queries", "judged", "positives", "results"] = param(
        "judged",
        "the list of texts: all queries, as in the paper; or for each query its judged passages, "
        "its positives, or the results of the first system",
    )
    depth: int = param(10, "how many results of each query", minimum=2)

    def __post_init__(self) -> None:
        if len(self.encoder) != 1:
            raise ValueError("'encoder' is one retriever with its parameters: {dense: {model: NAME}}")


@dataclass(frozen=True)
class CompressionParams:
    varied: tuple[str, ...] = param(
        (
            "dimensions", "stored", "rescore", "rescore_by", "keep_full", "search", "bits", "pool",
            "candidates",
        ),
        "parameters of a retriever that set how its index is stored and searched; systems that are equal in "
        "all others are compared",
    )  # fmt: skip
    margin: float = param(0.01, "a loss below this, in units of the measure, is called small", minimum=0)


@hookimpl
def harness_analyses() -> Iterable[Analysis]:
    yield Analysis(
        name="depth",
        summary="where in its document the relevant passage is, and the scores by this place (DAPR, "
        "figure 4)",
        build="harness_analyses.depth:Depth",
        params=DepthParams,
    )
    yield Analysis(
        name="levels",
        summary="each system at passage and at document level, by MaxP (DAPR, table 4)",
        build="harness_analyses.levels:Levels",
    )
    yield Analysis(
        name="slices",
        summary="each system on each slice of the queries and label of judged pairs (DAPR, figure 3)",
        build="harness_analyses.slices:Slices",
    )
    yield Analysis(
        name="jaccard",
        summary="words that query and relevant passage share, with and without context (DAPR, table 5)",
        build="harness_analyses.jaccard:Jaccard",
        params=JaccardParams,
    )
    yield Analysis(
        name="weights",
        summary="the score as a function of the fusion weight, overall and by slice (DAPR, figure 2)",
        build="harness_analyses.weights:Weights",
        params=WeightsParams,
    )
    yield Analysis(
        name="cut",
        summary="how much text an encoder cut off, and how much of it because of added context",
        build="harness_analyses.cut:Cut",
    )
    yield Analysis(
        name="false-negatives",
        summary="systems before and after judgements were added, and their order (DuReader, figure 2)",
        build="harness_analyses.false_negatives:FalseNegatives",
        params=BeforeParams,
        libraries=("scipy",),
        datasets=("before",),
    )
    yield Analysis(
        name="errors",
        summary="the share of the labelled pairs that have each label (DuReader, table 10)",
        build="harness_analyses.errors:Errors",
    )
    yield Analysis(
        name="collection",
        summary="lengths, grades, positives per query and their places in documents (DuReader, table 3)",
        build="harness_analyses.collection:Collection",
    )
    yield Analysis(
        name="compression",
        summary="quality against bytes of a retriever's forms, and what the smaller ones lose at most",
        build="harness_analyses.compression:Compression",
        params=CompressionParams,
    )
    yield Analysis(
        name="ils",
        summary="how similar queries, or a query's passages, are by any encoder (T2Ranking, table 4)",
        build="harness_analyses.ils:Ils",
        params=IlsParams,
        encoder="encoder",
    )
