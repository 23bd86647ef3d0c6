"""T5 as its paper and its authors' code write it: one text at a time, float64, plain numpy."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Tensors = Mapping[str, np.ndarray]


def first_logits(tensors: Tensors, config: Mapping[str, Any], ids: Sequence[int]) -> np.ndarray:
    """float64[V]: what the decoder says of its first word, from the start token alone (Raffel et al. 2020,
    section 2.1; output and input embeddings are one, and the output is scaled by 1 / sqrt(d))."""
    memory = encoder(tensors, config, ids)
    x = tensors["shared.weight"][[config["decoder_start_token_id"]]].astype(np.float64)
    for layer in range(config["num_decoder_layers"]):
        at = f"decoder.block.{layer}.layer"
        normed = norm(tensors, config, f"{at}.0.layer_norm", x)
        bias = np.zeros((config["num_heads"], 1, 1))  # of one token the softmax is 1 whatever its bias
        x = x + attention(tensors, config, f"{at}.0.SelfAttention", normed, normed, bias)
        normed = norm(tensors, config, f"{at}.1.layer_norm", x)
        nothing = np.zeros((config["num_heads"], 1, len(ids)))
        x = x + attention(tensors, config, f"{at}.1.EncDecAttention", normed, memory, nothing)
        x = x + feed_forward(tensors, f"{at}.2", norm(tensors, config, f"{at}.2.layer_norm", x))
    x = norm(tensors, config, "decoder.final_layer_norm", x) / math.sqrt(config["d_model"])
    return (x @ tensors["shared.weight"].T.astype(np.float64))[0]


def encoder(tensors: Tensors, config: Mapping[str, Any], ids: Sequence[int]) -> np.ndarray:
    """float64[n, d]"""
    x = tensors["shared.weight"][list(ids)].astype(np.float64)
    table = tensors["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    far = np.array([[bucket(key - query) for key in range(len(ids))] for query in range(len(ids))])
    bias = table[far].transpose(2, 0, 1)  # [heads, n, n]
    for layer in range(config["num_layers"]):
        at = f"encoder.block.{layer}.layer"
        normed = norm(tensors, config, f"{at}.0.layer_norm", x)
        x = x + attention(tensors, config, f"{at}.0.SelfAttention", normed, normed, bias)
        x = x + feed_forward(tensors, f"{at}.1", norm(tensors, config, f"{at}.1.layer_norm", x))
    return norm(tensors, config, "encoder.final_layer_norm", x)


def bucket(distance: int, buckets: int = 32, most: int = 128) -> int:
    """Half of the buckets look each way; half of those are a distance each, the others grow with its log."""
    half, far = buckets // 2, abs(distance)
    side, near = (half if distance > 0 else 0), half // 2
    if far < near:
        return side + far
    grown = near + int(math.log(far / near) / math.log(most / near) * (half - near))
    return side + min(grown, half - 1)


def attention(
    tensors: Tensors, config: Mapping[str, Any], at: str, x: np.ndarray, y: np.ndarray, bias: np.ndarray
) -> np.ndarray:
    """Not divided by the square root of the width, as T5 has it."""
    q, k, v = (
        z @ tensors[f"{at}.{name}.weight"].T.astype(np.float64)
        for name, z in zip("qkv", (x, y, y), strict=True)
    )
    width, heads = config["d_kv"], []
    for head in range(config["num_heads"]):
        part = slice(head * width, (head + 1) * width)
        scores = q[:, part] @ k[:, part].T + bias[head]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
    return np.hstack(heads) @ tensors[f"{at}.o.weight"].T.astype(np.float64)


def feed_forward(tensors: Tensors, at: str, x: np.ndarray) -> np.ndarray:
    inner = np.maximum(x @ tensors[f"{at}.DenseReluDense.wi.weight"].T.astype(np.float64), 0)
    return inner @ tensors[f"{at}.DenseReluDense.wo.weight"].T.astype(np.float64)


def norm(tensors: Tensors, config: Mapping[str, Any], name: str, x: np.ndarray) -> np.ndarray:
    """By the root mean square alone: nothing is subtracted or added."""
    size = np.sqrt((x**2).mean(axis=-1, keepdims=True) + config["layer_norm_epsilon"])
    return x / size * tensors[f"{name}.weight"]
