"""Computes one vector per text from the states of its tokens: pooling, then the model's layers after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.plugin import Floats, HarnessError, Ints
from harness.toolkit.neural.encoder_folder import Layer

if TYPE_CHECKING:
    from harness.toolkit.neural.tokens import Tokens

Step: TypeAlias = "Callable[[Floats], Floats]"  # float32[n, d] -> float32[n, e]
Network: TypeAlias = "Callable[[Tokens], Floats]"  # float32[T, d]: the last states of all tokens

# The activations that sentence-transformers' Dense modules name (torch.nn.modules.activation)
ACTIVATIONS: dict[str, Step] = {
    "Identity": lambda x: x,
    "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, np.float32(0)),
}


def pool(states: Floats, bounds: Ints, how: str) -> Floats:
    """float32[n, d]: one vector for each of n texts, pooled from the states of its tokens as `how` says.
    `states` is float32[T, d]. The tokens of text i are bounds[i] to bounds[i + 1] - 1. A text without any
    token has the vector 0."""
    nonempty = np.flatnonzero(np.diff(bounds))
    result = np.zeros((len(bounds) - 1, states.shape[1]), np.float32)
    starts, ends = bounds[nonempty], bounds[nonempty + 1]
    if how == "cls":
        result[nonempty] = states[starts]
    elif how == "last":
        result[nonempty] = states[ends - 1]
    elif how == "max" and len(nonempty):
        result[nonempty] = np.maximum.reduceat(states, starts, axis=0)
    elif how == "mean" and len(nonempty):
        result[nonempty] = np.add.reduceat(states, starts, axis=0) / (ends - starts)[:, None]
    elif how == "mean-in-order" and len(nonempty):  # as model2vec adds: faster, and less exact
        result[nonempty] = [states[a:b].mean(axis=0) for a, b in zip(starts, ends, strict=True)]
    return result


def normalised(vectors: Floats) -> Floats:
    """Each vector v divided by max(|v|, 1e-12), as in torch.nn.functional.normalize."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Floats = vectors / np.maximum(lengths, np.float32(1e-12))
    return result


def dense(weight: Floats, bias: Floats | None, activation: str = "Identity") -> Step:
    """The function x -> act(x W^T + b)."""
    act = ACTIVATIONS[activation]
    return lambda x: act(x @ weight.T if bias is None else x @ weight.T + bias)


def layer_norm(weight: Floats, bias: Floats, epsilon: float) -> Step:
    """The function x -> (x - mean) / sqrt(var + epsilon) * w + b, with the mean and variance of each
    vector."""

    def apply(x: Floats) -> Floats:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(epsilon))
        result: Floats = centred / spread * weight + bias
        return result

    return apply


def steps(layers: Sequence[Layer]) -> list[Step]:
    """The functions of the modules after pooling. The module `Normalize` is left out, because the parameter
    `normalise` does the same."""
    return [_step(layer) for layer in layers if layer.kind != "Normalize"]


def _step(layer: Layer) -> Step:
    tensors = _tensors(layer.path)
    if layer.kind == "LayerNorm":
        return layer_norm(tensors["norm.weight"], tensors["norm.bias"], 1e-5)
    activation = str(layer.settings.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in ACTIVATIONS:
        raise HarnessError(
            f"model: {layer.path} has the activation '{activation}', which is not supported; "
            f"choose a model with one of {', '.join(ACTIVATIONS)}"
        )
    return dense(tensors["linear.weight"], tensors.get("linear.bias"), activation)


def _tensors(folder: Path) -> dict[str, Any]:
    """A small module's tensors as float32."""
    from harness.toolkit.neural.checkpoints import weights

    return {name: tensor.float().numpy() for name, tensor in weights(folder).items()}
