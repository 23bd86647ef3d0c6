"""Rewrites queries with texts by a language model: appended to the query, or averaged as vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from harness.plugin import JSON, Floats, Hits, Rewritten, Searcher, Texts, VectorSearcher
from harness_rewriting import GenerateParams, HydeParams, Written


class Generator(Protocol):
    def write(self, prompts: Sequence[str]) -> tuple[list[list[str]], int]:
        """The texts for each prompt, and the number of texts that were cut at the greatest length."""
        ...


def generator(params: Written) -> Generator:
    if params.service is not None:
        from harness_rewriting.by_service import Chatting

        return Chatting(params, params.service)
    from harness_rewriting.by_t5 import T5

    return T5(params)


class _Writing:
    def __init__(self, params: Written) -> None:
        self._prompt, self._generator = params.prompt, generator(params)
        self._texts = self._cut = 0

    def written(self, queries: Sequence[str]) -> list[list[str]]:
        prompts = [self._prompt.replace("{query}", query) for query in queries]
        texts, cut = self._generator.write(prompts)
        self._texts, self._cut = self._texts + sum(map(len, texts)), self._cut + cut
        return texts

    def report(self) -> Mapping[str, JSON]:
        return {"texts": self._texts, "texts_cut": self._cut}


class Generate:
    def __init__(self, params: GenerateParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Write nothing, because a language model does not need the corpus."""

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Appended:
        return Appended(self._params)


class Appended(_Writing):
    """Repeats the query and appends the generated texts (Mao et al. 2021; Wang et al. 2023)."""

    def __init__(self, params: GenerateParams) -> None:
        super().__init__(params)
        self._repeat = params.repeat

    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        rows = zip(queries, self.written(queries), strict=True)
        return Rewritten(texts=[" ".join([*[query] * self._repeat, *texts]) for query, texts in rows])


class Hyde:
    def __init__(self, params: HydeParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Write nothing, because a language model does not need the corpus."""

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Averaged:
        assert isinstance(searcher, VectorSearcher)
        return Averaged(self._params, searcher)


class Averaged(_Writing):
    """A rewriter that averages the vectors of the query and of the generated texts (Gao et al. 2023, "Precise
    zero-shot dense retrieval without relevance labels", equation 8)."""

    def __init__(self, params: HydeParams, searcher: VectorSearcher) -> None:
        super().__init__(params)
        self._query, self._searcher = params.query, searcher

    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        if not queries:
            return Rewritten(vectors=self._searcher.encode(queries))
        written = self.written(queries)
        passages = self._searcher.encode_passages([text for texts in written for text in texts])
        query_vectors = self._searcher.encode(queries)
        ends = np.cumsum([len(texts) for texts in written], dtype=np.int64)[:-1]
        rows: list[Floats] = []
        for query, vectors in zip(query_vectors, np.split(passages, ends), strict=True):
            every = np.concatenate([query[None], vectors]) if self._query or not len(vectors) else vectors
            rows.append(every.mean(axis=0))
        return Rewritten(vectors=np.stack(rows).astype(np.float32))
