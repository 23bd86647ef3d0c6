"""RocketQAv2 on MS MARCO."""

from __future__ import annotations

from harness.records import Protocol
from harness_protocols.words import column, reciprocal_rank, success

MSMARCO = Protocol(
    name="rocketqav2-msmarco",
    summary="RocketQAv2 on MS MARCO: MRR@10, and what it calls R@50 and R@1000",
    columns=(
        column("MRR@10", "section 4.1, table 2", "RR@10", reciprocal_rank(1, 10)),
        column("R@50", "section 4.1, table 2", "Success@50", success(1, 50)),
        column("R@1000", "section 4.1, table 2", "Success@1000", success(1, 1000)),
    ),
    depth=1000,
    cite="Ren et al. 2021, RocketQAv2: A Joint Training Method for Dense Passage Retrieval and Passage "
    "Re-ranking, section 4.1",
    notes=(
        "Judgements: those of MS MARCO's passage ranking, dev (small), each of level 1; all 6,980 queries "
        "are judged.",
        "The paper defines Recall@k as the proportion of questions with a positive among the first k: "
        "success, not a share of the positives. Most queries of MS MARCO have one positive, where the two "
        "agree.",
        "The paper's R@5, R@20 and R@100 on Natural Questions count a passage that contains an answer "
        "string, judged or not. That needs judgements made from answers and is not this protocol.",
    ),
)
