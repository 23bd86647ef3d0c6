"""DAPR: passages found with the help of their documents."""

from __future__ import annotations

from harness.plugin import Protocol
from harness_protocols.words import MAXP, column, linear_ndcg, recall

PROTOCOL = Protocol(
    name="dapr",
    summary="DAPR: nDCG@10 and R@100 of passages, and of documents by their best passage",
    columns=(
        column("nDCG@10", "section 3.3, table 3", "nDCG@10", linear_ndcg(10)),
        column("recall@100", "section 3.3, table 9", "R@100", recall(1, 100)),
        column("nDCG@10", "table 4, documents", "nDCG@10", linear_ndcg(10) + MAXP, unit="document"),
        column("recall@100", "not in the paper", "R@100", recall(1, 100) + MAXP, unit="document"),
    ),
    depth=1000,  # the paper's depth; 100 documents may have far more than 100 passages
    cite="Wang et al. 2024, DAPR: A Benchmark on Document-Aware Passage Retrieval, section 3.3",
    notes=(
        "Judgements have the grades of the release: 0 and 1, or 0, 1 and 2 (Genomics).",
        "The released code averages over the queries of the run, with pytrec_eval. If the run "
        "has all judged queries, the means are the same here. If it lacks some, the means of the "
        "released code are higher.",
    ),
)
