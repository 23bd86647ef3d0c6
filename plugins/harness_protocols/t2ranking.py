"""T2Ranking: Chinese web search with four levels of relevance, as retrieval and as re-ranking."""

from __future__ import annotations

from harness.records import Protocol
from harness_protocols.words import column, linear_ndcg, reciprocal_rank

CITE = "Xie et al. 2023, T2Ranking: A large-scale Chinese Benchmark for Passage Ranking"

_JUDGEMENTS = (
    "Judgements: the graded file (`qrels.dev.tsv`), levels 0 to 3, for every column. The paper counts "
    "levels 2 and 3 as relevant for retrieval. The file `qrels.retrieval.dev.tsv` lists relevant pairs "
    "alone, without a level: a query without one is not in it and would fall out of the mean of MRR@10, "
    "where the official script counts it; and its pairs, read as grade 1, are not relevant here."
)
_MRR = (
    "The official script divides MRR@10 by the number of queries in the run: of a run that answers "
    "exactly the judged queries this is the same number. A query that the run lacks counts 0 here and "
    "nothing there; a query without judgements counts nothing here and 0 there."
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
        "Equation 6 as printed lacks the sums of its numerator; its denominator sums over queries and "
        "passages, as the script does: micro-averaged, where other papers average the recall of each "
        "query.",
        "The official script's recall leaves out queries that the run lacks (`MicroRAnswered` is that "
        "number); here their passages stay in the denominator.",
        "The official script fills a short list up to 1000 with the passage 0, which exists: where it is "
        "relevant, every fill is a hit and recall can exceed 1. Here a short list stays short.",
        "The official script only warns of a passage that stands twice and counts it twice, and it skips "
        "a malformed line, or a rank beyond 1000, silently. Here a duplicate and a malformed line are "
        "refused.",
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
        "Equations 7 and 8 as printed divide the mean DCG by the mean ideal. The authors run trec_eval, "
        "as is done here: the ratio is taken for each query, then averaged.",
        "trec_eval as the authors call it averages over the queries of the run; here a judged query that "
        "the run lacks counts 0. The ideal order is that of all judged passages, found or not.",
    ),
)
