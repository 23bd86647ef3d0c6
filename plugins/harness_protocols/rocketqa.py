"""RocketQAv2 on MS MARCO and on Natural Questions."""

from __future__ import annotations

from harness.plugin import Protocol
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
        "The paper defines Recall@k as the proportion of questions with a positive among the "
        "first k. This is success, not the share of the positives. For queries with a single "
        "positive, as most in MS MARCO, the two are the same.",
        "On Natural Questions, the paper counts every passage that contains an answer as "
        "relevant, judged or not. Use the protocol rocketqav2-nq there.",
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
        "Judgements are not read. A retrieved passage is relevant if its text contains the words "
        "of an answer one after the other, as in DPR's scripts. For this, text and answer are "
        "brought into Unicode's form NFD and lower case, and split into tokens: runs of letters, "
        "digits and marks, and single other characters. Titles do not count.",
        "The dataset must have answers, but needs no judgements of passages. Answers that are "
        "regular expressions, as those of CuratedTREC, are searched as such if the dataset says so "
        "(`files: {match: regex}`).",
        "The paper's Recall@k is the proportion of questions with a hit, which other papers call "
        "top-k accuracy.",
    ),
)
