"""The contract that every method must keep, as tests for plugin authors: one decorator, one test.

    from harness import testing

    @testing.contract("retriever", "bm25", {"k1": 0.9})
    def test_contract(case, tmp_path):
        case(tmp_path)

The kinds are dataset, context, retriever, rewriter, reranker, combiner, analyser, trainer, maker and
command. Each case checks one promise, such as those of `harness.contracts`, and fails with a sentence that
says which promise is broken and how. `texts` makes small corpora for an author's other tests.
"""

from harness.testing.cases import Case, cases, contract
from harness.testing.subject import Broken
from harness.testing.texts import MemoryTexts, texts

__all__ = ["Broken", "Case", "MemoryTexts", "cases", "contract", "texts"]
