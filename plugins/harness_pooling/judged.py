"""The maker `judged`: adds the judgements of a file to the collection. docs/pools.md describes the files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from harness.plugin import HarnessError, Judgement, Made, MakerInput, shown_path
from harness_pooling import JudgedParams
from harness_pooling.judgement_files import Decision, decisions

BLOCK = 65536  # texts that are read at once
CHANGED, GONE = "of a passage whose text has changed", "of a passage that is not there"
CARRIED, UNBOUND = "carried to the same text under another id", "not bound to the text that was judged"
FLAGS = {
    CHANGED: "refused, because the passage has another text now",
    GONE: "dropped, because the passage is not there",
    CARRIED: CARRIED,
    UNBOUND: UNBOUND,
}
By = Literal["text", "id"]  # what shows that a passage is the one that was judged


class Placed(NamedTuple):
    """The passage of the collection that a decision is about. If there is none, `lost` says why."""

    decision: Decision
    passage: str
    by: By
    lost: str = ""

    @property
    def is_carried(self) -> bool:
        return not self.lost and self.passage != self.decision.passage


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
        """The decisions that count, by pair. Those whose passage has kept its id come first, and both kinds
        are in the order of the file."""
        take, tally = self._params.take, data.tally
        query_ids = set(data.queries.ids)
        rows = list(decisions(self._params.file))
        usable: list[Decision] = []
        for row in rows:
            if take not in ("any", row.kind):
                tally.drop("judgements", f"decided by a {row.kind}", f"{row.query} {row.passage}")
            elif row.grade is None:
                tally.drop("judgements", "without a decision", f"{row.query} {row.passage}")
            elif row.query not in query_ids:
                tally.drop("judgements", "of a query that is not asked", f"{row.query} {row.passage}")
            else:
                usable.append(row)
        self._check_taken(rows)
        decided: dict[tuple[str, str], Decision] = {}
        counts = dict.fromkeys((CHANGED, GONE, CARRIED, UNBOUND), 0)
        for placed in sorted(placed_in(data, usable), key=lambda placed: placed.is_carried):
            row, pair = placed.decision, (placed.decision.query, placed.passage)
            shown = f"{row.query} {row.passage}"
            if placed.lost:
                counts[placed.lost] += 1
                tally.drop("judgements", placed.lost, shown)
                continue
            before = decided.get(pair)
            if before is not None and before.kind == row.kind:
                tally.drop("judgements", "of a text that is judged under another id too", shown)
                continue
            if before is not None:  # a person's decision beats a machine's
                tally.drop("judgements", "by a machine, where a person decided", shown)
            if before is None or row.kind == "person":
                decided[pair] = replace(row, passage=placed.passage)
            counts[CARRIED] += placed.is_carried
            counts[UNBOUND] += placed.by == "id"
        for what in (CARRIED, UNBOUND):
            if counts[what]:
                tally.add(what, counts[what])
        if said := "; ".join(f"{count:,} {FLAGS[what]}" for what, count in counts.items() if count):
            tally.flag(f"of the {len(usable):,} judgements in {self._params.file.name}: {said}")
        return decided

    def _check_taken(self, rows: Sequence[Decision]) -> None:
        """Raises HarnessError if the file has no decision by those whose decisions are taken."""
        take = self._params.take
        if rows and all(take not in ("any", row.kind) for row in rows):
            what = f"all {len(rows):,} decisions in it are by a {rows[0].kind}"
            advice = f"say 'take: {rows[0].kind}', or name a file of decisions by a {take}"
            raise HarnessError(f"{shown_path(self._params.file)}: {what}, and 'take' is '{take}'; {advice}")


def placed_in(data: MakerInput, rows: Sequence[Decision]) -> Iterator[Placed]:
    """Each decision with the passage of the collection that has the text that was judged. A decision that is
    bound to a text is of the passage with its id if the text is the same, else of the same text in the same
    document. A decision without a digest is of the passage with its id."""
    corpus = data.corpus
    for low in range(0, len(rows), BLOCK):
        block = rows[low : low + BLOCK]
        positions = corpus.positions([row.passage for row in block])
        is_known = positions >= 0
        texts = iter(corpus.texts(positions[is_known]))
        same = [
            known and (row.sha256 in (None, digest(next(texts))))
            for row, known in zip(block, is_known.tolist(), strict=True)
        ]
        moved = [row for row, known in zip(block, same, strict=True) if not known and row.sha256]
        passage_of = _texts_of_documents(data, {row.document for row in moved})
        for row, is_there, is_same in zip(block, is_known.tolist(), same, strict=True):
            passage = row.passage if is_same else passage_of.get((row.document, row.sha256 or ""))
            by: By = "text" if row.sha256 else "id"
            if passage is not None:
                yield Placed(row, passage, by)
            else:
                yield Placed(row, row.passage, by, CHANGED if is_there else GONE)


def _texts_of_documents(data: MakerInput, documents: set[str]) -> dict[tuple[str, str], str]:
    """The first passage with each text of these documents, by document and the text's digest."""
    names, found = sorted(documents), dict[tuple[str, str], str]()
    for number in data.corpus.document_positions(names).tolist():
        for document in data.corpus.documents_in(number, number + 1) if number >= 0 else ():
            for passage in document.passages:
                if passage.candidate:
                    found.setdefault((document.id, digest(passage.text)), passage.id)
    return found


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _judgement(decision: Decision) -> Judgement:
    assert decision.grade is not None
    labels = dict.fromkeys(
        decision.labels
        if decision.labels is not None
        else (label for single in decision.judgements for label in single.labels if label)
    )
    return Judgement(decision.query, decision.passage, decision.grade, tuple(labels))
