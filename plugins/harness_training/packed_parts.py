"""Parts of a layer, with dropout and gradients, for the tokens of several texts without padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from harness.toolkit.neural.torch_packed import Alike
from harness_training import dropout as fast


class Drop(NamedTuple):
    """The dropout of one layer for some texts."""

    keys: NDArray[np.uint64]  # the random key of each text
    lengths: NDArray[np.int64]  # the rows of each text
    layer: int
    p: float  # 0 if nothing is dropped

    @property
    def scale(self) -> float:
        return fast.scale(self.p)

    def of_first(self) -> Drop:
        """The same dropout for values that have only the first row of each text."""
        return self._replace(lengths=np.ones_like(self.lengths))

    def on(self, values: Tensor) -> Tensor:
        """Set some of `values`, [t, d], to 0, without scaling the others. Returns `values`."""
        if self.p:
            fast.zero_some(values, self.keys, self.lengths, 1, self.layer, self.p)
        return values

    def on_heads(self, values: Tensor, first_text: int, heads: int) -> Tensor:
        """Set some attention weights of some texts, [n heads, rows, L], to 0, without scaling the others.
        Returns `values`."""
        if self.p:
            texts = len(values) // heads
            keys = self.keys[first_text : first_text + texts]
            rows = np.full(texts, values.shape[1], np.int64)
            fast.zero_some(values, keys, rows, heads, self.layer, self.p)
        return values


def dropped(x: Tensor, drop: Drop) -> Tensor:
    out: Tensor = _Dropped.apply(x, drop) if drop.p else x
    return out


def added_norm(
    product: Tensor, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float, drop: Drop
) -> Tensor:
    """float32[t, d]: LayerNorm(x + dropout(product)). It overwrites `product`."""
    out: Tensor = _AddedNorm.apply(product, x, weight, bias, epsilon, drop)
    return out


def attention(packed: Tensor, query: Tensor | None, runs: Sequence[Alike], heads: int, drop: Drop) -> Tensor:
    """[t, d]: dropout(softmax(Q K^T / sqrt(width))) V for each head (Vaswani et al. 2017, equation 1).
    `packed`, [t, 3 d], has the query, key and value of each token. If `query`, [n, d], is given, it has the
    query of the first token of each text, `packed`, [t, 2 d], has only key and value, and the result is [n,
    d]."""
    out: Tensor = _Attention.apply(packed, query, runs, heads, drop)
    return out


class _Dropped(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Tensor, drop: Drop) -> Tensor:
        ctx.drop = drop
        return drop.on(x * drop.scale)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None]:
        return ctx.drop.on(slope * ctx.drop.scale), None


class _AddedNorm(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, product: Tensor, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float, drop: Drop
    ) -> Tensor:
        total = torch.add(x, drop.on(product), alpha=drop.scale)
        out, mean, scale = torch.native_layer_norm(total, total.shape[1:], weight, bias, epsilon)
        ctx.save_for_backward(total, mean, scale, weight, bias)
        ctx.drop, ctx.kind = drop, product.dtype
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        total, mean, scale, weight, bias = ctx.saved_tensors
        slope_total, slope_weight, slope_bias = torch.ops.aten.native_layer_norm_backward(
            slope.contiguous(), total, total.shape[1:], mean, scale, weight, bias, [True, True, True]
        )
        slope_product = ctx.drop.on((slope_total * ctx.drop.scale).to(ctx.kind))
        return slope_product, slope_total, slope_weight, slope_bias, None, None


class _Attention(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, packed: Tensor, query: Tensor | None, runs: Sequence[Alike], heads: int, drop: Drop
    ) -> Tensor:
        width = packed.shape[1] // (3 if query is None else 2) // heads
        out = packed.new_empty(len(packed if query is None else query), heads * width)
        likely, text = [], 0
        for run in runs:
            q, k, v = _heads(packed, query, run, text, heads)
            scores = torch.baddbmm(q.new_empty(1), q, k.transpose(1, 2), beta=0, alpha=width**-0.5)
            likely.append(torch.softmax(scores, -1))
            weights = drop.on_heads(likely[-1].clone() if drop.p else likely[-1], text, heads)
            mixed = torch.baddbmm(q.new_empty(1), weights, v, beta=0, alpha=drop.scale)
            rows = _rows_of(out, run, text, query is not None, heads, 1)
            rows.copy_(mixed.view(1, run.texts, heads, -1, width))
            text += run.texts
        ctx.save_for_backward(packed, query, *likely)
        ctx.how = (runs, heads, drop)
        return out

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        packed, query, *likely = ctx.saved_tensors
        runs, heads, drop = ctx.how
        slope = slope.contiguous()
        slope_packed = torch.empty_like(packed)
        slope_query = None if query is None else torch.empty_like(query)
        text = 0
        for run, chances in zip(runs, likely, strict=True):
            q, k, v = _heads(packed, query, run, text, heads)
            width = q.shape[2]
            (mixed,) = _rows_of(slope, run, text, query is not None, heads, 1).reshape(1, len(q), -1, width)
            weights = drop.on_heads(chances.clone() if drop.p else chances, text, heads)
            of_v = torch.baddbmm(q.new_empty(1), weights.transpose(1, 2), mixed, beta=0, alpha=drop.scale)
            of_weights = torch.baddbmm(q.new_empty(1), mixed, v.transpose(1, 2), beta=0, alpha=drop.scale)
            of_scores = torch._softmax_backward_data(
                drop.on_heads(of_weights, text, heads), chances, -1, chances.dtype
            )
            of_q = torch.baddbmm(q.new_empty(1), of_scores, k, beta=0, alpha=width**-0.5)
            of_k = torch.baddbmm(q.new_empty(1), of_scores.transpose(1, 2), q, beta=0, alpha=width**-0.5)
            for place, part in enumerate((of_q, of_k, of_v) if query is None else (of_k, of_v)):
                rows = _rows_of(slope_packed, run, text, False, heads, 3 if query is None else 2)
                rows[place].copy_(part.view(run.texts, heads, -1, width))
            if slope_query is not None:
                _rows_of(slope_query, run, text, True, heads, 1)[0].copy_(
                    of_q.view(run.texts, heads, 1, width)
                )
            text += run.texts
        return slope_packed, slope_query, None, None, None


def _heads(packed: Tensor, query: Tensor | None, run: Alike, text: int, heads: int) -> tuple[Tensor, ...]:
    """Query, key and value of some texts of equal length, each [n heads, L, width]. If `query` is given, L of
    the query is 1."""
    count = 3 if query is None else 2
    parts = _rows_of(packed, run, text, False, heads, count)
    parts = parts.reshape(count, run.texts * heads, run.length, -1)
    if query is None:
        return tuple(parts)
    return _rows_of(query, run, text, True, heads, 1).reshape(run.texts * heads, 1, -1), *parts


def _rows_of(rows: Tensor, run: Alike, text: int, first: bool, heads: int, count: int) -> Tensor:
    """[count, n, heads, L, width]: a view of the rows of some texts of equal length. With `first`, `rows` has
    one row for each text, and L is 1."""
    start, length = (text, 1) if first else (run.start, run.length)
    part = rows[start : start + run.texts * length]
    return part.view(run.texts, length, count, heads, -1).permute(2, 0, 3, 1, 4)
