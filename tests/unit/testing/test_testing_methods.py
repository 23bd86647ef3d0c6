"""The contract finds each fault that a re-ranker, a combiner or a context-augmenter may have."""

import numpy as np
import pytest
from testing_toys import WHOLE, Augmenter, Combiner, Reranker, Retriever, verdict, verdicts

from harness import records
from harness.types import Addition, Edit, Hits


def reranker(build=Reranker, **more):
    return records.Reranker(name="toy", summary="a toy", build=lambda _: build(), **more)


def combiner(build=Combiner):
    return records.Combiner(name="toy", summary="a toy", build=lambda _: build())


def context(build=Augmenter):
    return records.Context(name="toy", summary="a toy", build=lambda _: build())


def test_a_good_reranker_keeps_every_promise_with_an_index_and_without():
    assert verdicts("reranker", reranker()) == {}
    assert verdicts("reranker", reranker(indexed=True)) == {}


def test_a_good_combiner_keeps_every_promise():
    assert verdicts("combiner", combiner()) == {}


def test_a_good_augmenter_keeps_every_promise():
    assert verdicts("context", context()) == {}


class ScoresListwise(Reranker):
    def score(self, queries, candidates):
        scores = super().score(queries, candidates)
        return scores - scores.mean(axis=1, keepdims=True) if scores.size else scores


class ScoresByRank(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates) - np.arange(candidates.shape[1], dtype=np.float32)


class ScoresByBatch(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates) + np.float32(len(queries))


class ReadsFills(Reranker):
    def score(self, queries, candidates):
        for row in candidates:
            assert all(self.texts.every[position] is not None for position in row)
            assert (row >= 0).all(), "no text there"
        return super().score(queries, candidates)


class FillsCount(Reranker):
    def score(self, queries, candidates):
        missing = (candidates < 0).sum(axis=1, keepdims=True)
        return (super().score(queries, candidates) - missing).astype(np.float32)


class ChangesCandidates(Reranker):
    def score(self, queries, candidates):
        candidates.sort(axis=1)
        return super().score(queries, candidates)


class Infinite(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates) - np.float32(np.inf)


class WrongShape(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates).T


class Lists(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates).tolist()


class Drifts(Reranker):
    calls = 0

    def score(self, queries, candidates):
        self.calls += 1
        return super().score(queries, candidates) + np.float32(self.calls)


class DiffersByBuild(Reranker):
    def open(self, texts, folder):
        self.noise = np.float32(np.random.default_rng().random())
        return super().open(texts, folder)

    def score(self, queries, candidates):
        return super().score(queries, candidates) + self.noise


class NeedsWords(Reranker):
    def score(self, queries, candidates):
        return super().score(queries, candidates) / np.float32(
            [[1 / len(query.split())] for query in queries]
        )


class KnowsPositions(Reranker):
    def score(self, queries, candidates):
        return (super().score(queries, candidates) + candidates / 100).astype(np.float32)


class TrustsLeftovers(Reranker):
    def index(self, texts, folder):
        if not (folder / "texts.json").exists():
            (folder / "texts.json").write_text("{}")
            Retriever().index(texts, folder)


@pytest.mark.parametrize(
    ("build", "case", "sentence"),
    [
        (ScoresListwise, "scores do not depend on other candidates", "depends on the other candidates"),
        (ScoresByRank, "scores do not depend on the order", "where it stands among the candidates"),
        (ScoresByBatch, "scores do not depend on other queries", "depend on the other queries"),
        (ReadsFills, "passes over what is filled", "short or empty: AssertionError: no text there"),
        (FillsCount, "passes over what is filled", "the -1 that fill a short row change the scores"),
        (ChangesCandidates, "gives the same for two calls", "it changes the candidates that it is given"),
        (Infinite, "gives the same for two calls", "a score is not finite"),
        (WrongShape, "gives the same for two calls", "float32[12, 4]; they must be float32[4, 12]"),
        (Lists, "gives the same for two calls", "its scores are a list, no array"),
        (Drifts, "gives the same for two calls", "scoring twice gives different scores"),
        (DiffersByBuild, "gives the same for two indexes", "built twice for one corpus"),
        (NeedsWords, "takes empty queries and texts", "score empty queries and texts: ZeroDivisionError"),
        (KnowsPositions, "scores equal texts equally", "it scores the same text differently"),
        (TrustsLeftovers, "finishes an index that was interrupted", "without reading the texts"),
    ],
)
def test_each_fault_of_a_reranker_is_found(build, case, sentence):
    found = verdict("reranker", reranker(build, indexed=build is TrustsLeftovers), case)
    assert found.startswith("the reranker 'toy': ")
    assert sentence in found


