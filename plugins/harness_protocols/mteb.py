"""MTEB: the main score of its retrieval tasks."""

from __future__ import annotations

from harness.records import Protocol
from harness_protocols.words import column, linear_ndcg

PROTOCOL = Protocol(
    name="mteb",
    summary="MTEB, retrieval: nDCG@10, its main score",
    columns=(column("nDCG@10", "main score of retrieval tasks", "nDCG@10", linear_ndcg(10)),),
    depth=10,
    cite="Muennighoff et al. 2023, MTEB: Massive Text Embedding Benchmark",
    notes=(
        "The official evaluator averages over the queries that stand in both the run and the judgements; "
        "here a judged query that the run lacks counts 0.",
        "Some of its tasks drop a passage that has the query's own id: load those with `exclude_self: true`.",
        "Published scores are of texts with their titles before them: say `context: [titles]`.",
        "Re-ranking tasks of MTEB have another main score (MAP), which this protocol does not give.",
    ),
)
