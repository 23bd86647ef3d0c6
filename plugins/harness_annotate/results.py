"""The results of a judging folder as files: the decision of each pair, with every judgement behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness.toolkit.files import writing
from harness_annotate import decisions, pool_files
from harness_annotate.journal import Journal
from harness_annotate.pool_files import Pool
from harness_annotate.scheme import Choice, Rules, Scheme
from harness_annotate.state import State, Verdict, Vote

JUDGEMENTS, UNDECIDED, MACHINE, QRELS = "judgements.jsonl", "undecided.jsonl", "machine.jsonl", "qrels.tsv"
ABOUT = "export.json"
OPEN = "open"  # the rule that is given for an undecided pair


class About(msgspec.Struct, frozen=True):
    """The content of export.json: the scheme and rules, the last exported entry of the log, and the files."""

    pool: str
    scheme: Scheme
    rules: Rules
    counts: dict[str, int]
    log: str
    files: dict[str, str]  # name -> SHA-256


class Final(NamedTuple):
    """The final decision on a pair. `choice` is None if the pair was dropped."""

    choice: Choice | None
    rule: str


def final(state: State, number: int) -> Final | None:
    """The final decision on a pair, or None if it is not decided yet. A reviewer's correction replaces the
    decision of the votes if all reviewers who correct the pair agree."""
    if number in state.head.gold:
        return Final(state.head.gold[number], "gold")
    decision = state.decision(number)
    if decision.status == "open":
        return None
    verdicts = state.pairs[number].verdicts.values()
    corrections = {verdict.choice for verdict in verdicts if not verdict.right and verdict.choice is not None}
    if len(corrections) == 1:
        return Final(corrections.pop(), "review")
    return Final(decision.choice, decision.rule)


def export(journal: Journal, pool: Pool, out: Path) -> dict[str, int]:
    """Writes the decided pairs, the undecided ones, the machines' grades, and export.json with the rules and
    the last entry of the log. Returns the number of pairs of each kind."""
    with journal.reading() as state:
        people = list(_people(state, pool))
        files = {
            JUDGEMENTS: [line for line in people if line["rule"] != OPEN],
            UNDECIDED: [line for line in people if line["rule"] == OPEN],
            MACHINE: list(_machines(state, pool)),
        }
        digest = journal.last_digest()
        head = state.head
    for name, lines in files.items():
        if lines or name == JUDGEMENTS:
            pool_files.write_judgements(out / name, lines)
        else:
            (out / name).unlink(missing_ok=True)  # left by an earlier export
    pool_files.write_qrels(out / QRELS, files[JUDGEMENTS])
    written = [name for name in (*files, QRELS) if (out / name).is_file()]
    counts = {
        "pairs": head.pairs,
        "decided": sum(line["grade"] is not None for line in files[JUDGEMENTS]),
        "dropped": sum(line["grade"] is None for line in files[JUDGEMENTS]),
        "graded by machine": len(files[MACHINE]),
    }
    digests = {name: writing.sha256(out / name) for name in written}
    about = About(head.pool, head.scheme, head.rules, counts, digest, digests)
    data = msgspec.json.format(msgspec.json.encode(about, order="deterministic"), indent=2)
    writing.replace_file(out / ABOUT, data + b"\n")
    return counts


def _people(state: State, pool: Pool) -> Iterator[dict[str, Any]]:
    for number, pair in enumerate(state.pairs):
        judgements = [_vote(vote) | {"superseded": True} for vote in pair.before]
        judgements += [_vote(vote) for vote in pair.votes + pair.skips]
        decided = final(state, number)
        judgements += [_verdict(verdict, decided) for verdict in pair.verdicts.values()]
        if judgements:
            choice = decided.choice if decided else None
            yield _line(state, pool, number, "person", decided.rule if decided else OPEN, choice, judgements)


def _machines(state: State, pool: Pool) -> Iterator[dict[str, Any]]:
    for number, pair in enumerate(state.pairs):
        graded = sorted(pair.machines.items())
        if graded:
            rules = Rules(votes=len(graded))
            decision = decisions.decide(state.scheme, rules, [grading.choice for _, grading in graded])
            judgements = [
                {"judge": judge, "kind": "machine", **_line_of(grading.choice, ""), "time": grading.at}
                | ({} if grading.score is None else {"score": grading.score})
                for judge, grading in graded
            ]
            yield _line(state, pool, number, "machine", decision.rule, decision.choice, judgements)


def _line(
    state: State, pool: Pool, number: int, kind: str, rule: str, choice: Choice | None,
    judgements: list[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    pair = pool.pairs[number]
    line = {
        "query": pair.query,
        "passage": pair.passage,
        "document": pair.document,
        "sha256": pool.digests[pair.document, pair.passage],
        **_line_of(choice, "", bool(state.scheme.labels)),
        "kind": kind,
        "rule": rule,
    }
    judgements.sort(key=lambda judgement: str(judgement["time"]))
    return {**line, "judgements": judgements, "pool": state.head.pool}


def _vote(vote: Vote) -> dict[str, Any]:
    line = {"judge": vote.person, "kind": "person", **_line_of(vote.choice, vote.comment), "time": vote.at}
    return line if vote.blind else {**line, "blind": False}


def _verdict(verdict: Verdict, decided: Final | None) -> dict[str, Any]:
    """A reviewer's verdict as a line, with the grade that the reviewer considers right, if given."""
    choice = decided.choice if decided and verdict.right else verdict.choice
    line = {
        "judge": verdict.person,
        "kind": "person",
        **_line_of(choice, verdict.comment),
        "time": verdict.at,
    }
    return {**line, "role": "reviewer", "right": verdict.right}


def _line_of(choice: Choice | None, comment: str, several: bool = False) -> dict[str, Any]:
    """The grade, labels and comment of a judgement as a line. With `several`, the scheme has labels, so an
    empty list of labels is written too."""
    line: dict[str, Any] = {"grade": choice.grade if choice else None}
    if choice and (choice.labels or several):
        line["labels"] = list(choice.labels)
    if comment:
        line["comment"] = comment
    return line
