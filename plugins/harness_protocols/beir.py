"""BEIR: zero-shot retrieval on many collections."""

from __future__ import annotations

from harness.plugin import Protocol
from harness_protocols.words import column, linear_ndcg, recall

PROTOCOL = Protocol(
    name="beir",
    summary="BEIR: nDCG@10 and R@100",
    columns=(
        column("nDCG@10", "table 2", "nDCG@10", linear_ndcg(10)),
        column("Recall@100", "appendix", "R@100", recall(1, 100)),
    ),
    depth=100,
    cite="Thakur et al. 2021, BEIR: A Heterogenous Benchmark for Zero-shot Evaluation",
    notes=(
        "The official evaluator averages over the queries that are both in the run and in the "
        "judgements. Here a judged query that the run lacks counts 0.",
        "The official evaluator drops a passage that has the query's id. This matters for "
        "ArguAna and Quora: load these with `exclude_self: true`.",
        "In the published scores, titles are put before the texts. To compare with them, use "
        "`context: [titles]`.",
        "For TREC-COVID the paper reports a capped recall, whose denominator is at most 100. The recall "
        "here is never capped.",
    ),
)
