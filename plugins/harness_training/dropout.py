"""Fast dropout with a mask that does not depend on how a batch is cut. A counter gives four numbers at once.

On the CPU, torch draws a mask number by number, which can take half of a training step. The mask here is that
of Srivastava et al. 2014 with the probability rounded to a multiple of 2^-16. Its random bits come from a
counter-based generator (Salmon et al. 2011) with the mixing function of SplitMix64 (Steele et al. 2014). The
bits of a number depend on the seed, the step, the text's place in the batch, the layer and the number's place
in the text. So they do not depend on how the batch is cut into micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from harness.toolkit.neural import prefixes
from harness.toolkit.neural.tokens import Tokens
from harness_training import dropout_kernel

NAME = "harness_fast_dropout"
STEPS = 1 << 16
WIDTHS: dict[torch.dtype, tuple[Any, torch.dtype]] = {  # integers of the same width, in numpy and in torch
    torch.bfloat16: (np.uint16, torch.int16),
    torch.float16: (np.uint16, torch.int16),
    torch.float32: (np.uint32, torch.int32),
}


class Keys:
    """The random keys of the texts that a network reads next. All dropouts of the network share them."""

    def __init__(self) -> None:
        self.values = np.zeros(0, np.uint64)  # uint64[n]

    def set(self, seeds: Sequence[int], places: Sequence[int]) -> None:
        """Set the keys of the next texts. `places` are their places in the batch, in the network's order."""
        start = 0
        for number in seeds:
            start = int(dropout_kernel.mixed(start, number))
        self.values = dropout_kernel.mixed(start, np.array(places, np.int64))
        torch.manual_seed(start % 2**63)  # for a GPU, and for modules that draw random numbers themselves

    def of(self, tokens: Tokens) -> NDArray[np.uint64]:
        """uint64[n]: the keys of these texts. They are 0 if no keys were set for this number of texts, as
        outside of training."""
        texts = len(tokens.bounds) - 1
        return self.values if len(self.values) == texts else np.zeros(texts, np.uint64)


class Dropout(nn.Module):  # type: ignore[misc]
    """In training, sets numbers to 0 with the probability `p` and scales the others by 1 / (1 - p)."""

    def __init__(self, p: float, keys: Keys, layer: int) -> None:
        super().__init__()
        self.p, self.keys, self.layer = p, keys, layer

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not threshold(self.p):
            return x
        if x.device.type != "cpu":
            return nn.functional.dropout(x, self.p)
        mask = torch.full(x.shape, scale(self.p), dtype=x.dtype)
        rows = np.full(len(x), x.shape[-2] if x.ndim > 2 else 1, np.int64)
        zero_some(mask, self.keys.values, rows, x.shape[1] if x.ndim > 3 else 1, self.layer, self.p)
        return x * mask


def threshold(p: float) -> int:
    """A number is dropped if the value of its 16 random bits is below this threshold."""
    return round(p * STEPS)


def scale(p: float) -> float:
    """The factor by which the numbers that stay are multiplied."""
    return STEPS / (STEPS - threshold(p))


def zero_some(
    values: Tensor, keys: NDArray[np.uint64], rows: NDArray[np.int64], planes: int, layer: int, p: float
) -> None:
    """Sets numbers of `values` to 0 with the probability `p`. The array is contiguous and has `planes`
    rectangles for each text with a key in `keys`. The height of a text's rectangles is given by `rows`, and
    their width is the last dimension."""
    kind, integer = WIDTHS[values.dtype]
    bits = values.view(integer).numpy().view(kind).reshape(-1)
    dropout_kernel.drop(
        bits, keys, rows, planes, values.shape[-1], np.uint64(layer), np.uint64(threshold(p)), ~kind(0)
    )


def install(model: Any, p: float) -> Keys:
    """Replace every dropout of a model by this one, with the probability `p`, also in its attention. Returns
    the keys that these dropouts share."""
    keys, count = Keys(), 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(module, name, Dropout(p, keys, count))
                count += 1
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, eager_mask)  # without this call, padding would not be masked
    if isinstance(getattr(next(_attentions(model), None), "dropout", None), Dropout):
        model.set_attn_implementation(NAME)
    return keys


def _attentions(model: Any) -> Any:
    return (module for module in model.modules() if hasattr(module, "query") and hasattr(module, "key"))


def attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    scaling: float | None = None, dropout: float = 0.0, **_: Any,
) -> tuple[Tensor, None]:  # fmt: skip
    """softmax(q k^T / sqrt(d) + mask) v (Vaswani et al. 2017, equation 1), with the module's own dropout on
    the weights. `query`, `key` and `value` are float[n, heads, L, d]. Autocast is off, because it would copy
    the weights to fp32 and back; torch's softmax of bf16 sums in fp32 anyway."""
    key, value, attention_mask = prefixes.joined(module, key, value, attention_mask)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    with torch.autocast(query.device.type, enabled=False):
        scores = torch.matmul(query * scale, key.transpose(-1, -2))
        if attention_mask is not None:
            scores = scores + attention_mask.to(scores.dtype)
        drop: Callable[[Tensor], Tensor] = module.dropout
        weights = drop(torch.softmax(scores, dim=-1))
        return torch.matmul(weights, value).transpose(1, 2).contiguous(), None
