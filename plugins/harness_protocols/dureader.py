"""DuReader-retrieval: Chinese web search, one grade of relevance, runs of 50."""

from __future__ import annotations

from harness.records import Protocol
from harness_protocols.words import column, reciprocal_rank, success

PROTOCOL = Protocol(
    name="dureader-retrieval",
    summary="DuReader-retrieval: MRR@10, and what it calls Recall@1 and Recall@50, over runs of 50",
    columns=(
        column("MRR@10", "section 3.2", "RR@10", reciprocal_rank(1, 10)),
        column("Recall@1", "section 3.2", "Success@1", success(1, 1)),
        column("Recall@50", "section 3.2", "Success@50", success(1, 50)),
    ),
    depth=50,
    cite="Qiu et al. 2022, DuReader-retrieval: A Large-scale Chinese Benchmark for Passage Retrieval",
    notes=(
        "Judgements: the `answer_paragraphs` of dev.json, each of level 1. The official script counts a "
        "reference query without any as 0; here it counts 0 if a judgement of level 0 names it, and is not "
        "scored if nothing does.",
        "The paper defines its recall in words alone. The official script counts a query once, however "
        "many of its passages are found: success, not a share.",
        "The official script divides both recalls by the number of reference queries, as here. It did so "
        "with MRR@10 too until December 2023; since then it divides MRR@10 by the number of queries in "
        "the run, so that leaving out a query raises it, and a query that is not in the reference lowers "
        "it.",
        "The official script fills short lists with the passage 0, which no passage of the collection is "
        "called. It prints a warning for a passage that stands twice and scores it; here such a run is "
        "refused.",
    ),
)
