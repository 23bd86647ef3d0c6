"""Runs BERT's family on one core: without padding, with weights in oneDNN's layout, with fused operations.

The results are those of Devlin et al. 2019, section 3 (Vaswani et al. 2017, equation 1); only the order of
the work differs from the usual code. Rows are the tokens of all texts; attention handles texts of equal
length together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from harness.toolkit.neural.encoding.passes import BUDGET
from harness.toolkit.neural.prefixes import NAME as PREFIXED
from harness.toolkit.neural.tokens import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray


CACHED = 1 << 20  # attention weights computed at a time: 2 MB in bf16, about a core's share of the cache


class Layout(NamedTuple):
    """The names of an architecture's tensors; `{}` stands for the number of a layer."""

    query: str
    key: str
    value: str
    mixed: str  # the linear layer after attention
    norm_mixed: str
    inner: str
    outer: str
    norm_outer: str
    counts_padding: bool  # whether positions begin at 0; RoBERTa's begin after the padding's id


_BERT = Layout(
    query="encoder.layer.{}.attention.self.query",
    key="encoder.layer.{}.attention.self.key",
    value="encoder.layer.{}.attention.self.value",
    mixed="encoder.layer.{}.attention.output.dense",
    norm_mixed="encoder.layer.{}.attention.output.LayerNorm",
    inner="encoder.layer.{}.intermediate.dense",
    outer="encoder.layer.{}.output.dense",
    norm_outer="encoder.layer.{}.output.LayerNorm",
    counts_padding=True,
)
_DISTILBERT = Layout(
    query="transformer.layer.{}.attention.q_lin",
    key="transformer.layer.{}.attention.k_lin",
    value="transformer.layer.{}.attention.v_lin",
    mixed="transformer.layer.{}.attention.out_lin",
    norm_mixed="transformer.layer.{}.sa_layer_norm",
    inner="transformer.layer.{}.ffn.lin1",
    outer="transformer.layer.{}.ffn.lin2",
    norm_outer="transformer.layer.{}.output_layer_norm",
    counts_padding=True,
)
_ROBERTA = _BERT._replace(counts_padding=False)
_LAYOUTS = {
    "BertModel": _BERT,
    "RobertaModel": _ROBERTA,
    "XLMRobertaModel": _ROBERTA,
    "CamembertModel": _ROBERTA,
    "DistilBertModel": _DISTILBERT,
}


class Linear(NamedTuple):
    weight: torch.Tensor  # [out, in], in oneDNN's opaque layout
    bias: torch.Tensor  # [out]


class Norm(NamedTuple):
    weight: torch.Tensor  # [d]
    bias: torch.Tensor  # [d]
    epsilon: float


class Layer(NamedTuple):
    qkv: Linear  # query, key and value, stacked along `out`
    mixed: Linear
    norm_mixed: Norm
    inner: Linear
    outer: Linear
    norm_outer: Norm


class Weights(NamedTuple):
    """The weights of a whole encoder, as `states` reads them."""

    words: torch.Tensor  # [V, d]
    positions: torch.Tensor  # [P, d]
    types: torch.Tensor | None  # [types, d]
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    padding: int | None  # positions begin after this id; at 0 if None


def layout(model: Any) -> Layout | None:
    """The layout by which `pack` reads the network; None if `pack` does not support the network, or this
    torch or CPU lacks the operations."""
    layout_of_type, config = _LAYOUTS.get(type(model).__name__), model.config
    if getattr(model.config, "_attn_implementation", None) == PREFIXED:  # its attention also reads a prefix
        return None
    plain = (
        getattr(config, "hidden_act", getattr(config, "activation", None)) == "gelu"
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
        and not getattr(config, "is_decoder", False)
        and not getattr(config, "add_cross_attention", False)
    )
    return layout_of_type if plain and _supported(model.dtype) else None


def _supported(dtype: torch.dtype) -> bool:
    if not torch.backends.mkldnn.is_available():
        return False
    ours = torch.ops.mkldnn
    if not all(hasattr(ours, name) for name in ("_linear_pointwise", "_reorder_linear_weight")):
        return False
    native = getattr(ours, "_is_mkldnn_bf16_supported", lambda: False)
    return dtype == torch.float32 or (dtype == torch.bfloat16 and bool(native()))


