"""The re-ranker `colbert`: it compares queries with their candidates, over the retriever's index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.plugin import JSON, Texts
from harness.toolkit.index.positions import rows_of
from harness_colbert import ColbertParams, matching, retriever, storage, streaming

if TYPE_CHECKING:
    from harness.plugin import Floats, Ints


class LateReranker:
    def __init__(self, params: ColbertParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        return retriever.index(self._params, texts, folder)

    def open(self, texts: Texts, folder: Path | None) -> Scorer | streaming.Scorer:
        if self._params.stored == "none":
            return streaming.Scorer(streaming.Streamed(self._params, texts))
        assert folder is not None  # the record says `indexed`
        return Scorer(retriever.Asker(self._params), storage.read(folder), self._params.device)


class Scorer:
    """An open index that scores candidates. A score depends only on its query and its text."""

    def __init__(self, ask: retriever.Asker, opened: storage.Index, device: str) -> None:
        self._ask, self._index, self._device = ask, opened, device

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        named = rows_of(candidates, self._index.positions)
        strange = candidates[(named < 0) & (candidates >= 0)]
        if len(strange):
            raise ValueError(f"position {strange[0]} is not in the index")
        return matching.score(self._index, self._ask(queries), named, self._device)

    def report(self) -> Mapping[str, JSON]:
        return self._ask.report()
