"""The retriever `splade`: encodes passages into an impact index, and queries to search it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.plugin import JSON, Batch, IndexPart, Texts
from harness.toolkit.index.parts import gather
from harness.toolkit.neural import models, tokens
from harness.toolkit.neural.encoding.loop import SHARD, Encoding, encode
from harness.toolkit.neural.encoding.passes import BUDGETS
from harness_splade import SpladeParams, model, settings, storage
from harness_splade.queries import encoder
from harness_splade.searching import Search


class Sparse:
    """A retriever with SPLADE or another model of this kind."""

    def __init__(self, params: SpladeParams) -> None:
        self._params = params

    block = SHARD

    def index(self, texts: Texts, folder: Path) -> dict[str, JSON]:
        encoded, vocabulary = self._encode(texts, folder)
        postings = storage.finish(folder, vocabulary, self._params.quantise)
        return {"dtype": self._params.dtype, "postings": postings, **encoded.facts()}

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        self._encode(texts, folder, range(start, stop))

    def join(self, texts: Texts, parts: Sequence[IndexPart], folder: Path) -> dict[str, JSON]:
        gather(parts, folder)
        return self.index(texts, folder)  # all texts are encoded already, and are not encoded again

    def _encode(self, texts: Texts, folder: Path, part: range | None = None) -> tuple[Encoding, int]:
        """Encode all texts, or those of `part`. Returns the encoding and the vocabulary's size."""
        params = self._params
        here = models.folder(params.model, params.revision, trust_remote_code=params.trust_remote_code)
        tokeniser = tokens.load(here, params.trust_remote_code)
        network = model.load(here, params.dtype, params.device, tokeniser, params.trust_remote_code)
        length = settings.length_of("passage_length", params.passage_length, here)
        forwards = model.encoders(network, params.pooling, params.activation)

        def prepare(batch: Batch) -> tuple[tokens.Tokens, tokens.Lost]:
            return tokens.tokenise(tokeniser, batch.texts, length)

        write = storage.writer(folder, params.quantise)
        shards, budget = folder / storage.SHARDS, BUDGETS[params.device]
        encoded = encode(texts, shards, prepare, forwards, write, budget=budget, part=part)
        return encoded, network.vocabulary

    def open(self, texts: Texts, folder: Path) -> Search:
        return Search(storage.read(folder), encoder(self._params), texts.unit)
