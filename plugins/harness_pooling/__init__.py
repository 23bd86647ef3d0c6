"""Pools of pairs to judge, judgements that come back, and what is worth judging next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.hookspecs import hookimpl
from harness.records import Maker, param


@dataclass(frozen=True)
class PoolParams:
    of: tuple[str, ...] = param(help="the systems whose best passages enter the pool")
    depth: int = param(50, "how many passages of each system", minimum=1)
    scored_by: str | None = param(
        None, "a system whose scores order the pool; what its run lacks is left out. null: the best rank"
    )
    top: int | None = param(None, "how many pairs a query keeps", minimum=1)
    judged: Literal["mark", "leave-out"] = param(
        "mark", "pairs that are judged already carry their grade, or are left out"
    )

    def __post_init__(self) -> None:
        if not self.of or len(set(self.of)) < len(self.of):
            raise ValueError("'of' needs different systems: [bm25, dense]")


@dataclass(frozen=True)
class JudgedParams:
    file: Path = param(help="judgements.jsonl or a .tsv with a header (docs/pools.md)")
    take: Literal["person", "machine", "any"] = param(
        "person", "whose decisions count; any: a machine's where no person decided"
    )
    existing: Literal["keep", "drop"] = param(
        "keep", "what happens to the collection's own judgements of pairs that the file does not decide"
    )


def _build(module: str, name: str) -> Any:
    def build(params: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(f"harness_pooling.{module}"), name)(params)

    return build


@hookimpl
def harness_makers() -> Iterable[Maker]:
    yield Maker(
        name="pool",
        summary="the union of several systems' best passages, as files for people who judge",
        build=_build("pool", "Pool"),
        params=PoolParams,
        libraries=("numba",),
        changes=(),
        systems=("of", "scored_by"),
    )
    yield Maker(
        name="propose",
        summary="the pairs of a pool as judgements of grade 0, for a later maker that labels them",
        build=_build("propose", "Propose"),
        params=PoolParams,
        libraries=("numba",),
        changes=("judgements",),
        systems=("of", "scored_by"),
    )
    yield Maker(
        name="judged",
        summary="judgements by people or a machine, taken back in from a file",
        build=_build("judged", "Judged"),
        params=JudgedParams,
        changes=("judgements",),
    )