def pack(model: Any, layout: Layout) -> Weights:
    """The network's tensors, copied into the layout that oneDNN multiplies fastest."""
    tensors: dict[str, torch.Tensor] = {name: value.detach() for name, value in model.state_dict().items()}
    config = model.config
    epsilon = getattr(config, "layer_norm_eps", 1e-12)  # DistilBERT's is fixed

    divisor = math.sqrt(config.hidden_size // config.num_attention_heads)

    def linear(*names: str) -> Linear:
        weights, biases = ([tensors[f"{name}.{part}"] for name in names] for part in ("weight", "bias"))
        if len(names) == 3:  # the query's weights are first: divided here once, not in each pass
            weights[0], biases[0] = weights[0] / divisor, biases[0] / divisor
        weight = torch.ops.mkldnn._reorder_linear_weight(torch.cat(weights).contiguous(), BUDGET)
        return Linear(weight, torch.cat(biases))

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"], epsilon)

    layers = tuple(
        Layer(
            qkv=linear(*(name.format(i) for name in (layout.query, layout.key, layout.value))),
            mixed=linear(layout.mixed.format(i)),
            norm_mixed=norm(layout.norm_mixed.format(i)),
            inner=linear(layout.inner.format(i)),
            outer=linear(layout.outer.format(i)),
            norm_outer=norm(layout.norm_outer.format(i)),
        )
        for i in range(config.num_hidden_layers)
    )
    return Weights(
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"],
        types=tensors.get("embeddings.token_type_embeddings.weight"),
        norm=norm("embeddings.LayerNorm"),
        layers=layers,
        heads=config.num_attention_heads,
        padding=None if layout.counts_padding else config.pad_token_id,
    )


def states(weights: Weights, tokens: Tokens) -> torch.Tensor:
    """[T, d]: the last layer's state of each token."""
    alike = list(alike_runs(tokens.bounds, weights.heads))
    x = _embedded(weights, tokens)
    for layer in weights.layers:
        mixed = _attention(_linear(x, layer.qkv), weights.heads, alike)
        x = _norm(_added(mixed, x, layer.mixed), layer.norm_mixed)
        x = _norm(_added(_linear(x, layer.inner, "gelu"), x, layer.outer), layer.norm_outer)
    return x


def _embedded(weights: Weights, tokens: Tokens) -> torch.Tensor:
    """[T, d]: word + position + type, normalised."""
    x = weights.words[torch.from_numpy(tokens.ids.astype(np.int64))]
    x += weights.positions[torch.from_numpy(positions(tokens, weights.padding))]
    if weights.types is not None:
        x += weights.types[0 if tokens.types is None else torch.from_numpy(tokens.types.astype(np.int64))]
    return _norm(x, weights.norm)


def positions(tokens: Tokens, padding: int | None) -> NDArray[np.int64]:
    """int64[T]: the position of each token, counted 0, 1, 2 ... in each text. RoBERTa counts on from its
    padding's id and skips tokens that have that id."""
    counts = np.ones(len(tokens.ids), np.bool_) if padding is None else tokens.ids != padding
    so_far = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    before = np.repeat(so_far[tokens.bounds[:-1]], np.diff(tokens.bounds))
    place: NDArray[np.int64] = so_far[1:] - before  # 1, 2, 3 ...
    numbers: NDArray[np.int64] = place - 1 if padding is None else np.where(counts, place, 0) + padding
    return numbers


class Alike(NamedTuple):
    """Neighbouring texts of equal length: their tokens form a rectangle without padding."""

    start: int  # the first token
    texts: int
    length: int  # tokens of each text


def alike_runs(bounds: NDArray[np.int64], heads: int) -> Iterator[Alike]:
    """Yields the texts as runs of equal length, each run so short that its attention weights stay in the
    cache."""
    lengths = np.diff(bounds)
    edges = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
    for first, end in itertools.pairwise(edges):
        length = int(lengths[first])
        most = max(1, CACHED // max(1, heads * length * length))
        for text in range(first, end, most) if length else ():
            yield Alike(int(bounds[text]), min(most, end - text), length)


def _attention(qkv: torch.Tensor, heads: int, alike: Sequence[Alike]) -> torch.Tensor:
    """[T, d] from [T, 3 d]: softmax(Q K^T / sqrt(width)) V for each head, side by side (Vaswani et al. 2017,
    equation 1; Q is already divided). Plain products and oneDNN's softmax take half the time of torch's fused
    attention if heads are as narrow as 32."""
    width = qkv.shape[1] // 3 // heads
    mixed = qkv.new_empty(len(qkv), heads * width)
    for start, texts, length in alike:
        if heads * length**2 > CACHED and (length > 512 or qkv.dtype == torch.float32):  # then one text
            mixed[start : start + length] = _attention_of_one(qkv[start : start + length], heads, width)
            continue
        parts = qkv[start : start + texts * length].view(texts, length, 3, heads, width)
        q, k, v = parts.permute(2, 0, 3, 1, 4).reshape(3, texts * heads, length, width)
        scores = torch.bmm(q, k.transpose(1, 2))  # [n heads, L, L]
        likely = torch.softmax(scores.to_mkldnn(), -1).to_dense()
        attended = torch.bmm(likely, v).view(texts, heads, length, width).transpose(1, 2)
        mixed[start : start + texts * length].view(texts, length, heads, width).copy_(attended)
    return mixed


def _attention_of_one(qkv: torch.Tensor, heads: int, width: int) -> torch.Tensor:
    """[L, d] from [L, 3 d]: the attention of one text whose weights do not fit the cache at once. Torch's
    fused attention takes half the time of plain products in fp32, but twice their time in bf16."""
    q, k, v = qkv.view(len(qkv), 3, heads, width).permute(1, 2, 0, 3)  # [heads, L, width] each
    if qkv.dtype == torch.float32:
        fused = functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)[0]
        return fused.transpose(0, 1).reshape(len(qkv), -1)
    mixed = qkv.new_empty(len(qkv), heads, width)
    rows = max(1, CACHED // len(qkv))
    for head in range(heads):
        keys, values = k[head].contiguous().T, v[head].contiguous()
        for start in range(0, len(qkv), rows):
            scores = q[head, start : start + rows] @ keys  # [rows, L]
            mixed[start : start + rows, head] = torch.softmax(scores.to_mkldnn(), -1).to_dense() @ values
    return mixed.view(len(qkv), -1)


def _linear(x: torch.Tensor, linear: Linear, after: str = "none") -> torch.Tensor:
    """[T, out]: x W^T + b, followed by gelu in the same pass if `after` is "gelu"."""
    algorithm = "none" if after == "gelu" else ""  # the exact gelu, with erf
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
        x, linear.weight, linear.bias, after, [], algorithm
    )
    return product


def _added(x: torch.Tensor, residual: torch.Tensor, linear: Linear) -> torch.Tensor:
    """[T, out]: x W^T + b + residual, in one pass."""
    total: torch.Tensor = torch.ops.mkldnn._linear_pointwise.binary(
        x, residual, linear.weight, linear.bias, "add"
    )
    return total


def _norm(x: torch.Tensor, norm: Norm) -> torch.Tensor:
    return functional.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.epsilon)