class IgnoresDepth(Combiner):
    def combine(self, inputs, depth, structure):
        return super().combine(inputs, depth + 1, structure)


class CutsTheWrongEnd(Combiner):
    def row(self, inputs, row, unit, structure):
        return super().row(inputs, row, unit, structure)[::-1]


class Invents(Combiner):
    def row(self, inputs, row, unit, structure):
        found = super().row(inputs, row, unit, structure)
        return [*found, (0, found[-1][1] - 1)] if found and 0 not in dict(found) else found


class SpreadsToContext(Combiner):
    def targets(self, position, given, wanted, structure):
        if position < 0 or given == wanted:
            return super().targets(position, given, wanted, structure)
        return range(structure.first[position], structure.first[position + 1])


class Duplicates(Combiner):
    def row(self, inputs, row, unit, structure):
        found = super().row(inputs, row, unit, structure)
        return found[:1] + found


class ForgetsUnits(Combiner):
    def combine(self, inputs, depth, structure):
        return super().combine(inputs, depth, structure)._replace(unit="passage")


class ScalesByBatch(Combiner):
    def combine(self, inputs, depth, structure):
        hits = super().combine(inputs, depth, structure)
        top = np.abs(np.where(hits.passages >= 0, hits.scores, 0)).max(initial=1)
        return hits._replace(scores=(hits.scores / top).astype(np.float32))


class ChangesItsInputs(Combiner):
    def combine(self, inputs, depth, structure):
        hits = super().combine(inputs, depth, structure)
        inputs[0].scores[:] = 0
        return hits


class NeedsHits(Combiner):
    def row(self, inputs, row, unit, structure):
        found = super().row(inputs, row, unit, structure)
        return found if found[0] else []


class NeedsQueries(Combiner):
    def combine(self, inputs, depth, structure):
        assert len(inputs[0].passages) > 0, "no queries"
        return super().combine(inputs, depth, structure)


class Divides(Combiner):
    """Min-max without a thought for one score."""

    def row(self, inputs, row, unit, structure):
        found = super().row(inputs, row, unit, structure)
        scores = np.array([score for _, score in found])
        with np.errstate(all="ignore"):
            scaled = (scores - scores.min(initial=9)) / (scores.max(initial=-9) - scores.min(initial=9))
        return [(position, score) for (position, _), score in zip(found, scaled, strict=True)]


class Shuffles(Combiner):
    def row(self, inputs, row, unit, structure):
        found = super().row(inputs, row, unit, structure)
        return [(position, np.random.default_rng().random()) for position, _ in found[:1]]


class PassagesOnly(Combiner):
    def combine(self, inputs, depth, structure):
        assert all(hits.unit == "passage" for hits in inputs), "documents are not supported"
        return super().combine(inputs, depth, structure)


class ReturnsPairs(Combiner):
    def combine(self, inputs, depth, structure):
        return tuple(super().combine(inputs, depth, structure))


