"""Dropout whose mask costs little: 16 random bits a number, four numbers from one draw of a fast generator.

torch draws a mask number by number on the CPU, which can take half of a training step there. The mask here is
that of Srivastava et al. 2014 with the probability rounded to a multiple of 2^-16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

NAME = "harness_fast_dropout"
STEPS = 1 << 16


class Dropout(nn.Module):  # type: ignore[misc]
    """Zeroes numbers with the probability `p` while training, and scales the others by 1 / (1 - p). What is
    dropped follows from the state of torch's generator alone."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        threshold = round(self.p * STEPS)
        if not self.training or threshold == 0:
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.p)
        seed = int(torch.randint(0, 2**62, ()).item())
        count = x.numel()
        raw = np.random.SFC64(seed).random_raw((count + 3) // 4).view(np.uint16)[:count]
        kept = torch.from_numpy(raw >= threshold).view(x.shape)
        return x * (kept.to(x.dtype) * (STEPS / (STEPS - threshold)))


def install(model: Any, p: float) -> None:
    """Put this dropout, with this probability, wherever a model has one, in its attention too."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(module, name, Dropout(p))
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, eager_mask)  # without it padding would not be masked
    if isinstance(getattr(next(_attentions(model), None), "dropout", None), Dropout):
        model.set_attn_implementation(NAME)


def _attentions(model: Any) -> Any:
    return (module for module in model.modules() if hasattr(module, "query") and hasattr(module, "key"))


def attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, dropout: float = 0.0, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """softmax(q k^T / sqrt(d) + mask) v (Vaswani et al. 2017, equation 1), float[n, heads, L, d] each, with
    the module's own dropout on the weights."""
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    scores = torch.matmul(query * scale, key.transpose(-1, -2))
    if attention_mask is not None:
        scores = scores + attention_mask
    drop: Callable[[Tensor], Tensor] = module.dropout
    weights = drop(torch.softmax(scores.float(), dim=-1).to(query.dtype))
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None
