"""Trains BERT's family on CPUs without padding, with each core at its own texts.

The result is that of the network's own code (Devlin et al. 2019, section 3), with the same dropout. The rows
of a matrix are the tokens of all texts. The texts are cut into shares of about `SHARE` tokens or fewer. The
cut does not depend on the number of cores. Each core computes whole shares, forwards and backwards, so cores
never wait for each other within a layer. If a loss reads only the first token of each text, the last layer
computes only these tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from harness.toolkit.neural import prefixes, torch_packed
from harness.toolkit.neural.tokens import Tokens
from harness.toolkit.neural.torch_packed import Layout
from harness_training import dropout as fast
from harness_training.packed_parts import Drop, added_norm, attention, dropped

Item = TypeVar("Item")
Made = TypeVar("Made")
Layers: TypeAlias = "Callable[[Share, Tensor, Sequence[Tensor]], Tensor]"

# About the most tokens of a share. Matrix products of this size are fast, and all cores end at about the same
# time.
SHARE = 2048
SMALL = 128  # fewer tokens than this are one share


class Network(NamedTuple):
    """A network that can be trained without padding."""

    layout: Layout
    parameters: dict[str, Tensor]  # by their names in the network
    drops: list[fast.Dropout]  # embeddings; for each layer: attention weights, attention output, its output
    layers: int
    heads: int
    epsilon: float
    padding: int | None  # positions are counted from this id + 1, or from 0 if it is None
    types: bool  # whether tokens have types
    cores: int  # the number of cores that compute shares


class Share(NamedTuple):
    """Some neighbouring texts, whose tokens go through all layers on one core."""

    start: int  # the first token
    lengths: NDArray[np.int64]  # tokens of each text
    keys: NDArray[np.uint64]  # the random key of each text


def network(model: Any) -> Network | None:
    """The layers of an encoder that transformers loaded. Returns None if this module does not know the
    architecture; the encoder is then trained by its code in transformers."""
    layout, config = torch_packed.layout(model), model.config
    drops = [module for module in model.modules() if isinstance(module, fast.Dropout)]
    if any(getattr(module, prefixes.NAME, None) is not None for module in model.modules()):
        return None  # the layers below do not read prefixes
    if layout is None or len(drops) != 1 + 3 * config.num_hidden_layers:
        return None
    return Network(
        layout, dict(model.named_parameters()), drops, config.num_hidden_layers, config.num_attention_heads,
        config.layer_norm_eps, None if layout.counts_padding else config.pad_token_id,
        getattr(config, "type_vocab_size", 0) > 0, torch.get_num_threads(),
    )  # fmt: skip


def states(net: Network, tokens: Tokens, keys: NDArray[np.uint64], dtype: str, first: bool = False) -> Tensor:
    """float32[T, d]: the last layer's state of each token. With `first`, float32[n, d]: the state of the
    first token of each text. `keys`, uint64[n], are the random keys of the texts."""

    def layers(share: Share, x: Tensor, weights: Sequence[Tensor]) -> Tensor:
        return _layers(net, share, x, weights, first)

    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    shares = _shares(tokens.bounds, keys)
    out: Tensor = _Shared.apply(
        layers, shares, net.cores, kind, torch.is_grad_enabled(), _embedded(net, tokens), *_weights(net)
    )
    return out


def pooled(states: Tensor, bounds: NDArray[np.int64], how: str) -> Tensor:
    """float[n, d]: the vectors of texts, by pooling the states of their tokens, float[T, d]."""
    if how == "last":
        return states[torch.from_numpy(bounds[1:] - 1)]
    return torch.segment_reduce(states, how, lengths=torch.from_numpy(np.diff(bounds)), axis=0)


def _embedded(net: Network, tokens: Tokens) -> Tensor:
    """float32[T, d]: the sum of the embeddings of word, position and type."""
    positions = torch_packed.positions(tokens, net.padding)
    types = np.zeros(len(tokens.ids), np.int64) if tokens.types is None else tokens.types
    x = _rows(net, "word", tokens.ids) + _rows(net, "position", positions)
    return x + _rows(net, "token_type", types) if net.types else x


def _rows(net: Network, table: str, numbers: NDArray[Any]) -> Tensor:
    """float32[T, d]: rows of a table of embeddings. Their gradient is sparse and is added to a dense
    gradient. So words of a large vocabulary that do not occur cost nothing."""
    weight = net.parameters[f"embeddings.{table}_embeddings.weight"]
    if weight.requires_grad and weight.grad is None and torch.is_grad_enabled():
        weight.grad = torch.zeros_like(weight)
    rows: Tensor = functional.embedding(torch.from_numpy(numbers.astype(np.int64)), weight, sparse=True)
    return rows


def _weights(net: Network) -> list[Tensor]:
    """The weights and biases in the order in which `_layers` reads them. First comes the norm of the
    embeddings. Then come, for each layer: query, key and value as one matrix; the product after attention and
    its norm; the inner product; the outer product and its norm."""
    names: list[tuple[str, ...]] = [("embeddings.LayerNorm",)]
    at = net.layout
    for layer in range(net.layers):
        parts = ((at.query, at.key, at.value), (at.mixed,), (at.norm_mixed,), (at.inner,), (at.outer,))
        names += [tuple(name.format(layer) for name in part) for part in (*parts, (at.norm_outer,))]
    return [
        torch.cat([net.parameters[f"{name}.{kind}"] for name in together])
        for together in names
        for kind in ("weight", "bias")
    ]


def _layers(net: Network, share: Share, x: Tensor, weights: Sequence[Tensor], first: bool) -> Tensor:
    """float32[t, d]: a share's states after the last layer, from the embeddings of its tokens."""
    pairs = list(zip(weights[::2], weights[1::2], strict=True))
    kind = pairs[1][0].dtype
    drops = [Drop(share.keys, share.lengths, at.layer, at.p if at.training else 0.0) for at in net.drops]
    runs = list(torch_packed.alike_runs(np.concatenate([[0], np.cumsum(share.lengths)]), net.heads))
    x = dropped(functional.layer_norm(x, x.shape[1:], *pairs[0], net.epsilon), drops[0])
    for layer in range(net.layers):
        qkv, mixed, norm_mixed, inner, outer, norm_outer = pairs[1 + 6 * layer : 7 + 6 * layer]
        drop_likely, drop_mixed, drop_outer = drops[1 + 3 * layer : 4 + 3 * layer]
        low = x.to(kind)
        if first and layer == net.layers - 1:
            starts = torch.from_numpy(np.cumsum(share.lengths) - share.lengths)
            width = x.shape[1]
            query = _linear(low[starts], qkv[0][:width], qkv[1][:width])
            keys_values = _linear(low, qkv[0][width:], qkv[1][width:])
            attended = attention(keys_values, query, runs, net.heads, drop_likely)
            x = x[starts]
            drop_mixed, drop_outer = drop_mixed.of_first(), drop_outer.of_first()
        else:
            attended = attention(_linear(low, *qkv), None, runs, net.heads, drop_likely)
        x = added_norm(_linear(attended, *mixed), x, *norm_mixed, net.epsilon, drop_mixed)
        grown = functional.gelu(_linear(x.to(kind), *inner))
        x = added_norm(_linear(grown, *outer), x, *norm_outer, net.epsilon, drop_outer)
    return x


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.linear(x, weight, bias.to(x.dtype))


