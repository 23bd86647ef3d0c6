"""Values of queries and papers of the methods of leaderboards, for commands of plugins.

Status: provisional.
"""

from harness import catalogue
from harness.html.content import queries_of
from harness.leaderboard.means import SEEDS

__all__ = ["SEEDS", "papers", "queries_of"]

_STEPS = {"contexts": "augment", "retrievers": "search", "rerankers": "rerank", "combiners": "combine",
          "rewriters": "rewrite", "trainers": "train"}  # fmt: skip


def papers() -> dict[tuple[str, str], str]:
    """(kind of step, method) -> the address of the paper that the method's record names."""
    offered = catalogue.load().entries
    return {
        (step, name): offers[0].record.paper
        for kind, step in _STEPS.items()
        for name, offers in offered.get(kind, {}).items()
        if offers[0].record.paper
    }
