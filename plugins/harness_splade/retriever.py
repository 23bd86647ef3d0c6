"""The retriever `splade`: encodes passages into an impact index, and queries to search it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.contracts import Texts
from harness.toolkit.neural import models, tokens
from harness.toolkit.neural.encoding.loop import encode
from harness.toolkit.neural.encoding.passes import BUDGETS
from harness_splade import SpladeParams, model, settings, storage
from harness_splade.queries import encoder
from harness_splade.searching import Search

if TYPE_CHECKING:
    from harness.types import JSON, Batch


class Sparse:
    """SPLADE, or another model of this kind, by its parameters."""

    def __init__(self, params: SpladeParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> dict[str, JSON]:
        params = self._params
        here = models.folder(params.model, params.revision, trust_remote_code=params.trust_remote_code)
        tokeniser = tokens.load(here, params.trust_remote_code)
        network = model.load(here, params.dtype, params.device, tokeniser.padding, params.trust_remote_code)
        length = settings.length_of("passage_length", params.passage_length, here)
        forwards = model.encoders(network, params.pooling, params.activation)

        def prepare(batch: Batch) -> tuple[tokens.Tokens, tokens.Lost]:
            return tokens.tokenise(tokeniser, batch.texts, length)

        write = storage.writer(folder, params.quantise)
        done = encode(texts, folder / storage.SHARDS, prepare, forwards, write, budget=BUDGETS[params.device])
        postings = storage.finish(folder, network.vocabulary, params.quantise)
        return {"dtype": params.dtype, "postings": postings, **done.facts()}

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(storage.read(folder), encoder(self._params), texts.unit)
