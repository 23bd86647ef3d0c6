"""The contract for retrievers finds each fault that a retriever may have."""

import numpy as np
import pytest
from testing_toys import WHOLE, Retriever, verdict, verdicts

from harness import records
from harness.types import Hits


def record(build=Retriever, **more):
    return records.Retriever(name="toy", summary="a toy", build=lambda _: build(), **more)


def test_a_good_retriever_keeps_every_promise():
    assert verdicts("retriever", record()) == {}


def test_a_retriever_of_documents_alone_is_asked_for_documents_alone():
    class Documents(Retriever):
        def open(self, texts, folder):
            assert texts.unit == "document"
            return super().open(texts, folder)

    assert verdicts("retriever", record(Documents, units=("document",))) == {}


class IgnoresK(Retriever):
    def search(self, queries, k, within=None):
        return super().search(queries, k + 1, within)


class ApproximateForFewHits(Retriever):
    def row(self, query, k, within):
        return super().row(query, 50, within)[-k:] if k < 4 else super().row(query, k, within)


class RandomScores(Retriever):
    def open(self, texts, folder):
        self.noise = np.random.default_rng().random()
        return super().open(texts, folder)

    def score(self, query, text):
        return super().score(query, text) + self.noise


class ScoresThatDrift(Retriever):
    calls = 0

    def score(self, query, text):
        self.calls += 1
        return super().score(query, text) + self.calls


class ScoresByPosition(Retriever):
    def row(self, query, k, within):
        return sorted(((p, s + p / 100) for p, s in super().row(query, 99, within)), key=lambda x: -x[1])[:k]


class OnlyPassages(Retriever):
    def open(self, texts, folder):
        super().open(texts, folder)
        self.unit = "passage"
        return self


class Unsorted(Retriever):
    def row(self, query, k, within):
        return super().row(query, k, within)[::-1]


class Twice(Retriever):
    def row(self, query, k, within):
        row = super().row(query, k, within)
        return (row[:1] + row)[:k]


class OutOfRange(Retriever):
    def row(self, query, k, within):
        return [(position + 1000, score) for position, score in super().row(query, k, within)]


class NotANumber(Retriever):
    def score(self, query, text):
        return float("nan")


class Doubles(Retriever):
    def search(self, queries, k, within=None):
        hits = super().search(queries, k, within)
        return hits._replace(scores=hits.scores.astype(np.float64))


class FillsInFront(Retriever):
    def search(self, queries, k, within=None):
        hits = super().search(queries, k, within)
        return Hits(hits.passages[:, ::-1].copy(), hits.scores, hits.unit)


class PadsWithPosition(Retriever):
    """Fills a short row with the first hit, over and over."""

    def row(self, query, k, within):
        row = super().row(query, k, within)
        return (row + row[:1] * k)[:k]


class NeedsTexts(Retriever):
    def index(self, texts, folder):
        next(texts.batches())
        super().index(texts, folder)


class NeedsTwoTexts(Retriever):
    def open(self, texts, folder):
        super().open(texts, folder)
        _first, _second, *_ = self.texts
        return self


class NeedsQueries(Retriever):
    def search(self, queries, k, within=None):
        _ = queries[0]
        return super().search(queries, k, within)


class NeedsWords(Retriever):
    def score(self, query, text):
        return len(set(query.split()) & set(text.split())) / len(query.split())


class NeedsWordsInTexts(Retriever):
    def score(self, query, text):
        return len(set(query.split()) & set(text.split())) / len(text.split())


class OnlyAscii(Retriever):
    def index(self, texts, folder):
        for batch in texts.batches():
            [text.encode("ascii") for text in batch.texts]
        super().index(texts, folder)


class TrustsLeftovers(Retriever):
    """Writes as it reads, and takes a file that is there for a finished one."""

    def index(self, texts, folder):
        if not (folder / "texts.json").exists():
            (folder / "texts.json").write_text("{}")
            super().index(texts, folder)


class RefusesLeftovers(Retriever):
    def index(self, texts, folder):
        (folder / "started").mkdir()
        super().index(texts, folder)


class AppendsToLeftovers(Retriever):
    def index(self, texts, folder):
        with (folder / "count").open("a") as file:
            for _batch in texts.batches():
                file.write("x")
                file.flush()
        super().index(texts, folder)

    def open(self, texts, folder):
        self.count = len((folder / "count").read_text())
        return super().open(texts, folder)

    def score(self, query, text):
        return super().score(query, text) + self.count


