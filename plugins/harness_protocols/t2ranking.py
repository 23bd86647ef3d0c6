"""T2Ranking: Chinese web search with four levels of relevance, as retrieval and as re-ranking."""

from __future__ import annotations

from harness.plugin import Protocol
from harness_protocols.words import column, linear_ndcg, reciprocal_rank

CITE = "Xie et al. 2023, T2Ranking: A large-scale Chinese Benchmark for Passage Ranking"

_JUDGEMENTS = (
    "Judgements: the graded file (`qrels.dev.tsv`), levels 0 to 3, for every column. The "
    "paper counts levels 2 and 3 as relevant for retrieval. Do not use the file "
    "`qrels.retrieval.dev.tsv`, which lists only relevant pairs, without levels. It lacks "
    "the queries without a relevant pair, which the official script counts in MRR@10. Also, "
    "its pairs have the grade 1, which is not relevant here."
)
_MRR = (
    "The official script divides the sum for MRR@10 by the number of queries in the run; "
    "this protocol divides it by the number of judged queries. The two agree if the run has "
    "exactly the judged queries. A judged query that the run lacks counts 0 here and is left "
    "out there. A query without judgements is left out here and counts 0 there."
)


def _micro_recall(cutoff: int) -> str:
    counted = f"passages of level 2 or more among the first {cutoff}"
    both = "both added up over all judged queries before dividing (micro-averaged)"
    return f"{counted} / all judged passages of level 2 or more, {both}"


_MICRO_MEAN = (
    "a mean over passages, not queries: those of a judged query that the run lacks count as not found"
)

RETRIEVAL = Protocol(
    name="t2ranking-retrieval",
    summary="T2Ranking, retrieval: MRR@10 and micro-averaged Recall@50 and Recall@1K at level 2",
    columns=(
        column("MRR@10", "equation 5", "RR(rel=2)@10", reciprocal_rank(2, 10)),
        column("Recall@50", "equation 6", "MicroR(rel=2)@50", _micro_recall(50), mean=_MICRO_MEAN),
        column("Recall@1K", "equation 6", "MicroR(rel=2)@1000", _micro_recall(1000), mean=_MICRO_MEAN),
    ),
    depth=1000,
    cite=f"{CITE}, section 6.1",
    notes=(
        _JUDGEMENTS,
        _MRR,
        "The recall is micro-averaged: numerator and denominator are summed over all queries, as "
        "in the script. Other papers average the recall of each query. In the paper, equation 6 "
        "has the sums only in the denominator.",
        "The recall of the official script leaves out queries that the run lacks (the measure "
        "`MicroRAnswered` does this too). Here the relevant passages of these queries stay in "
        "the denominator.",
        "The official script fills a short list up to 1000 with the passage 0, which is a real "
        "passage. If this passage is relevant, each copy counts as a hit, and the recall can be "
        "above 1. Here a short list stays short.",
        "If a run lists a passage twice, the official script prints a warning and counts it "
        "twice. It skips malformed lines and ranks beyond 1000 without a message. Here runs with "
        "duplicates or malformed lines are refused.",
    ),
)

RERANKING = Protocol(
    name="t2ranking-reranking",
    summary="T2Ranking, re-ranking: MRR@10 at level 2, nDCG@20 and nDCG@100 over four levels",
    columns=(
        column("MRR@10", "equation 5", "RR(rel=2)@10", reciprocal_rank(2, 10)),
        column("nDCG@20", "equations 7 and 8", "nDCG@20", linear_ndcg(20)),
        column("nDCG@100", "equations 7 and 8", "nDCG@100", linear_ndcg(100)),
    ),
    depth=100,
    cite=f"{CITE}, section 6.2",
    notes=(
        _JUDGEMENTS,
        _MRR,
        "Equations 7 and 8 of the paper divide the mean DCG by the mean ideal DCG. But the "
        "authors run trec_eval, which divides for each query and then averages. This protocol "
        "does the same.",
        "As the authors call it, trec_eval averages over the queries of the run; here a judged "
        "query that the run lacks counts 0. The ideal order contains all judged passages, "
        "retrieved or not.",
    ),
)
