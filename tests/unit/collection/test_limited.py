"""Trials: some queries with their judgements, and a sample of passages with all judged ones."""

import pytest

from harness.collection import corpus_write, limited
from harness.collection.corpus import Corpus
from harness.collection.limited import Limits, Sample
from harness.types import Document, Judgement, Passage, Query


class Source:
    """100 documents of 2 passages; 20 queries, of which each but the last is judged on one passage."""

    def __init__(self, order=1):
        self.order = order

    def documents(self):
        for i in range(100):
            yield Document(f"d{i}", "", (Passage(f"d{i}-0", "a"), Passage(f"d{i}-1", "b")))

    def queries(self):
        return [Query(f"q{i}", "x") for i in range(20)][:: self.order]

    def judgements(self):
        return [Judgement(f"q{i}", f"d{i}-1", 1) for i in range(19)]

    def card(self):
        raise NotImplementedError

    def inputs(self, part):
        raise NotImplementedError


def ids(queries):
    return [query.id for query in queries]


def test_without_limits_everything_is_taken():
    assert ids(limited.queries(Source(), Limits(None, None))) == ids(Source().queries())
    assert list(limited.judgements(Source(), Limits(None, None))) == Source().judgements()


def test_as_many_queries_are_taken_as_asked_in_their_order_and_judged():
    chosen = ids(limited.queries(Source(), Limits(5, None)))
    assert len(chosen) == 5
    assert chosen == [name for name in ids(Source().queries()) if name in chosen]
    assert "q19" not in ids(limited.queries(Source(), Limits(19, None)))


def test_the_choice_does_not_depend_on_the_order_and_grows():
    few, more = (set(ids(limited.queries(Source(), Limits(n, None)))) for n in (3, 9))
    assert set(ids(limited.queries(Source(order=-1), Limits(3, None)))) == few
    assert few < more


def test_judgements_are_those_of_the_chosen_queries():
    chosen = set(ids(limited.queries(Source(), Limits(5, None))))
    assert {item.query for item in limited.judgements(Source(), Limits(5, None))} == chosen


def sampled(folder, limits):
    sample = Sample(Source(), limits)
    facts = corpus_write.write_rows(sample.rows(), sample.locate, folder, lambda done, total: None)
    corpus = Corpus(folder)
    return [document.id for document in corpus.documents_in(0, corpus.documents)], facts, sample


@pytest.mark.parametrize("queries", [None, 4])
def test_a_sample_has_every_judged_passage_and_whole_documents(tmp_path, queries):
    documents, facts, _ = sampled(tmp_path, Limits(queries, 20))
    judged = {item.passage.partition("-")[0] for item in limited.judgements(Source(), Limits(queries, None))}
    assert judged <= set(documents)
    assert facts["passages"] == 2 * len(documents)
    assert 10 <= len(documents) <= 10 + len(judged)
    assert documents == sorted(documents, key=lambda name: int(name[1:]))


def test_a_larger_sample_holds_the_smaller_one(tmp_path):
    small, large = (set(sampled(tmp_path / str(n), Limits(4, n))[0]) for n in (20, 60))
    assert small < large


def test_a_sample_larger_than_the_collection_is_the_collection(tmp_path):
    assert len(sampled(tmp_path, Limits(None, 10_000))[0]) == 100


def test_a_row_of_a_sample_is_located_in_its_source(tmp_path):
    documents, _, sample = sampled(tmp_path, Limits(4, 20))
    place = 2 * int(documents[3][1:])
    assert sample.locate(6) == f"passage {place + 1}"
