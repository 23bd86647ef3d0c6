"""A re-ranker shows the pairs that it has scored, also within a block."""

from types import SimpleNamespace

import numpy as np

from harness.execution import rerank
from harness.execution.task import Texts
from harness.types import Hits


def test_progress_is_in_pairs_and_shown_within_a_block(monkeypatch):
    shown = []
    task = SimpleNamespace(progress=lambda *values: shown.append(values))
    texts = type("Three", (Texts,), {"__init__": lambda self: None, "__len__": lambda self: 3})()
    head = np.array([[0, 1, 2], [3, -1, -1], [1, 2, -1]])

    class Scorer:
        def score(self, queries, candidates):
            for done in range(1, len(queries) + 1):
                texts.progress(done)
            return np.where(candidates < 0, 0, 1).astype(np.float32)

    rows = SimpleNamespace(done=0)
    rows.add = lambda hits, seconds, counts: setattr(rows, "done", rows.done + len(hits.passages))
    opened = rerank._Opened(
        texts, SimpleNamespace(texts=["a", "b", "c"]), Hits(head, None, "passage"), head, Scorer()
    )
    monkeypatch.setattr(rerank, "PAIRS", 6)
    rerank._score(SimpleNamespace(depth=3), task, opened, rows, 3)
    assert shown == [(n, 6, "pairs") for n in (0, 1, 2, 4, 4, 5, 6)]
