"""BERT and RoBERTa as their papers write them: one text at a time, no padding, float64, plain numpy."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Tensors = Mapping[str, np.ndarray]


def hidden_states(
    tensors: Tensors, config: Mapping[str, Any], ids: Sequence[int], types: Sequence[int] | None = None
) -> np.ndarray:
    """float64[n, d]: the last layer's states of one text's n tokens (Devlin et al. 2019, section 3;
    Vaswani et al. 2017, equation 1), from tensors named as in a BERT without prefix."""
    first = config["pad_token_id"] + 1 if config["model_type"] in ("roberta", "xlm-roberta") else 0
    kinds = [0] * len(ids) if types is None else list(types)
    x = (
        tensors["embeddings.word_embeddings.weight"][list(ids)].astype(np.float64)
        + tensors["embeddings.position_embeddings.weight"][first : first + len(ids)]
        + tensors["embeddings.token_type_embeddings.weight"][kinds]
    )
    x = norm(tensors, config, "embeddings.LayerNorm", x)
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        mixed = linear(tensors, f"{at}.attention.output.dense", attention(tensors, config, at, x))
        x = norm(tensors, config, f"{at}.attention.output.LayerNorm", x + mixed)
        inner = gelu(linear(tensors, f"{at}.intermediate.dense", x))
        x = norm(tensors, config, f"{at}.output.LayerNorm", x + linear(tensors, f"{at}.output.dense", inner))
    return x


def attention(tensors: Tensors, config: Mapping[str, Any], at: str, x: np.ndarray) -> np.ndarray:
    q, k, v = (linear(tensors, f"{at}.attention.self.{part}", x) for part in ("query", "key", "value"))
    width = x.shape[1] // config["num_attention_heads"]
    heads = []
    for head in range(config["num_attention_heads"]):
        part = slice(head * width, (head + 1) * width)
        weights = np.exp(q[:, part] @ k[:, part].T / math.sqrt(width))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
    return np.hstack(heads)


def linear(tensors: Tensors, name: str, x: np.ndarray) -> np.ndarray:
    return x @ tensors[f"{name}.weight"].T.astype(np.float64) + tensors[f"{name}.bias"]


def norm(tensors: Tensors, config: Mapping[str, Any], name: str, x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + config["layer_norm_eps"])
    return centred / spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
