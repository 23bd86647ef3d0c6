"""The maker `judged`: adds the judgements of a file to the collection. docs/pools.md describes the files."""

from __future__ import annotations

from collections.abc import Iterator

from harness.plugin import Judgement, Made, MakerInput
from harness_pooling import JudgedParams
from harness_pooling.judgement_files import Decision, decisions


class Judged:
    def __init__(self, params: JudgedParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        return Made(judgements=self._judgements(data))

    def _judgements(self, data: MakerInput) -> Iterator[Judgement]:
        """The new judgements: first those of the collection in their order, where a decision of the file
        replaces the judgement of its pair; then the other decisions of the file."""
        tally, existing = data.tally, self._params.existing
        decided = self._decided(data)
        machines = sum(decision.kind == "machine" for decision in decided.values())
        used: set[tuple[str, str]] = set()
        for judgement in data.judged():
            pair = (judgement.query, judgement.passage)
            decision = decided.get(pair)
            if decision is not None:
                used.add(pair)
                tally.add("judged again, with the same grade" if decision.grade == judgement.grade else
                          "judged again, with another grade")  # fmt: skip
                yield _judgement(decision)
            elif existing == "keep":
                yield judgement
            else:
                tally.drop("judgements", "of the collection before, and not in the file", " ".join(pair))
        for pair, decision in decided.items():
            if pair not in used:
                tally.add("judged for the first time")
                yield _judgement(decision)
        tally.judged("person", len(decided) - machines)
        tally.judged("machine", machines)
        if machines:
            tally.flag(f"{machines} of the {len(decided)} judgements that were taken in are by a machine")

    def _decided(self, data: MakerInput) -> dict[tuple[str, str], Decision]:
        """The decisions that count, by pair, in the order of the file."""
        take, tally = self._params.take, data.tally
        query_ids = set(data.queries.ids)
        rows = list(decisions(self._params.file))
        in_corpus = data.corpus.positions([row.passage for row in rows]) >= 0
        decided: dict[tuple[str, str], Decision] = {}
        for row, known in zip(rows, in_corpus.tolist(), strict=True):
            pair = (row.query, row.passage)
            shown = " ".join(pair)
            if take not in ("any", row.kind):
                tally.drop("judgements", f"decided by a {row.kind}", shown)
            elif row.grade is None:
                tally.drop("judgements", "without a decision", shown)
            elif row.query not in query_ids:
                tally.drop("judgements", "of a query that is not asked", shown)
            elif not known:
                tally.drop("judgements", "of a passage that is not there", shown)
            elif pair in decided and row.kind == "machine":  # a person's decision beats a machine's
                tally.drop("judgements", "by a machine, where a person decided", shown)
            else:
                if pair in decided:
                    tally.drop("judgements", "by a machine, where a person decided", shown)
                decided[pair] = row
        return decided


def _judgement(decision: Decision) -> Judgement:
    assert decision.grade is not None
    labels = dict.fromkeys(
        decision.labels
        if decision.labels is not None
        else (label for single in decision.judgements for label in single.labels if label)
    )
    return Judgement(decision.query, decision.passage, decision.grade, tuple(labels))
