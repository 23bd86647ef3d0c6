"""What a combiner promises: one ranking per query, made of the candidates of its inputs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.contracts import LearningFuser
from harness.testing import hit_checks
from harness.testing.subject import Subject, able, build, require
from harness.types import Asked, Hits, Ints, Structure, Unit

DEPTH = 8
ROWS = 6


def structure() -> Structure:
    """Twenty documents of 1 to 5 passages; every seventh passage is not a candidate."""
    lengths = np.array([1 + number % 5 for number in range(20)])
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    document_of = np.repeat(np.arange(20, dtype=np.int32), lengths)
    return Structure(document_of, first, np.arange(len(document_of)) % 7 != 6)


def generated(seed: int, unit: Unit, k: int = 8) -> Hits:
    """Hits of six queries. The second row is short, the third is empty, and the fourth has equal scores."""
    chance = np.random.default_rng(seed)
    whole = structure()
    pool = np.flatnonzero(whole.candidate) if unit == "passage" else np.arange(len(whole.first) - 1)
    positions = np.stack([chance.permutation(pool)[:k] for _ in range(ROWS)]).astype(np.int64)
    scores = -np.sort(-chance.normal(size=(ROWS, k)), axis=1).astype(np.float32)
    scores[3] = scores[3, 0]
    positions[1, 2:], positions[2] = -1, -1
    scores[positions < 0] = -np.inf
    return Hits(positions, scores, unit)


def rescored(number: int, positions: Ints, first: int = 0) -> Hits:
    """The hits that a retriever of passages gives for further positions. All queries have the same scores."""
    scores = np.where(positions < 0, -np.inf, np.sin(1.7 * positions + number)).astype(np.float32)
    order = np.argsort(-scores, axis=1, kind="stable")
    return Hits(np.take_along_axis(positions, order, 1), np.take_along_axis(scores, order, 1))


def mixes(subject: Subject) -> dict[str, list[Hits]]:
    """Inputs for each mix of units, as few as the method takes. If the method scores further passages, the
    inputs in `within` rank passages and the others rank documents."""
    count = max(subject.record.inputs[0], 1)
    passages = [generated(seed, "passage") for seed in range(count)]
    documents = [generated(seed + 50, "document") for seed in range(count)]
    if within := subject.record.within:
        sides = [passages[i] if i in within else documents[i] for i in range(count)]
        return {"passages and documents": sides}
    inputs = {"passages": passages, "documents": documents}
    if count > 1:
        inputs["passages and documents"] = [passages[0], *documents[1:]]
        inputs["documents and passages"] = [documents[0], *passages[1:]]
    return inputs


def combined(subject: Subject, inputs: Sequence[Hits], depth: int = DEPTH) -> Hits:
    """The combined hits. Raises `Broken` unless they are unique candidates, cut at `depth`."""
    before = [hit_checks.digest(hits) for hits in inputs]
    more = (rescored,) if subject.record.within else ()
    hits: Hits = build(subject).combine(list(inputs), depth, structure(), *more)
    require(before == [hit_checks.digest(hits) for hits in inputs], "it changes its inputs")
    unit: Unit = "document" if all(side.unit == "document" for side in inputs) else "passage"
    whole = structure()
    size = len(whole.document_of) if unit == "passage" else len(whole.first) - 1
    hits = hit_checks.check(hits, queries=len(inputs[0].passages), k=depth, size=size, unit=unit)
    for row in range(len(hits.passages)):
        foreign = sorted(set(hit_checks.of(hits, row)) - _candidates(inputs, row, unit))
        require(not foreign, f"it returns {foreign}, which no input found or which are not candidates")
    return hits


def _candidates(inputs: Sequence[Hits], row: int, unit: Unit) -> set[int]:
    corpus, positions = structure(), set[int]()
    for hits in inputs:
        for position in hit_checks.of(hits, row):
            if hits.unit == unit:
                positions.add(position)
            else:
                positions.update(range(corpus.first[position], corpus.first[position + 1]))
    return {position for position in positions if unit == "document" or corpus.candidate[position]}


def fingerprint(subject: Subject, _: Path) -> str:
    return " ".join(hit_checks.digest(combined(subject, inputs)) for inputs in mixes(subject).values())


def combines_passages_and_documents(subject: Subject, _: Path) -> None:
    for name, inputs in mixes(subject).items():
        with able(f"combine {name}"):
            combined(subject, inputs)


def gives_the_same_twice(subject: Subject, folder: Path) -> None:
    require(fingerprint(subject, folder) == fingerprint(subject, folder), "two calls give different results")


def returns_at_most_depth(subject: Subject, _: Path) -> None:
    """The hits for a depth must be the best hits for a greater depth."""
    for name, inputs in mixes(subject).items():
        many = combined(subject, inputs, 100)
        few = combined(subject, inputs, 3)
        for row in range(ROWS):
            best = np.array(list(hit_checks.of(many, row).values())[:3])
            scores = np.array(list(hit_checks.of(few, row).values()))
            good = hit_checks.same_scores(best, scores, subject.tolerance)
            require(good, f"the 3 best of {name} are not the first 3 of all")


def combines_queries_independently(subject: Subject, _: Path) -> None:
    for name, inputs in mixes(subject).items():
        together = combined(subject, inputs, 100)
        for row in range(ROWS):
            one = [
                Hits(hits.passages[row : row + 1], hits.scores[row : row + 1], hits.unit) for hits in inputs
            ]
            alone = combined(subject, one, 100)
            good = hit_checks.same(hit_checks.of(alone, 0), hit_checks.of(together, row), subject.tolerance)
            require(good, f"what it makes of a query's {name} depends on the other queries")


def takes_no_queries_and_no_hits(subject: Subject, _: Path) -> None:
    for name, inputs in mixes(subject).items():
        none = [Hits(hits.passages[:0], hits.scores[:0], hits.unit) for hits in inputs]
        with able(f"combine {name} of no query"):
            combined(subject, none)
        empty = [
            Hits(np.full_like(hits.passages, -1), np.full_like(hits.scores, -np.inf), hits.unit)
            for hits in inputs
        ]
        with able(f"combine {name} where nothing was found"):
            hits = combined(subject, empty)
        require((hits.passages == -1).all(), "it returns hits where no input has one")


def takes_single_hits(subject: Subject, _: Path) -> None:
    for name, inputs in mixes(subject).items():
        single = [Hits(hits.passages[:, :1], hits.scores[:, :1], hits.unit) for hits in inputs]
        with able(f"combine {name} of one hit a query"):
            combined(subject, single)
        if not subject.record.within:
            with able("combine inputs that agree on a single hit"):
                combined(subject, single[:1] * len(single))


def learns_values_of_queries(subject: Subject, _: Path) -> None:
    """Its model may be stored as JSON, whose keys have no order, between `learn` and `predict`."""
    if not subject.record.learns:
        return
    learner, values = build(subject), np.linspace(0, 1, 5)
    require(isinstance(learner, LearningFuser), "its record has `learns`, but it is no LearningFuser")
    asked = Asked([str(row) * row for row in range(ROWS)], [np.arange(float(row)) for row in range(ROWS)])
    for name, inputs in mixes(subject).items():
        with able(f"learn from {name}"):
            seen = learner.features(inputs, structure(), asked)
            scores = np.random.default_rng(5).random((ROWS, len(values)))
            model = json.loads(json.dumps(dict(learner.learn(seen, values, scores)), sort_keys=True))
            predicted = learner.predict(seen, model)
        good = predicted.shape == (ROWS,) and bool(np.isfinite(predicted).all())
        require(good, f"it must predict a finite number for each query, and predicts {predicted}")
