"""Prompts before every layer: keys and values that attention reads before those of the text (P-tuning v2).

Liu et al. 2022, section 3.2. A folder with `prefix.safetensors` holds only the prompts, and
`backbone.json` the name of the model that they were trained for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from harness.errors import HarnessError
from harness.toolkit.neural import backbones
from harness.toolkit.neural.backbones import Backbone

NAME = "harness_prefix"
_WEIGHTS = "prefix.safetensors"


def is_prefix(folder: Path) -> bool:
    return (folder / _WEIGHTS).is_file()


def save(folder: Path, prefix: Tensor, backbone: Backbone) -> None:
    """Writes a prefix, float32[layers, 2, heads, P, width] of keys and values, for a model's network."""
    backbones.write(folder, backbone)
    save_file(
        {"prefix": prefix.detach().float().cpu().contiguous()}, folder / _WEIGHTS, metadata={"format": "pt"}
    )


def read(folder: Path) -> Tensor:
    return load_file(folder / _WEIGHTS)["prefix"]


def install(model: Any, prefix: Tensor) -> None:
    """Makes every attention module of the network read its part of `prefix`, float[layers, 2, heads, P,
    width]."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, eager_mask)
    model.set_attn_implementation(NAME)
    place(model, prefix.to(model.dtype))


def place(model: Any, prefix: Tensor) -> None:
    modules = list(attentions(model))
    if len(modules) != len(prefix):
        raise HarnessError(
            f"model: {len(modules)} layers and a prefix for {len(prefix)}; take one for this network"
        )
    for module, part in zip(modules, prefix, strict=True):
        module.harness_prefix = part


def attentions(model: Any) -> Iterator[Any]:
    """Yields the attention modules, in the order of the layers."""
    return (module for module in model.modules() if hasattr(module, "query") and hasattr(module, "key"))


def joined(
    module: Any, key: Tensor, value: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The keys and values, float[n, heads, L, width], with the module's prefix before them, and the mask,
    float[n, 1, L, L], widened so that every token reads the prefix. Without a prefix, all three are returned
    unchanged."""
    prefix = getattr(module, "harness_prefix", None)
    if prefix is None:
        return key, value, mask
    texts, length = len(key), prefix.shape[2]
    key, value = (
        torch.cat([part.to(states.dtype).expand(texts, -1, -1, -1), states], dim=2)
        for part, states in zip(prefix, (key, value), strict=True)
    )
    return key, value, None if mask is None else torch.nn.functional.pad(mask, (length, 0))


def attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, dropout: float = 0.0, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """softmax(q k^T / sqrt(d) + mask) v (Vaswani et al. 2017, equation 1), for inference."""
    key, value, attention_mask = joined(module, key, value, attention_mask)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = torch.matmul(query * scale, key.transpose(-1, -2))
    if attention_mask is not None:
        scores = scores + attention_mask.to(scores.dtype)
    weights = torch.softmax(scores.float(), dim=-1).to(query.dtype)
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None
