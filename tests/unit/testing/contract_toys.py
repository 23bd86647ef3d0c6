"""Toy methods that keep the contract, `broken` to break one in one place, and `verdict` on the result."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np

from harness import records, testing
from harness.types import Addition, Hits

WHOLE = "it keeps the contract"


def verdict(kind, record, name, given=None):
    """The sentence that the case of that name fails with, or WHOLE."""
    [case] = [case for case in testing.cases(kind, record, given) if case.name == name]
    with tempfile.TemporaryDirectory() as folder:
        try:
            case(Path(folder))
        except testing.Broken as broken:
            return str(broken)
    return WHOLE


def verdicts(kind, record, given=None):
    """Case -> sentence, of the cases that fail."""
    names = [case.name for case in testing.cases(kind, record, given)]
    sentences = {name: verdict(kind, record, name, given) for name in names}
    return {name: sentence for name, sentence in sentences.items() if sentence != WHOLE}


def record_of(kind, build, **more):
    type_of = {
        "retriever": records.Retriever,
        "reranker": records.Reranker,
        "combiner": records.Combiner,
        "context": records.Context,
        "dataset": records.Dataset,
        "analyser": records.Analyser,
    }[kind]
    return type_of(name="toy", summary="a toy", build=lambda _: build(), **more)


def broken(base, **methods):
    """A subclass of a toy. Each method is a function of the instance, the original method and its arguments."""

    def override(name, function):
        original = getattr(base, name)
        return lambda self, *args: function(self, functools.partial(original, self), *args)

    return type("Broken", (base,), {name: override(name, function) for name, function in methods.items()})


class Retriever:
    """Scores the number of distinct query words in a text, minus a little for its length."""

    def index(self, texts, folder):
        kept = {}
        for batch in texts.batches():
            kept.update(zip(batch.positions.tolist(), batch.texts, strict=True))
        (folder / "texts.json").write_text(json.dumps(kept))

    def open(self, texts, folder):
        self.unit = texts.unit
        kept = json.loads((folder / "texts.json").read_text())
        self.texts = {int(position): text for position, text in kept.items()}
        return self

    def score(self, query, text):
        words = text.split()
        return len(set(query.split()) & set(words)) - len(words) / 1000

    def search(self, queries, k, within=None):
        rows = [self.row(query, k, None if within is None else within[i]) for i, query in enumerate(queries)]
        positions, scores = np.full((len(rows), k), -1, np.int64), np.zeros((len(rows), k), np.float32)
        for i, row in enumerate(rows):
            for j, (position, score) in enumerate(row):
                positions[i, j], scores[i, j] = position, score
        return Hits(positions, scores, self.unit)

    def row(self, query, k, within):
        pool = self.texts if within is None else [p for p in within.tolist() if p in self.texts]
        scored = [(position, self.score(query, self.texts[position])) for position in pool]
        return sorted(scored, key=lambda pair: -pair[1])[:k]


class Reranker:
    """The retriever's score."""

    def index(self, texts, folder):
        Retriever().index(texts, folder)

    def open(self, texts, folder):
        self.texts = texts
        return self

    def score(self, queries, candidates):
        scores = np.zeros(candidates.shape, np.float32)
        for row, column in np.argwhere(candidates >= 0):
            [text] = self.texts.take(candidates[row, column : column + 1])
            scores[row, column] = Retriever().score(queries[row], text)
        return scores


class Combiner:
    """The best score of any input."""

    def combine(self, inputs, depth, structure):
        unit = "document" if all(hits.unit == "document" for hits in inputs) else "passage"
        rows = [self.row(inputs, row, unit, structure)[:depth] for row in range(len(inputs[0].passages))]
        positions = np.full((len(rows), depth), -1, np.int64)
        scores = np.zeros((len(rows), depth), np.float32)
        for i, row in enumerate(rows):
            for j, (position, score) in enumerate(row):
                positions[i, j], scores[i, j] = position, score
        return Hits(positions, scores, unit)

    def row(self, inputs, row, unit, structure):
        best = {}
        for hits in inputs:
            for position, score in zip(hits.passages[row].tolist(), hits.scores[row].tolist(), strict=True):
                for target in self.targets(position, hits.unit, unit, structure):
                    best[target] = max(score, best.get(target, score))
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))

    def targets(self, position, given, wanted, structure):
        if position < 0:
            return []
        if given == wanted:
            return [position]
        spread = range(structure.first[position], structure.first[position + 1])
        return [passage for passage in spread if structure.candidate[passage]]


class Augmenter:
    """Adds the number of a document's passages."""

    def augment(self, documents):
        for document in documents:
            yield Addition(prefix=f"{len(document.passages)} passages:")
