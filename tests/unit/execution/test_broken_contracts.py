"""What a method returns against its contract is refused when its step runs, and not scored."""

import numpy as np
import pytest

from harness.collection.context_additions import _checked
from harness.collection.corpus import Corpus, write
from harness.errors import ContractError
from harness.execution import checked
from harness.execution.task import reported
from harness.types import Addition, Document, Edit, Hits, Passage

DOCUMENTS = [
    Document(f"d{i}", "", tuple(Passage(f"p{i}{j}", "four lanterns", True) for j in range(2)))
    for i in range(3)
]


class Given:
    def documents(self):
        return iter(DOCUMENTS)


@pytest.fixture
def corpus(tmp_path):
    write(Given(), tmp_path, lambda done, total: None)
    return Corpus(tmp_path)


def hits(*positions, unit="passage"):
    return Hits(np.array([positions], np.int64), np.ones((1, len(positions)), np.float32), unit)


def test_a_combiner_returns_only_what_an_input_found(corpus):
    inputs = [hits(0, 1), hits(4, -1)]
    checked.check_only_found(hits(4, 0), inputs, corpus)
    with pytest.raises(ContractError, match="the position 2 is returned, which no input found"):
        checked.check_only_found(hits(4, 2), inputs, corpus)


def test_a_document_of_an_input_stands_for_its_passages(corpus):
    inputs = [hits(1, unit="document")]
    checked.check_only_found(hits(2, 3), inputs, corpus)
    with pytest.raises(ContractError, match="the position 4 is returned"):
        checked.check_only_found(hits(2, 4), inputs, corpus)


def test_edits_that_overlap_are_refused_in_any_order():
    overlapping = (Edit(0, 4, "a"), Edit(3, 6, "b"))
    for edits in (overlapping, overlapping[::-1]):
        with pytest.raises(
            ContractError, match="edits of passage 'p00' overlap: characters 0 to 4 and 3 to 6"
        ):
            list(_checked(DOCUMENTS[:1], [Addition(edits=(edits, ()))]))
    assert list(_checked(DOCUMENTS[:1], [Addition(edits=((Edit(0, 4, "a"), Edit(4, 6, "b")), ()))]))


@pytest.mark.parametrize("facts", [{"loss": float("nan")}, {"losses": [1.0, float("inf")]}, {"a": object()}])
def test_facts_that_a_leaderboard_cannot_hold_are_refused(facts):
    with pytest.raises(ContractError, match="facts that are no JSON"):
        reported(facts)
    assert reported({"loss": 0.5}) == {"reported": {"loss": 0.5}}


def test_scores_of_a_reranker_are_numbers():
    with pytest.raises(ContractError, match="scores of the type bool; they must be float32"):
        checked.scores(np.array([[True, False]]), np.array([[0, 1]]))