def _shares(bounds: NDArray[np.int64], keys: NDArray[np.uint64]) -> list[Share]:
    """The texts cut into shares of about equal size. The number of shares does not depend on the number of
    cores. With enough tokens and texts it is even, so that two cores end together."""
    total, texts = int(bounds[-1]), len(bounds) - 1
    count = 1 if total < SMALL else min(texts, 2 * -(-total // (2 * SHARE)))
    cuts = np.unique(np.searchsorted(bounds, np.linspace(0, total, count + 1)[1:-1])).tolist()
    edges = [0, *(cut for cut in cuts if 0 < cut < texts), texts]
    return [
        Share(int(bounds[start]), np.diff(bounds[start : end + 1]), keys[start:end])
        for start, end in itertools.pairwise(edges)
    ]


class _Shared(torch.autograd.Function):  # type: ignore[misc]
    """Computes shares on all cores. Each has its own graph; the weights' gradients are added in order."""

    @staticmethod
    def forward(
        ctx: Any, layers: Layers, shares: Sequence[Share], cores: int, kind: torch.dtype, keep: bool,
        x: Tensor, *weights: Tensor,
    ) -> Tensor:  # fmt: skip
        wanted = ctx.needs_input_grad[6:]
        low = [item.detach().to(kind) if item.ndim > 1 else item.detach() for item in weights]

        def computed(share: Share) -> tuple[Tensor, list[Tensor]]:
            with torch.set_grad_enabled(keep):
                rows = x.detach()[share.start : share.start + int(share.lengths.sum())]
                leaves = [rows.requires_grad_(keep)]
                leaves += [a.detach().requires_grad_(keep and b) for a, b in zip(low, wanted, strict=True)]
                return layers(share, leaves[0], leaves[1:]), leaves

        graphs = _on_cores(cores, computed, shares)
        ctx.graphs, ctx.cores = graphs if keep else [], cores
        return torch.cat([out.detach() for out, _ in graphs])

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Any:
        graphs, ctx.graphs = ctx.graphs, []
        slopes = torch.split(slope, [len(out) for out, _ in graphs])

        def computed(place: int) -> tuple[Tensor | None, ...]:
            out, leaves = graphs[place]
            wanted = [leaf for leaf in leaves if leaf.requires_grad]
            gradients = iter(torch.autograd.grad(out, wanted, slopes[place]))
            return tuple(next(gradients) if leaf.requires_grad else None for leaf in leaves)

        def added(parts: tuple[Tensor | None, ...]) -> Tensor | None:
            if parts[0] is None:
                return None
            total = parts[0].float()
            for part in parts[1:]:
                total += part
            return total

        first, *others = zip(*_on_cores(ctx.cores, computed, range(len(graphs))), strict=True)
        graphs.clear()
        return None, None, None, None, None, torch.cat(first), *_on_cores(ctx.cores, added, others)


def _on_cores(cores: int, function: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """The results for all items, computed in as many threads as there are cores or items. Torch divides the
    cores among these threads."""
    before, workers = torch.get_num_threads(), min(cores, len(items))
    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(cores // workers,)) as pool:
        try:
            return list(pool.map(function, items))
        finally:
            torch.set_num_threads(before)  # new threads begin with the number that was set last
