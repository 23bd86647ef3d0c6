"""A tower of a bi-encoder turns texts into tokens, and tokens into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.plugin import Floats
from harness.toolkit.neural import encoder_folder, hardware, model_folder, models, title_pairs, tokens
from harness.toolkit.neural.model_folder import EXPORTS
from harness.toolkit.neural.tokens import Lost, Tokeniser, Tokens
from harness_dense import DenseParams, Late, pooling


class Tower(NamedTuple):
    tokeniser: Tokeniser
    prompt: str
    length: int
    lower: bool
    titles: str  # none, pair or untyped-pair
    forwards: Sequence[Vectors]  # one for each worker
    late: Late | None = None  # passages are read as parts of their documents

    @property
    def dimension(self) -> int:
        probe, _ = tokens.tokenise(self.tokeniser, ["a"], self.length)
        return len(self.forwards[0](probe)[0])


@dataclass(frozen=True)
class Vectors:
    """A `Forward` of a network, its pooling, and the layers after pooling."""

    network: pooling.Network
    how: str  # the way of pooling
    layers: Sequence[pooling.Step]
    unit: bool  # vectors of length 1

    def __call__(self, batch: Tokens) -> list[Floats]:
        """The vector of each text, float32[d]."""
        return list(self.finished(pooling.pool(self.network(batch), batch.bounds, self.how)))

    def finished(self, vectors: Floats) -> Floats:
        """The pooled vectors, after the layers that follow pooling."""
        for layer in self.layers:
            vectors = layer(vectors)
        return pooling.normalised(vectors) if self.unit else vectors


def passages(params: DenseParams) -> Tower:
    assert params.passage_prompt is not None  # all settings are resolved before a tower is built
    tower = _tower(params, params.model, params.revision, params.passage_prompt, int(params.passage_length))
    return tower._replace(titles=params.titles, late=params.late)


def queries(params: DenseParams) -> Tower:
    assert params.query_prompt is not None
    model, revision = params.query_model, params.query_revision
    if model is None:
        model, revision = params.model, params.revision
    return _tower(params, model, revision, params.query_prompt, int(params.query_length))


def prepared(tower: Tower, texts: Sequence[str], titles: Sequence[str] | None = None) -> tuple[Tokens, Lost]:
    """The tokens of queries, or of passages beside their titles, as the tower reads them."""
    prompt = tower.prompt
    if tower.lower:
        prompt, texts = prompt.lower(), [text.lower() for text in texts]
        titles = titles and [title.lower() for title in titles]
    if titles is None or tower.titles == "none":
        return tokens.tokenise(tower.tokeniser, [prompt + text for text in texts], tower.length)
    return title_pairs.tokenise(tower.tokeniser, tower.titles, titles, texts, tower.length, prompt)


def _tower(params: DenseParams, model: Path | str, revision: str, prompt: str, length: int) -> Tower:
    instead = EXPORTS if params.backend == "onnx" else ()
    at = models.folder(model, revision, instead, params.trust_remote_code)
    described, inner = encoder_folder.read(at), model_folder.network(at)
    if params.code_revision is not None:
        for name in described.code:
            models.code(name, params.code_revision)  # downloads the code to where transformers looks for it
    layers = pooling.steps(encoder_folder.layers(at))
    unit = params.normalise is True or params.similarity == "cosine"
    if params.backend == "numpy":
        from harness_dense import static

        tokeniser = static.tokeniser(inner)
    else:
        tokeniser = tokens.load(inner, params.trust_remote_code, params.code_revision)
    body, head = _networks(params, at, inner, tokeniser.padding)
    how = "mean-in-order" if (params.backend, params.pooling) == ("numpy", "mean") else params.pooling
    forwards = [Vectors(network, how, [*head, *layers], unit) for network in body]
    return Tower(tokeniser, prompt, length, described.lower, "none", forwards)


def _networks(
    params: DenseParams, at: Path, inner: Path, padding: int
) -> tuple[Sequence[pooling.Network], list[pooling.Step]]:
    """One network for each worker, and the layers after pooling that a checkpoint of DPR or ANCE has."""
    if params.backend == "onnx":
        from harness_dense.onnx import Exported

        exported = Exported(at)
        return [exported] * hardware.threads(), []
    if params.backend == "numpy":
        from harness_dense.static import network

        return [network(inner)] * hardware.threads(), []
    from harness_dense import checkpoint

    return checkpoint.networks(params, inner, padding)
