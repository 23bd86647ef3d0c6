"""The choices of some arguments, kept apart from the modules that define them, which import slowly."""

from __future__ import annotations

RECORDS = (  # the same kinds in the same order as `harness.catalogue.KINDS`
    "datasets", "contexts", "retrievers", "rewriters", "rerankers", "combiners", "trainers", "makers",
    "analysers", "analyses", "protocols", "measures", "commands",
)  # fmt: skip
ENGINES = ("local", "ray")
RUN_FORMS = ("trec", "rocketqa", "msmarco", "tevatron", "dureader")