class SwallowsInterrupts(Retriever):
    def index(self, texts, folder):
        try:
            super().index(texts, folder)
        except BaseException:
            (folder / "texts.json").write_text("{}")


class IgnoresWithin(Retriever):
    def row(self, query, k, within):
        return super().row(query, k, None)


class RoughWithin(Retriever):
    def row(self, query, k, within):
        rough = 0 if within is None else 0.5
        return [(position, score + rough) for position, score in super().row(query, k, within)]


class ForgetsWithin(Retriever):
    def row(self, query, k, within):
        return super().row(query, k, within)[: k if within is None else 2]


class CountsTexts(Retriever):
    """Takes the number of a text for its position."""

    def open(self, texts, folder):
        super().open(texts, folder)
        self.texts = dict(enumerate(self.texts.values()))
        return self


class ReturnsContext(Retriever):
    def open(self, texts, folder):
        super().open(texts, folder)
        self.texts = dict(enumerate(texts.take(np.arange(texts.size))))
        return self


class CountsContext(Retriever):
    """Returns candidates alone, but its scores know how many texts there are in all."""

    def open(self, texts, folder):
        self.size = texts.size
        return super().open(texts, folder)

    def score(self, query, text):
        return super().score(query, text) * self.size


class NormalisesOverQueries(Retriever):
    def search(self, queries, k, within=None):
        hits = super().search(queries, k, within)
        return hits._replace(scores=(hits.scores / max(len(queries), 1)).astype(np.float32))


@pytest.mark.parametrize(
    ("build", "case", "sentence"),
    [
        (IgnoresK, "returns at most k", "41 hits a query were returned; at most 40 were asked for"),
        (ApproximateForFewHits, "returns at most k", "the 1 best are not the first 1 of all"),
        (RandomScores, "gives the same for two indexes", "two indexes of one corpus give different results"),
        (ScoresThatDrift, "gives the same for two searches", "searching twice gives different results"),
        (ScoresByPosition, "scores equal texts equally", "it scores the same text differently"),
        (OnlyPassages, "ranks every unit that it says", "say that they are of passages and are of documents"),
        (Unsorted, "returns at most k", "its hits are not sorted best first"),
        (Twice, "returns at most k", "is returned twice"),
        (OutOfRange, "returns at most k", "is not in 0 to 39"),
        (NotANumber, "returns at most k", "the score nan is not finite"),
        (Doubles, "returns at most k", "the scores of the hits are float64[4, 40]"),
        (FillsInFront, "fills short rows", "a short row has its -1 before a hit"),
        (PadsWithPosition, "fills short rows", "is returned twice"),
        (NeedsTexts, "takes an empty corpus", "it cannot index and search an empty corpus: StopIteration"),
        (NeedsTwoTexts, "takes one text", "it cannot index and search a single text: ValueError"),
        (NeedsQueries, "takes no queries", "it cannot search without a query: IndexError"),
        (NeedsWords, "takes empty queries and texts", "search for empty queries: ZeroDivisionError"),
        (NeedsWordsInTexts, "takes empty queries and texts", "search for empty queries: ZeroDivisionError"),
        (OnlyAscii, "takes any script", "text of other scripts: UnicodeEncodeError"),
        (
            TrustsLeftovers,
            "finishes an index that was interrupted",
            "it indexes without reading the texts",
        ),
        (RefusesLeftovers, "finishes an index that was interrupted", "FileExistsError"),
        (AppendsToLeftovers, "finishes an index that was interrupted", "what an interrupted one left gives"),
        (SwallowsInterrupts, "finishes an index that was interrupted", "or goes on after an interrupt"),
        (IgnoresWithin, "scores within exactly", "it returns what `within` does not name"),
        (RoughWithin, "scores within exactly", "the scores `within` are not those of the whole search"),
        (ForgetsWithin, "scores within exactly", "which `within` names and it can find"),
        (CountsTexts, "returns candidates alone", "which is no candidate"),
        (ReturnsContext, "returns candidates alone", "which is no candidate"),
        (CountsContext, "returns candidates alone", "texts that are no candidates change what is found"),
        (NormalisesOverQueries, "searches each query for itself", "depends on the other queries"),
    ],
)
def test_each_fault_of_a_retriever_is_found(build, case, sentence):
    found = verdict("retriever", record(build), case)
    assert found != WHOLE
    assert found.startswith("the retriever 'toy': ")
    assert sentence in found
