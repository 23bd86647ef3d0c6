"""Reports how much text the encoders cut, and how much of it they cut because context was added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.plugin import JSON, AnalysisInput, Finding, SystemRun, Unit

HEADS = ("system", "context", "texts cut", "tokens lost", "share of tokens", "pushed out by context")


class Cut:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        encoded = [(system, facts) for system in data.systems if (facts := _facts(system)) is not None]
        if not encoded:
            return
        without: dict[tuple[str | None, Unit], JSON] = {
            (system.retriever, system.unit): facts["facts"]
            for system, facts in encoded
            if system.retriever is not None and not system.stages
        }
        rows = []
        for system, facts in encoded:
            counts = facts["facts"]
            plain = without.get((system.retriever, system.unit))
            more = counts["tokens_lost"] - plain["tokens_lost"] if plain and system.stages else None
            context = " + ".join(system.context) or "none"
            share = round(counts["tokens_lost"] / max(1, counts["tokens"]), 6)
            rows.append((system.name, context, counts["texts_cut"], counts["tokens_lost"], share, more))
        yield Finding(
            name="cut",
            title="Text that encoders cut off",
            kind="table",
            columns=HEADS,
            rows=tuple(rows),
            says="Tokens beyond the encoder's maximum length are not read. The last column is how many more "
            "the same encoder loses than without context: what stands before a passage pushed them out.",
        )


def _facts(system: SystemRun) -> JSON:
    """The report of the system's encoder on its index; None unless exactly one encoder reported lost
    tokens."""
    reports = [item for item in system.reported if item["step"] == "index" and "tokens_lost" in item["facts"]]
    return reports[0] if len(reports) == 1 else None
