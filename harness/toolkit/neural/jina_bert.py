"""JinaBERT, the network of Jina's embeddings 2 (Günther et al. 2023): BERT with ALiBi and gated layers.

A network of ours with the published names of tensors, so that no code of the hub is run. Its configuration is
BERT's. `model_folder.is_jina_bert` says which folders hold such a network.
"""

from __future__ import annotations

import itertools
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

BIASES = 1 << 24  # numbers of a bias that a GPU holds at a time: 64 MB in fp32
ACTIVATIONS: dict[str, Any] = {"geglu": functional.gelu, "reglu": functional.relu}


def slopes(heads: int) -> list[float]:
    """The slope of each head: 2^(-8 i / n) for n heads if n is a power of two (Press et al. 2022, section 3).
    Otherwise those of the power below n, and then every second one of the power above n (their code)."""
    power = 1 << (heads.bit_length() - 1)
    first = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    return first if heads == power else first + slopes(2 * power)[::2][: heads - power]


def biases(heads: int, length: int, device: torch.device) -> Tensor:
    """float[heads, L, L]: row r has the biases of the query L - 1 - r, -slope |distance| for each key, in
    both directions alike (Günther et al. 2023, section 3.1). The rows overlap in memory: each head holds
    2 L - 1 numbers."""
    distances = torch.arange(1 - length, length, device=device).abs()
    diagonals = -torch.tensor(slopes(heads), device=device)[:, None] * distances  # [heads, 2 L - 1]
    return diagonals.unfold(1, length, 1)


def attention(q: Tensor, k: Tensor, v: Tensor, biases: Tensor) -> Tensor:
    """[n, heads, L, width]: softmax(Q K^T / sqrt(width) + bias) V, for texts without padding. Memory grows
    with L: on a CPU, torch reads the overlapping rows of the biases as they are."""
    backwards = q.flip(2)  # as the rows of the biases
    if q.device.type != "cpu":
        return in_parts(backwards, k, v, biases).flip(2)
    return functional.scaled_dot_product_attention(backwards, k, v, biases[None]).flip(2)


def in_parts(q: Tensor, k: Tensor, v: Tensor, biases: Tensor) -> Tensor:
    """The attention of queries in the order of the biases' rows. A GPU cannot read rows that overlap, so that
    some of them are copied at a time."""
    rows = max(1, BIASES // (biases.shape[0] * biases.shape[2]))
    parts = zip(q.split(rows, 2), biases.split(rows, 1), strict=True)
    return torch.cat(
        [
            functional.scaled_dot_product_attention(part, k, v, bias[None].to(q.dtype).contiguous())
            for part, bias in parts
        ],
        2,
    )


class Embeddings(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        added = self.word_embeddings(ids) + self.token_type_embeddings(types)
        return cast("Tensor", self.dropout(self.LayerNorm(added)))


class Heads(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.count, width = config.num_attention_heads, config.hidden_size
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x: Tensor, lengths: list[int], biases: Tensor) -> Tensor:
        """[n, L, d]: texts of equal length, which are neighbours, are computed together."""
        split = (*x.shape[:2], self.count, x.shape[2] // self.count)
        q, k, v = (part(x).view(split).transpose(1, 2) for part in (self.query, self.key, self.value))
        mixed, longest, start = torch.zeros_like(q), x.shape[1], 0
        for length, alike in itertools.groupby(lengths):
            texts = slice(start, start := start + len(list(alike)))
            own_q, own_k, own_v = (states[texts, :, :length] for states in (q, k, v))
            own_biases = biases[:, longest - length :, :length]
            mixed[texts, :, :length] = attention(own_q, own_k, own_v, own_biases)
        return mixed.transpose(1, 2).reshape(x.shape)


class Mixed(nn.Module):
    """The linear layer after attention, and the sum and norm after it."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, mixed: Tensor, x: Tensor) -> Tensor:
        return cast("Tensor", self.LayerNorm(self.dropout(self.dense(mixed)) + x))


class Attention(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.self, self.output = Heads(config), Mixed(config)

    def forward(self, x: Tensor, lengths: list[int], biases: Tensor) -> Tensor:
        return cast("Tensor", self.output(self.self(x, lengths, biases), x))


class Gated(nn.Module):
    """Layers with a gate (Shazeer 2020, GEGLU and ReGLU), and the sum and norm after them."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.gated_layers = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.wo = nn.Linear(config.intermediate_size, config.hidden_size)
        self.layernorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.activation = ACTIVATIONS[config.feed_forward_type]

    def forward(self, x: Tensor) -> Tensor:
        gate, inner = self.gated_layers(x).chunk(2, -1)
        outer = self.wo(self.dropout(self.activation(gate) * inner))
        return cast("Tensor", self.layernorm(outer + x))


class Layer(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.attention, self.mlp = Attention(config), Gated(config)

    def forward(self, x: Tensor, lengths: list[int], biases: Tensor) -> Tensor:
        return cast("Tensor", self.mlp(self.attention(x, lengths, biases)))


class Encoder(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))


class Config(BertConfig):
    """BERT's configuration without the published `attn_implementation`, which transformers refuses. It names
    how attention was computed, and the result is the same."""

    def __init__(self, attn_implementation: str | None = None, **settings: Any) -> None:
        super().__init__(**settings)


class JinaBert(PreTrainedModel):
    config_class = Config
    base_model_prefix = "bert"

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.embeddings, self.encoder = Embeddings(config), Encoder(config)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **_: Any,
    ) -> BaseModelOutput:
        """The states of texts that are padded on the right, if at all."""
        texts, longest = input_ids.shape
        lengths = [longest] * texts if attention_mask is None else attention_mask.sum(1).tolist()
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        added = biases(self.config.num_attention_heads, longest, input_ids.device)
        x = self.embeddings(input_ids, types)
        for layer in self.encoder.layer:
            x = layer(x, lengths, added)
        return BaseModelOutput(last_hidden_state=x)
