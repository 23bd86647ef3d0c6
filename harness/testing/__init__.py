"""The contract that every method is tested by, for authors of plugins: one decorator, one test.

    from harness import testing

    @testing.contract("retriever", "bm25", {"k1": 0.9})
    def test_contract(case, tmp_path):
        case(tmp_path)

The kinds are dataset, context, retriever, reranker, combiner, analyser and trainer. Each case is one promise
of `harness.contracts`; one that is broken fails with a sentence that says which and how. `texts` makes the
small corpora that an author's own tests need.
"""

from harness.testing.cases import Case, cases, contract
from harness.testing.subject import Broken
from harness.testing.texts import MemoryTexts, texts

__all__ = ["Broken", "Case", "MemoryTexts", "cases", "contract", "texts"]
