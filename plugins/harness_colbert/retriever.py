"""The retriever `colbert`: passages become one vector per token, and queries are compared with them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.plugin import JSON, Batch, Floats, Hits, IndexPart, Ints, Searcher, Texts, Unit
from harness.toolkit.index.parts import gather
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.neural import model_folder, models, tokens
from harness.toolkit.neural.encoding.loop import Prepare, encode
from harness.toolkit.neural.encoding.parts import Forward
from harness.toolkit.neural.encoding.passes import BUDGETS
from harness_colbert import (
    ColbertParams,
    RetrieverParams,
    compressing,
    marking,
    matching,
    model,
    settings,
    storage,
)
from harness_colbert.approximate import Approximate
from harness_colbert.codec import BITS


class Encoder(NamedTuple):
    """The encoder of passages."""

    prepare: Prepare
    forwards: Sequence[Forward]  # one for each worker
    dimension: int


def encoder(params: ColbertParams, stored: str) -> Encoder:
    """The encoder of passages, whose vectors have the type `stored`."""
    here = models.folder(params.model, params.revision, trust_remote_code=params.trust_remote_code)
    settings_file = settings.read(here)
    marks = marking.load(here, settings_file, params.trust_remote_code)
    network = model.load(here, settings_file, params.dtype, params.trust_remote_code)
    length = settings_file.doc_maxlen if params.passage_length == "auto" else params.passage_length
    model_folder.refuse_beyond("passage_length", length, model_folder.places(here))

    def prepare(batch: Batch) -> tuple[tokens.Tokens, tokens.Lost]:
        return tokens.tokenise(marks.passages, batch.texts, length)

    forwards = model.passages(network, marks, params.device, stored, params.pool)
    return Encoder(prepare, forwards, len(network.linear))


def index(params: ColbertParams, texts: Texts, folder: Path, part: range | None = None) -> Mapping[str, JSON]:
    """Writes the vectors of all texts, or of a part of them; nothing if none are stored. A killed run
    continues with its first unfinished shard."""
    if params.stored == "none":
        storage.finish_empty(folder)
        return {"dtype": params.dtype, "stored": "none"}
    prepare, forwards, dimension = encoder(params, storage.encoded_as(params.stored))
    budget, write = BUDGETS[params.device], storage.writer(folder, dimension, params.stored)
    done = encode(texts, folder, prepare, forwards, write, shard=storage.SHARD, budget=budget, part=part)
    if part is None and params.stored in BITS:
        compressing.compress(folder, dimension, BITS[params.stored], params.device)
    vectors, size = storage.finish(folder, dimension, params.stored)
    facts = {"dimension": dimension, "dtype": params.dtype, "stored": params.stored, "vectors": vectors}
    return {**facts, "bytes_a_text": round(size / max(1, len(texts)), 1), **done.facts()}


class LateRetriever:
    def __init__(self, params: RetrieverParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        return index(self._params, texts, folder)

    @property
    def block(self) -> int:
        """Texts that are indexed together; all of them if none are stored."""
        return sys.maxsize if self._params.stored == "none" else storage.SHARD

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        index(self._params, texts, folder, range(start, stop))

    def join(self, texts: Texts, parts: Sequence[IndexPart], folder: Path) -> Mapping[str, JSON]:
        if self._params.stored != "none":
            gather(parts, folder)
        return self.index(texts, folder)  # finds all texts encoded, and writes the header

    def open(self, texts: Texts, folder: Path) -> Searcher:
        if self._params.stored == "none":
            from harness_colbert.streaming import Streamed

            return Streamed(self._params, texts)
        return Search(self._params, storage.read(folder), texts.unit)


class Asker:
    """An encoder of queries in fp32: queries are few, and one must not depend on the others in its batch."""

    def __init__(self, params: ColbertParams) -> None:
        here = models.folder(params.model, params.revision, trust_remote_code=params.trust_remote_code)
        settings_file = settings.read(here)
        self._marks = marking.load(here, settings_file, params.trust_remote_code)
        self._network = model.load(here, settings_file, "fp32", params.trust_remote_code)
        self._length = settings_file.query_maxlen if params.query_length == "auto" else params.query_length
        model_folder.refuse_beyond("query_length", self._length, model_folder.places(here))
        self._device = params.device
        self.lost = tokens.Lost()

    def __call__(self, queries: Sequence[str]) -> Floats:
        """float32[Q, L, dimension]: the vectors of each query."""
        if not self._marks.expand:
            token_ids, lost = tokens.tokenise(self._marks.queries, queries, self._length)
            self.lost = self.lost.plus(lost)
            return model.queries_as_passages(self._network, self._marks, token_ids, self._device)
        ids, attention, lost = marking.queries(self._marks, queries, self._length)
        self.lost = self.lost.plus(lost)
        return model.queries(self._network, ids, attention, self._device)

    def report(self) -> Mapping[str, JSON]:
        return {"queries_cut": self.lost.texts, "query_tokens_lost": self.lost.tokens}


class Search:
    """An open index. For approximate search, the inverted file is built when the index is opened, from the
    vectors that all searches share. Therefore changed options do not require new encoding, and building the
    file counts as search time."""

    def __init__(self, params: RetrieverParams, opened: storage.Index, unit: Unit) -> None:
        self._ask, self._index, self._device, self._unit = Asker(params), opened, params.device, unit
        self._approximate = (
            None if params.search == "exact" else Approximate(opened, params.search.ivf, params.device)
        )

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        vectors = self._ask(queries)
        if within is not None:
            named = rows_of(_once(within), self._index.positions)
            texts, scores = matching.among(self._index, vectors, named, k, self._device)
        elif self._approximate is None:
            texts, scores = matching.search(self._index, vectors, k, self._device)
        else:
            texts, scores = self._approximate.search(vectors, k)
        return hits_of(texts, scores, k, self._index.positions, self._unit)

    @property
    def counts(self) -> bool:
        """Whether `report` holds only counts."""
        return self._approximate is None

    def report(self) -> Mapping[str, JSON]:
        return {**self._ask.report(), **(self._approximate.report() if self._approximate else {})}


def _once(positions: Ints) -> Ints:
    """The positions, sorted in each row, with -1 in place of duplicates."""
    ordered = np.sort(positions, axis=1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = -1
    return ordered
