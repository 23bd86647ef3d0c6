"""What a Python function may return, and what is refused with a reason."""

import numpy as np
import pytest

from harness import functions
from harness.errors import ContractError
from harness.types import Hits

ONE = Hits(np.array([[4, 2, -1]], np.int32), np.array([[1, 0.5, 0]], np.float32))


@pytest.mark.parametrize(("kind", "returned", "answer"), [
    ("retriever", [{"a": 1, "b": 0.5}], [[["a", "b"], [1.0, 0.5]]]),
    ("retriever", [[["a", 1], ("b", 0.5)]], [[["a", "b"], [1.0, 0.5]]]),
    ("retriever", [[(np.int32(1), np.float32(0.5))]], [[[1], [0.5]]]),
    ("retriever", [np.array([[1, 0.5], [0, 0.25]])], [[[1, 0], [0.5, 0.25]]]),
    ("retriever", [zip([1], [0.5], strict=True)], [[[1], [0.5]]]),
    ("retriever", ONE, [[[4, 2], [1.0, 0.5]]]),
    ("reranker", [1, np.float32(0.5)], [1.0, 0.5]),
    ("reranker", [(1, 0.5), [0, 1]], [1.0, 0.5]),
    ("reranker", [np.array(1.0), np.array(0.5)], [1.0, 0.5]),
    ("context", None, ""),
    ("context", ["a", "b"], ["a", "b"]),
])  # fmt: skip
def test_an_answer_becomes_plain_data(kind, returned, answer):
    assert functions.answer(kind, returned, len(answer) if answer else 0) == answer


@pytest.mark.parametrize(("kind", "returned", "reason"), [
    ("retriever", None, "returned None; expected a list"),
    ("retriever", [None, []], "the hits None; give pairs"),
    ("retriever", [["a"], []], r"a hit is an id or a place, and a score; not \('a',\)"),
    ("retriever", [[("a", True)], []], "the score True, which is no number"),
    ("retriever", [[("a", "0.5")], []], "the score '0.5', which is no number"),
    ("retriever", ONE, "hits of 1 queries, asked were 2"),
    ("reranker", [True, np.bool_(False)], "the score True, which is no number"),
    ("reranker", [{"corpus_id": 0, "score": 1.0}, 1], "which is no number"),
    ("reranker", [(0, 1.0), (2, 0.5)], r"scores of the places \[0, 2\]"),
    ("reranker", [1.0], "1 scores for 2 texts"),
    ("context", ["a"], "1 prefixes for 2 passages"),
])  # fmt: skip
def test_what_is_refused_has_a_reason(kind, returned, reason):
    with pytest.raises(ContractError, match=reason):
        functions.answer(kind, returned, 2)