@pytest.mark.parametrize(
    ("build", "case", "sentence"),
    [
        (IgnoresDepth, "returns at most depth", "hits a query were returned; at most 100 were asked for"),
        (CutsTheWrongEnd, "returns at most depth", "its hits are not sorted best first"),
        (Invents, "combines passages and documents", "which no input found or which are no candidates"),
        (SpreadsToContext, "combines passages and documents", "or which are no candidates"),
        (Duplicates, "combines passages and documents", "is returned twice"),
        (ForgetsUnits, "combines passages and documents", "that they are of passages and are of documents"),
        (ScalesByBatch, "combines each query for itself", "depends on the other queries"),
        (ChangesItsInputs, "combines passages and documents", "it changes the hits that it is given"),
        (NeedsHits, "takes no queries and no hits", "where nothing was found: IndexError"),
        (NeedsQueries, "takes no queries and no hits", "of no query: AssertionError: no queries"),
        (Divides, "takes single hits", "is not finite"),
        (Shuffles, "gives the same twice", "two calls give different results"),
        (PassagesOnly, "combines passages and documents", "it cannot combine documents"),
        (ReturnsPairs, "combines passages and documents", "it returns a tuple, no Hits"),
    ],
)
def test_each_fault_of_a_combiner_is_found(build, case, sentence):
    found = verdict("combiner", combiner(build), case)
    assert found.startswith("the combiner 'toy': ")
    assert sentence in found


def test_the_inputs_of_the_combiners_case_are_what_the_harness_hands_over():
    from harness.testing.combiner import made_up

    hits = made_up(0, "passage")
    assert isinstance(hits, Hits)
    assert hits.passages[2].tolist() == [-1] * 8
    assert (hits.scores[:, 1:] <= hits.scores[:, :-1]).all()


def augmenter(addition):
    """An augmenter whose additions are made from a document by a function."""

    class Made:
        def augment(self, documents):
            return (addition(document) for document in documents)

    return Made


class SkipsEmpty:
    def augment(self, documents):
        return (Addition(document.title) for document in documents if document.title)


class ReadsAll:
    def augment(self, documents):
        return [Addition() for _ in list(documents)]


class Counts:
    def augment(self, documents):
        return (Addition(str(number)) for number, _ in enumerate(documents))


class NeedsDocuments:
    def augment(self, documents):
        first = next(documents)
        yield Addition()
        yield from (Addition(first.title[:0]) for _ in documents)


def short_prefixes(document):
    return Addition(prefixes=("one",))


def random_prefix(document):
    return Addition(str(np.random.default_rng().random()))


def long_edit(document):
    return Addition(edits=tuple((Edit(0, len(passage.text) + 1, ""),) for passage in document.passages))


def overlapping_edits(document):
    return Addition(edits=tuple(tuple(_overlap(passage.text)) for passage in document.passages))


def _overlap(text):
    return [Edit(0, 3, "x"), Edit(2, 4, "y")] if len(text) > 3 else []


def unsorted_edits(document):
    return Addition(edits=tuple(tuple(_overlap(p.text)[::-1]) for p in document.passages))


def needs_a_title(document):
    return Addition(document.title.split()[0])


def no_text(document):
    return Addition(None)


def no_addition(document):
    return document.title


@pytest.mark.parametrize(
    ("build", "case", "sentence"),
    [
        (SkipsEmpty, "adds once to each document", "21 additions for 22 documents"),
        (ReadsAll, "streams", "it reads 5000 documents before it returns the first addition"),
        (Counts, "adds to each document for itself", "depends on the other documents"),
        (NeedsDocuments, "takes no documents", "it cannot augment no documents"),
        (augmenter(short_prefixes), "adds once to each document", "neither all nor none"),
        (augmenter(random_prefix), "adds the same twice", "different additions the second time"),
        (augmenter(long_edit), "edits within each passage", "is not within its"),
        (augmenter(overlapping_edits), "edits within each passage", "overlaps the one before it"),
        (augmenter(unsorted_edits), "edits within each passage", "overlaps the one before it, or is out of"),
        (augmenter(needs_a_title), "adds once to each document", "of every shape: IndexError"),
        (augmenter(no_text), "adds once to each document", "the prefix is no text"),
        (augmenter(no_addition), "adds once to each document", "it returns a str"),
    ],
)
def test_each_fault_of_an_augmenter_is_found(build, case, sentence):
    found = verdict("context", context(build), case)
    assert found != WHOLE
    assert found.startswith("the context 'toy': ")
    assert sentence in found
