"""The retriever `cde`: encodes a sample of the corpus, then the corpus, and searches by cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from harness.plugin import JSON, Batch, Floats, Hits, Ints, Texts, Unit
from harness.toolkit.index.positions import hits_of, rows_of
from harness.toolkit.neural import models, tokens
from harness.toolkit.neural.encoding import vectors
from harness.toolkit.neural.encoding.loop import encode
from harness.toolkit.neural.encoding.passes import BUDGETS, workers
from harness.toolkit.neural.tokens import Lost, Tokeniser, Tokens
from harness.toolkit.search import exact
from harness_cde import CdeParams, network
from harness_cde.settings import backbone_folder

CONTEXT = "context.npy"  # float32[sample, d]: the first stage's vectors


class Contextual:
    def __init__(self, params: CdeParams) -> None:
        self._params = params

    @cached_property
    def _loaded(self) -> tuple[network.Model, Tokeniser]:
        folder = models.folder(self._params.model, self._params.revision)
        backbone = backbone_folder(self._params, folder)
        return network.load(folder, backbone, self._params.dtype), tokens.load(backbone)

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        model, tokeniser = self._loaded
        params = self._params
        context = self._context(texts)
        np.save(folder / CONTEXT, context)

        def prepare(batch: Batch) -> tuple[Tokens, Lost]:
            return self._tokens(params.passage_prompt, batch.texts)

        stages = network.stages(model, tokeniser, params.device, context)
        write = vectors.writer(folder, len(texts), model.size)
        encoded = encode(texts, folder, prepare, stages, write, budget=BUDGETS[params.device])
        sampled = min(len(texts), model.sample)
        return {"dimension": model.size, "dtype": params.dtype, "sampled_texts": sampled, **encoded.facts()}

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(self, vectors.read(folder), np.load(folder / CONTEXT), texts.unit)

    def encode(self, queries: Sequence[str], context: Floats) -> Floats:
        """float32[Q, d]"""
        model, tokeniser = self._loaded
        if not queries:
            return np.zeros((0, model.size), np.float32)
        with workers(network.stages(model, tokeniser, self._params.device, context)) as run:
            rows = run(self._tokens(self._params.query_prompt, queries)[0], lambda count: None).rows
        return np.stack(rows).astype(np.float32)

    def _context(self, texts: Texts) -> Floats:
        """float32[sample, d]: the first stage's vectors of a random sample of the texts, which is repeated if
        there are too few texts, as the authors advise."""
        model, tokeniser = self._loaded
        order = np.random.default_rng(self._params.seed).permutation(len(texts))[: model.sample]
        if not len(order):
            return np.zeros((model.sample, model.size), np.float32)
        chosen = {
            number: next(iter(texts.batches(1, number, number + 1))).texts[0] for number in sorted(order)
        }
        batch, _ = self._tokens(self._params.passage_prompt, [chosen[number] for number in order])
        device = "cpu" if self._params.device == "cpu" else "cuda:0"
        rows = network.Stage(model, tokeniser, device)(batch)
        model.to("cpu")
        return np.stack(rows)[np.resize(np.arange(len(order)), model.sample)].astype(np.float32)

    def _tokens(self, prompt: str, texts: Sequence[str]) -> tuple[Tokens, Lost]:
        return tokens.tokenise(self._loaded[1], [prompt + text for text in texts], self._params.length)


class Search:
    def __init__(self, method: Contextual, index: vectors.Vectors, context: Floats, unit: Unit) -> None:
        self._method, self._index, self._context, self._unit = method, index, context, unit

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        vectors = self._method.encode(queries, self._context)
        named = None if within is None else rows_of(within, self._index.positions)
        places, scores = exact.search(vectors, self._index.rows, k, named)
        return hits_of(places, scores, k, self._index.positions, self._unit)
