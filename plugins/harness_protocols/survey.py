"""The measures of the survey of dense retrieval, appendix A.2."""

from __future__ import annotations

from harness.plugin import Column, Protocol
from harness_protocols import words
from harness_protocols.words import column


def _success(cutoff: int) -> Column:
    return column(f"Accuracy@{cutoff}", "equation 8", f"Success@{cutoff}", words.success(1, cutoff))


def _recall(cutoff: int) -> Column:
    return column(f"Recall@{cutoff}", "equation 7", f"R@{cutoff}", words.recall(1, cutoff))


PROTOCOL = Protocol(
    name="survey",
    summary="the dense retrieval survey: Recall, Accuracy, Precision, MAP, nDCG (exponential gain) and MRR",
    columns=(
        _recall(50),
        _recall(1000),
        _success(20),
        _success(100),
        column("Precision@10", "equation 9", "P@10", words.precision(1, 10)),
        column("MAP", "equations 10 and 11", "AP", words.average_precision(1, 1000)),
        column("nDCG@10", "equations 12 and 13", "nDCG(dcg='exp-log2')@10", words.exponential_ndcg(10)),
        column("MRR", "equation 14", "RR", words.reciprocal_rank(1, 1000)),
    ),
    depth=1000,
    cite="Zhao et al. 2024, Dense Text Retrieval based on Pretrained Language Models: A Survey, appendix A.2",
    notes=(
        "Judgements: a passage of grade 1 or more is relevant. Only nDCG distinguishes higher grades.",
        "The survey does not fix k. The cut-offs here are those that the papers in the survey report.",
        "For a query without a relevant passage, equations 7, 10 and 13 divide by 0, and the "
        "survey does not say what such a query counts. Here it counts 0 and stays in |Q|.",
        "Equation 10 sums over the whole retrieved list, and equation 14 has no cut-off. Here "
        "both read the first 1000 results.",
    ),
)
