"""DuReader-retrieval: Chinese web search, one grade of relevance, runs of 50."""

from __future__ import annotations

from harness.plugin import Protocol
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
        "Judgements: the `answer_paragraphs` of dev.json, each of level 1. If a query has no "
        "answer paragraph, the official script counts it as 0. Here it counts 0 if it has a "
        "judgement of level 0; without any judgement it is not scored.",
        "The paper defines its recall only in words. In the official script, a query counts 1 if "
        "at least one of its positives is found. This is success, not the share of the positives.",
        "The official script divides both recalls by the number of judged queries, as this "
        "protocol does. Until December 2023 this was also so for MRR@10. Since then, MRR@10 is "
        "divided by the number of queries in the run: a run that leaves out queries scores "
        "higher, and a run with unjudged queries scores lower.",
        "The official script fills short lists with the id 0, which no passage of the collection "
        "has. If a run lists a passage twice, the script prints a warning and scores the run; "
        "here such a run is refused.",
    ),
)
