"""A tower of a bi-encoder turns texts into tokens, and tokens into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.plugin import Floats
from harness.toolkit.neural import hardware, model_folder, models, tokens
from harness.toolkit.neural.encoding.parts import Forward
from harness.toolkit.neural.model_folder import EXPORTS
from harness.toolkit.neural.tokens import Lost, Tokeniser, Tokens
from harness_dense import DenseParams, folder, pooling


class Tower(NamedTuple):
    tokeniser: Tokeniser
    prompt: str
    length: int
    lower: bool
    titles: str  # none, pair or untyped-pair
    forwards: Sequence[Forward]  # one for each worker

    @property
    def dimension(self) -> int:
        probe, _ = tokens.tokenise(self.tokeniser, ["a"], self.length)
        return len(self.forwards[0](probe)[0])


@dataclass(frozen=True)
class Vectors:
    """A `Forward` of a network, its pooling, and the layers after pooling."""

    network: pooling.Network
    how: str  # cls, mean, max or last: the way of pooling
    layers: Sequence[pooling.Step]
    unit: bool  # vectors of length 1

    def __call__(self, batch: Tokens) -> list[Floats]:
        """The vector of each text, float32[d]."""
        vectors = pooling.pool(self.network(batch), batch.bounds, self.how)
        for layer in self.layers:
            vectors = layer(vectors)
        return list(pooling.normalised(vectors) if self.unit else vectors)


def passages(params: DenseParams) -> Tower:
    assert params.passage_prompt is not None  # all settings are resolved before a tower is built
    tower = _tower(params, params.model, params.revision, params.passage_prompt, int(params.passage_length))
    return tower._replace(titles=params.titles)


def queries(params: DenseParams) -> Tower:
    assert params.query_prompt is not None
    model, revision = params.query_model, params.query_revision
    if model is None:
        model, revision = params.model, params.revision
    return _tower(params, model, revision, params.query_prompt, int(params.query_length))


def prepared(tower: Tower, texts: Sequence[str], titles: Sequence[str] | None = None) -> tuple[Tokens, Lost]:
    """The tokens of queries, or of passages beside their titles, as the tower reads them."""
    if titles is None or tower.titles == "none":
        return _tokens(tower, texts)
    if tower.titles == "pair":
        # RocketQA reads [CLS] title [SEP] text [SEP] with the types 0 and 1, even if the title is empty
        return _tokens(tower, titles, texts)
    # DPR reads the same with the type 0 alone, and no pair where the title or the text is empty
    untyped = tower.tokeniser.pair._replace(types=(0, 0, 0, 0, 0))
    tower = tower._replace(tokeniser=tower.tokeniser._replace(pair=untyped))
    both = [bool(title and text) for title, text in zip(titles, texts, strict=True)]
    paired = [i for i, pair in enumerate(both) if pair]
    single = [i for i, pair in enumerate(both) if not pair]
    pairs, lost = _tokens(tower, [titles[i] for i in paired], [texts[i] for i in paired])
    singles, more = _tokens(tower, [titles[i] or texts[i] for i in single])
    order = np.argsort(np.array([*paired, *single], np.int64))
    return tokens.select(tokens.joined([pairs, singles]), order), lost.plus(more)


def _tokens(tower: Tower, firsts: Sequence[str], seconds: Sequence[str] | None = None) -> tuple[Tokens, Lost]:
    firsts = [tower.prompt + text for text in firsts]
    if tower.lower:
        firsts = [text.lower() for text in firsts]
        seconds = seconds and [text.lower() for text in seconds]
    return tokens.tokenise(tower.tokeniser, firsts, tower.length, seconds)


def _tower(params: DenseParams, model: Path | str, revision: str, prompt: str, length: int) -> Tower:
    instead = EXPORTS if params.backend == "onnx" else ()
    at = models.folder(model, revision, instead, params.trust_remote_code)
    described, inner = folder.read(at), model_folder.network(at)
    if params.code_revision is not None:
        for name in described.code:
            models.code(name, params.code_revision)  # downloads the code to where transformers looks for it
    layers = pooling.steps(folder.layers(at))
    unit = params.normalise is True or params.similarity == "cosine"
    tokeniser = tokens.load(inner, params.trust_remote_code, params.code_revision)
    body, head = _networks(params, at, inner, tokeniser.padding)
    forwards = [Vectors(network, params.pooling, [*head, *layers], unit) for network in body]
    return Tower(tokeniser, prompt, length, described.lower, "none", forwards)


def _networks(
    params: DenseParams, at: Path, inner: Path, padding: int
) -> tuple[Sequence[pooling.Network], list[pooling.Step]]:
    """One network for each worker, and the layers after pooling that a checkpoint of DPR or ANCE has."""
    if params.backend == "onnx":
        from harness_dense.onnx import Exported

        exported = Exported(at)
        return [exported] * hardware.threads(), []
    from harness_dense import checkpoint

    return checkpoint.networks(params, inner, padding)
