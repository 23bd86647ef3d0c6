"""TREC Deep Learning, the passage task: deep judgements of four levels."""

from __future__ import annotations

from harness.plugin import Protocol
from harness_protocols.words import average_precision, column, linear_ndcg, recall, reciprocal_rank

PROTOCOL = Protocol(
    name="trec-dl",
    summary="TREC Deep Learning, passages: nDCG@10, and RR, AP and recall at level 2",
    columns=(
        column("NDCG@10", "the track's main measure", "nDCG@10", linear_ndcg(10)),
        column("RR", "the overview's tables", "RR(rel=2)", reciprocal_rank(2, 1000)),
        column("MRR@10", "later papers", "RR(rel=2)@10", reciprocal_rank(2, 10)),
        column("AP", "the overview's tables", "AP(rel=2)", average_precision(2, 1000)),
        column("R@100", "later papers", "R(rel=2)@100", recall(2, 100)),
        column("R@1000", "later papers", "R(rel=2)@1000", recall(2, 1000)),
    ),
    depth=1000,
    cite="Craswell et al. 2020, Overview of the TREC 2019 Deep Learning Track",
    notes=(
        "Judgements: NIST's, levels 0 to 3. Level 1 (related, but no answer) is not relevant for RR, AP "
        "and recall; it has gain 1 in nDCG.",
        "Without -c, trec_eval averages over the queries of the run; here a judged query that "
        "the run lacks counts 0.",
        "The overview's column RR (MS) uses MS MARCO's own judgements, one or two for each "
        "query. For this column, use the protocol rocketqav2-msmarco with these judgements.",
        "trec_eval breaks ties by id, as is done here.",
    ),
)
