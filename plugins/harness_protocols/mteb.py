"""MTEB: the main score of its retrieval tasks."""

from __future__ import annotations

from harness.plugin import Protocol
from harness_protocols.words import column, linear_ndcg

PROTOCOL = Protocol(
    name="mteb",
    summary="MTEB, retrieval: nDCG@10, its main score",
    columns=(column("nDCG@10", "main score of retrieval tasks", "nDCG@10", linear_ndcg(10)),),
    depth=10,
    cite="Muennighoff et al. 2023, MTEB: Massive Text Embedding Benchmark",
    notes=(
        "The official evaluator averages over the queries that are both in the run and in the "
        "judgements. Here a judged query that the run lacks counts 0.",
        "Some tasks drop a passage that has the query's id: load these with `exclude_self: true`.",
        "In the published scores, titles are put before the texts. To compare with them, use "
        "`context: [titles]`.",
        "The main score of MTEB's re-ranking tasks is MAP, which this protocol does not have.",
    ),
)
