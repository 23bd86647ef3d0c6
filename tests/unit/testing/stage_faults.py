"""Faults of combiners and context-augmenters: (case that finds it, part of its sentence, methods that replace a toy's)."""

import itertools

import numpy as np

from harness.types import Addition, Edit

COUNTER = itertools.count(1)


def invent_a_hit(self, original, *args):
    row = original(*args)
    return [*row, (0, row[-1][1] - 1)] if row and 0 not in dict(row) else row


def spread_to_all_passages(self, original, position, given, wanted, structure):
    if position < 0 or given == wanted:
        return original(position, given, wanted, structure)
    return range(structure.first[position], structure.first[position + 1])


def scale_by_batch(self, original, *args):
    hits = original(*args)
    top = np.abs(np.where(hits.passages >= 0, hits.scores, 0)).max(initial=1)
    return hits._replace(scores=(hits.scores / top).astype(np.float32))


def change_the_inputs(self, original, inputs, depth, structure):
    hits = original(inputs, depth, structure)
    inputs[0].scores[:] = 0
    return hits


def need_queries(self, original, inputs, depth, structure):
    assert len(inputs[0].passages) > 0, "no queries"
    return original(inputs, depth, structure)


def need_passages(self, original, inputs, depth, structure):
    assert all(hits.unit == "passage" for hits in inputs), "documents are not supported"
    return original(inputs, depth, structure)


def need_a_hit(self, original, *args):
    row = original(*args)
    return row if row[0] else []


def scale_by_range(self, original, *args):
    """Min-max normalisation that divides by zero for a single score."""
    row = original(*args)
    scores = np.array([score for _, score in row])
    with np.errstate(all="ignore"):
        scaled = (scores - scores.min(initial=9)) / (scores.max(initial=-9) - scores.min(initial=9))
    return [(position, score) for (position, _), score in zip(row, scaled, strict=True)]


COMBINERS = [
    (
        "returns at most depth",
        "at most 100 were asked for",
        {"combine": lambda _, original, inputs, depth, structure: original(inputs, depth + 1, structure)},
    ),
    ("combines passages and documents", "which no input found", {"row": invent_a_hit}),
    ("combines passages and documents", "which are not candidates", {"targets": spread_to_all_passages}),
    (
        "combines passages and documents",
        "is returned twice",
        {"row": lambda _, original, *args: original(*args)[:1] + original(*args)},
    ),
    (
        "combines passages and documents",
        "the unit passage",
        {"combine": lambda _, original, *args: original(*args)._replace(unit="passage")},
    ),
    ("combines passages and documents", "it changes its inputs", {"combine": change_the_inputs}),
    ("combines passages and documents", "it cannot combine documents", {"combine": need_passages}),
    (
        "combines passages and documents",
        "returns a tuple",
        {"combine": lambda _, original, *args: tuple(original(*args))},
    ),
    ("combines queries independently", "depends on the other queries", {"combine": scale_by_batch}),
    ("takes no queries and no hits", "IndexError", {"row": need_a_hit}),
    ("takes no queries and no hits", "AssertionError: no queries", {"combine": need_queries}),
    ("takes single hits", "is not finite", {"row": scale_by_range}),
    (
        "gives the same twice",
        "two calls",
        {"row": lambda _, original, *args: [(p, next(COUNTER)) for p, _score in original(*args)[:1]]},
    ),
]


def adding(addition):
    """Replaces the augmenter by one that makes an addition from each document alone."""
    return {"augment": lambda _self, _original, documents: (addition(document) for document in documents)}


def need_documents(self, original, documents):
    first = next(documents)
    yield Addition()
    yield from (Addition(first.title[:0]) for _ in documents)


def overlapping_edits(text):
    return [Edit(0, 3, "x"), Edit(2, 4, "y")] if len(text) > 3 else []


CONTEXTS = [
    (
        "adds once to each document",
        "21 additions for 22 documents",
        {"augment": lambda _self, _original, documents: (Addition(d.title) for d in documents if d.title)},
    ),
    (
        "streams",
        "before it returns the first",
        {"augment": lambda _, original, documents: original(list(documents))},
    ),
    (
        "adds to documents independently",
        "depends on the other documents",
        {"augment": lambda _self, _original, documents: (Addition(str(i)) for i, _ in enumerate(documents))},
    ),
    ("takes no documents", "it cannot augment no documents", {"augment": need_documents}),
    ("adds once to each document", "neither all nor none", adding(lambda _: Addition(prefixes=("one",)))),
    ("adds the same twice", "the second time", adding(lambda _: Addition(str(next(COUNTER))))),
    (
        "edits within each passage",
        "is not within its",
        adding(lambda d: Addition(edits=tuple((Edit(0, len(p.text) + 1, ""),) for p in d.passages))),
    ),
    (
        "edits within each passage",
        "overlaps the one before it",
        adding(lambda d: Addition(edits=tuple(tuple(overlapping_edits(p.text)) for p in d.passages))),
    ),
    (
        "edits within each passage",
        "or is out of order",
        adding(lambda d: Addition(edits=tuple(tuple(overlapping_edits(p.text)[::-1]) for p in d.passages))),
    ),
    ("adds once to each document", "IndexError", adding(lambda d: Addition(d.title.split()[0]))),
    ("adds once to each document", "the prefix is not a string", adding(lambda _: Addition(None))),
    ("adds once to each document", "it returns a str", adding(lambda d: d.title)),
]
