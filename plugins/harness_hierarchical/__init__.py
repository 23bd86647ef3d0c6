"""The combiner `hierarchical` finds documents first, then scores their passages and fuses both scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.plugin import Combiner, hookimpl, param


@dataclass(frozen=True)
class HierarchicalParams:
    weight: float = param(
        0.8, "the weight of the passage scores; the document scores have the rest", minimum=0, maximum=1
    )
    documents: int = param(100, "how many documents are taken for each query", minimum=1)
    passages: int | None = param(
        None,
        "how many of the best passages of these documents are fused; null: all. DAPR's code "
        "takes 1000 documents and 1000 passages",
        minimum=1,
    )


@hookimpl
def harness_combiners() -> Iterable[Combiner]:
    yield Combiner(
        name="hierarchical",
        paper="https://arxiv.org/abs/2305.13915",
        summary="Documents first, then their passages, fused (DAPR 4.2.1): of [passages, documents]",
        build="harness_hierarchical.methods:Hierarchical",
        params=HierarchicalParams,
        inputs=(2, 2),
        within=(0,),
    )
