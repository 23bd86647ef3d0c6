"""Makers that write pools of pairs to judge, read judgements back in, and choose what to judge next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Maker, hookimpl, param


@dataclass(frozen=True)
class PoolParams:
    of: tuple[str, ...] = param(help="the systems whose best passages enter the pool")
    depth: int = param(50, "how many passages of each system", minimum=1)
    scored_by: str | None = param(
        None,
        "a system whose scores order the pool; pairs that its run lacks are left out. null: the best rank",
    )
    top: int | None = param(None, "how many pairs a query keeps", minimum=1)
    judged: Literal["mark", "leave-out"] = param(
        "mark", "pairs that are already judged: mark them with their grade, or leave them out"
    )

    def __post_init__(self) -> None:
        if not self.of or len(set(self.of)) < len(self.of):
            raise ValueError("'of' needs different systems: [bm25, dense]")


@dataclass(frozen=True)
class JudgedParams:
    file: Path = param(help="judgements.jsonl or a .tsv with a header (docs/pools.md)")
    take: Literal["person", "machine", "any"] = param(
        "person", "whose decisions are used; any: a machine's decision if no person decided"
    )
    existing: Literal["keep", "drop"] = param(
        "keep", "what happens to the collection's own judgements of pairs that the file does not decide"
    )


@dataclass(frozen=True)
class ActiveParams:
    of: str = param(help="the system whose scores decide, such as a re-ranker trained on what is judged")
    lower: float = param(0.1, "pairs with a lower score are hopeless, and not judged")
    upper: float = param(0.9, "pairs with a higher score are confident, and not judged")
    quantiles: bool = param(False, "whether the two limits are quantiles of the scores instead of scores")
    depth: int = param(50, "how many passages of each query are looked at", minimum=1)
    take: int | None = param(
        None, "how many of the pairs in between are drawn at random; null: all are taken", minimum=1
    )
    seed: int = param(0, "the seed of the draw", minimum=0)

    def __post_init__(self) -> None:
        if self.lower > self.upper or (self.quantiles and not 0 <= self.lower <= self.upper <= 1):
            raise ValueError("'lower' is at most 'upper'; as quantiles both lie between 0 and 1")


@dataclass(frozen=True)
class HardParams:
    of: tuple[str, ...] = param(help="the systems that must all fail on a query")
    depth: int = param(10, "a system fails if it has no positive among this many first results", minimum=1)


@dataclass(frozen=True)
class ErrorsParams:
    of: str = param(help="the system whose errors are looked at")
    queries: int = param(100, "how many queries are drawn", minimum=1)
    top: int = param(
        5, "an error is a query without a positive in this many first results; these are the pairs", minimum=1
    )
    seed: int = param(0, "the seed of the draw", minimum=0)


@hookimpl
def harness_makers() -> Iterable[Maker]:
    yield Maker(
        name="pool",
        summary="the union of several systems' best passages, as files for people who judge",
        build="harness_pooling.pool:Pool",
        params=PoolParams,
        libraries=("numba",),
        changes=(),
        systems=("of", "scored_by"),
    )
    yield Maker(
        name="propose",
        summary="the pairs of a pool as judgements of grade 0, for a later maker that labels them",
        build="harness_pooling.propose:Propose",
        params=PoolParams,
        libraries=("numba",),
        changes=("judgements",),
        systems=("of", "scored_by"),
    )
    yield Maker(
        name="judged",
        summary="adds judgements by people or by a machine from a file",
        build="harness_pooling.judged:Judged",
        params=JudgedParams,
        changes=("judgements",),
    )
    yield Maker(
        name="active-sample",
        summary="pairs whose score is neither hopeless nor confident, to be judged (T2Ranking, 4.4)",
        build="harness_pooling.choosing:ActiveSample",
        params=ActiveParams,
        libraries=("numba",),
        changes=(),
        systems=("of",),
    )
    yield Maker(
        name="hard-queries",
        summary="the queries on which all given systems fail, and their positives to be labelled (DAPR, 3.1)",
        build="harness_pooling.choosing:HardQueries",
        params=HardParams,
        libraries=("numba",),
        changes=("queries", "judgements"),
        systems=("of",),
    )
    yield Maker(
        name="sample-errors",
        summary="a seeded sample of queries without a positive at the top, to be explained (DuReader, 3.5)",
        build="harness_pooling.choosing:SampleErrors",
        params=ErrorsParams,
        libraries=("numba",),
        changes=(),
        systems=("of",),
    )
