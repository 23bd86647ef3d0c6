"""The contract finds each fault that a retriever, re-ranker, combiner or context-augmenter may have."""

import numpy as np
import pytest
from contract_toys import Augmenter, Combiner, Reranker, Retriever, broken, record_of, verdict, verdicts
from index_faults import RERANKERS, RETRIEVERS
from stage_faults import COMBINERS, CONTEXTS

from harness.testing.combiner import generated


@pytest.mark.parametrize(
    ("kind", "build", "more"),
    [
        ("retriever", Retriever, {}),
        ("reranker", Reranker, {}),
        ("reranker", Reranker, {"indexed": True}),
        ("combiner", Combiner, {}),
        ("context", Augmenter, {}),
    ],
)
def test_a_good_method_keeps_every_promise(kind, build, more):
    assert verdicts(kind, record_of(kind, build, **more)) == {}


def narrow_and_backwards(self, original, *args):
    hits = original(*args)
    return hits._replace(passages=hits.passages[:, ::-1].astype(np.int32), scores=hits.scores[:, ::-1])


@pytest.mark.parametrize(("kind", "build", "call"), [
    ("retriever", Retriever, "search"), ("combiner", Combiner, "combine"),
])  # fmt: skip
def test_hits_may_be_in_any_order_and_their_positions_narrow(kind, build, call):
    assert verdicts(kind, record_of(kind, broken(build, **{call: narrow_and_backwards}))) == {}


def test_a_retriever_of_documents_is_only_given_documents():
    def open_documents(self, original, texts, folder):
        assert texts.unit == "document"
        return original(texts, folder)

    record = record_of("retriever", broken(Retriever, open=open_documents), units=("document",))
    assert verdicts("retriever", record) == {}


def test_the_generated_inputs_of_combiners_are_padded_and_sorted():
    hits = generated(0, "passage")
    assert hits.passages[2].tolist() == [-1] * 8
    assert (hits.scores[:, 1:] <= hits.scores[:, :-1]).all()


TOYS = {"retriever": Retriever, "reranker": Reranker, "combiner": Combiner, "context": Augmenter}
FAULTS = {"retriever": RETRIEVERS, "reranker": RERANKERS, "combiner": COMBINERS, "context": CONTEXTS}


@pytest.mark.parametrize(
    ("kind", "case", "cause", "methods"),
    [(kind, *fault) for kind, faults in FAULTS.items() for fault in faults],
)
def test_each_fault_of_a_method_is_found(kind, case, cause, methods):
    more = {"indexed": True} if kind == "reranker" and "index" in methods else {}
    sentence = verdict(kind, record_of(kind, broken(TOYS[kind], **methods), **more), case)
    assert sentence.startswith(f"the {kind} 'toy': ")
    assert cause in sentence
