"""RocketQAv2 on MS MARCO and on Natural Questions."""

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
        "On Natural Questions the paper counts a passage that contains an answer, judged or not: that is the "
        "protocol rocketqav2-nq.",
    ),
)


def _answered(cutoff: int) -> str:
    return f"1 if a passage that contains an answer is among the first {cutoff}, else 0"


ANSWERED = "mean over all queries that have an answer, 0 for one that the run lacks"
NQ = Protocol(
    name="rocketqav2-nq",
    summary="RocketQAv2 on Natural Questions: what it calls R@5, R@20 and R@100, by answer strings",
    columns=tuple(
        column(f"R@{cutoff}", "section 4.1, table 2", f"Success@{cutoff}", _answered(cutoff), mean=ANSWERED)
        for cutoff in (5, 20, 100)
    ),
    depth=100,
    judgements="answers",
    cite=MSMARCO.cite,
    notes=(
        "Judgements: none are read. A retrieved passage is relevant if the words of an answer stand in its "
        "text one after the other, as the scripts of DPR decide it: both in Unicode's NFD and lower case, "
        "split into runs of letters, digits and marks and single other characters. Titles do not count.",
        "The dataset has to have answers; it need not have judgements of passages. Answers that are regular "
        "expressions, as in TREC's question answering, are taken as plain words.",
        "This is what others call top-k accuracy: Recall@k here is the proportion of questions with a hit.",
    ),
)
