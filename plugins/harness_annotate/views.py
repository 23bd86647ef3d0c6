"""The data that the page gets: a pair with its document, progress, and machines' grades after the answer."""

from __future__ import annotations

from typing import Any

import msgspec

from harness_annotate import assignment, results, review, words
from harness_annotate.pool_files import Document, Pool
from harness_annotate.project import Project
from harness_annotate.state import Person, State, Vote

AROUND = 40_000  # the most characters of the document before the passage, and after it
LISTED = 200  # the most of one's own answers that are listed
SHOWN = 160  # the most characters of a passage in that list


def about(project: Project, name: str) -> dict[str, Any]:
    """The data that stay the same while the page is open."""
    with project.journal.reading() as state:
        person, scheme = state.people[name], state.scheme
        return {
            "person": name,
            "role": person.role,
            "pool": project.pool.head.name,
            "split": project.pool.head.split,
            "language": project.pool.head.language,
            "queryLanguage": project.pool.head.query_language or project.pool.head.language,
            "scheme": msgspec.to_builtins(scheme),
            "votes": state.rules.votes,
            "threshold": state.rules.accuracy,
        }


def next_pair(project: Project, name: str) -> dict[str, Any]:
    """The annotator's progress and next pair, as the page needs them. At the end there is no pair."""
    number = assignment.next_pair(project.journal, name)
    with project.journal.reading() as state:
        made: dict[str, Any] = {"progress": progress(state, state.people[name])}
    return made if number is None else made | {"pair": pair(project.pool, number)}


def pair(pool: Pool, number: int) -> dict[str, Any]:
    listed = pool.pairs[number]
    document = pool.document(listed.document)
    before, text, after = around(document, listed.passage)
    query = pool.queries[listed.query].text
    return {
        "number": number,
        "query": query,
        "words": words.shared(query, [document.title, *before, text, *after], pool.head.language)._asdict(),
        "title": document.title,
        "before": before,
        "passage": text,
        "after": after,
        "passages": len(document.passages),
        "place": next(i for i, item in enumerate(document.passages, 1) if item.id == listed.passage),
    }


def around(document: Document, passage: str) -> tuple[list[str], str, list[str]]:
    """The texts before the passage, the passage itself, and the texts after it, in reading order. If the
    document is long, only the nearest texts are included."""
    texts = [item.text for item in document.passages]
    place = [item.id for item in document.passages].index(passage)
    return _within(texts[:place][::-1])[::-1], texts[place], _within(texts[place + 1 :])


def _within(texts: list[str]) -> list[str]:
    kept, left = [], AROUND
    for text in texts:
        if len(text) > left:
            break
        kept.append(text)
        left -= len(text)
    return kept


def progress(state: State, person: Person) -> dict[str, Any]:
    total = sum(map(len, state.packages))
    return {"mine": len(person.history), "done": total - len(state.open), "pairs": total}


def answers(project: Project, name: str) -> dict[str, Any]:
    """The person's own answers, the newest first. They can be changed until a reviewer has seen the pair."""
    pool = project.pool
    with project.journal.reading() as state:
        history = state.person(name, "annotator").history[: -LISTED - 1 : -1]
        listed = [
            (number, _vote(state, name, number), bool(state.pairs[number].verdicts)) for number in history
        ]
    return {
        "answers": [
            {
                "number": number,
                "query": pool.queries[pool.pairs[number].query].text,
                "passage": around(pool.document(pool.pairs[number].document), pool.pairs[number].passage)[1][
                    :SHOWN
                ],
                "choice": msgspec.to_builtins(vote.choice) if vote else None,
                "comment": vote.comment if vote else "",
                "reviewed": reviewed,
            }
            for number, vote, reviewed in listed
        ]
    }


def _vote(state: State, name: str, number: int) -> Vote | None:
    pair = state.pairs[number]
    return next((vote for vote in pair.votes + pair.skips if vote.person == name), None)


def answered(project: Project, name: str, number: int) -> dict[str, Any]:
    """The person's choice and the machines' grades. Only here, after the choice, the page gets them."""
    with project.journal.reading() as state:
        pair, vote = state.pairs[number], _vote(state, name, number)
        return {
            "choice": msgspec.to_builtins(vote.choice) if vote else None,
            "machines": [
                {"judge": judge, **msgspec.to_builtins(grading.choice)}
                for judge, grading in sorted(pair.machines.items())
            ],
        }


def next_review(project: Project, name: str) -> dict[str, Any]:
    with project.journal.reading() as state:
        made: dict[str, Any] = {"packages": [package._asdict() for package in review.packages(state)]}
        number = review.next_pair(state, name)
        if number is None:
            return made
        decided = results.final(state, number)
        assert decided is not None  # only decided pairs are in a sample
        comments = [vote.comment for vote in state.pairs[number].votes if vote.comment]
    decision = {"choice": msgspec.to_builtins(decided.choice), "rule": decided.rule, "comments": comments}
    return made | {"pair": pair(project.pool, number), "decision": decision}
