"""Trains prompts for a frozen bi-encoder, by DPTDR's deep prompt tuning (Tang et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from harness.toolkit.neural import backbones, prefixes
from harness_training import networks
from harness_training.dual_encoder import DualEncoder
from harness_training.networks import Titles, Tower
from harness_training.params import PromptsParams


class Prefix(nn.Module):  # type: ignore[misc]
    """Computes the prefix's keys and values for every layer, float32[layers, 2, heads, P, width], from an
    embedding a place; with `hidden`, through a small network (P-tuning v2, Liu et al. 2022, section 3.3)."""

    def __init__(
        self, length: int, layers: int, heads: int, size: int, hidden: int | None, seed: int
    ) -> None:
        super().__init__()
        self.shape = (length, layers, 2, heads, size // heads)
        torch.manual_seed(seed)
        self.places = nn.Embedding(length, size if hidden else 2 * layers * size)
        self.deeper = (
            nn.Sequential(nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, 2 * layers * size))
            if hidden
            else nn.Identity()
        )

    def forward(self) -> Tensor:
        values: Tensor = self.deeper(self.places.weight)
        return values.view(self.shape).permute(1, 2, 3, 0, 4)


class PromptedTower(Tower):
    """A tower with a frozen network. Only its prefix is trained."""

    def __init__(self, params: PromptsParams, seed: int) -> None:
        self.backbone = backbones.of(params.init, params.revision)
        unit = params.similarity == "cosine"
        super().__init__(self.backbone.at, params.pooling, unit, params.dropout, params.dtype, params.device)
        self.network.requires_grad_(False)
        self.packed = None  # only attention over padded texts reads a prefix
        config = self.network.config
        sizes = (config.num_hidden_layers, config.num_attention_heads, config.hidden_size)
        hidden = params.mlp_width if params.mlp else None
        self.prefix = Prefix(params.prefix, *sizes, hidden, seed).to(params.device)

    def forward(self, texts: Sequence[str], length: int, titles: Titles | None = None) -> Tensor:
        prefixes.place(self.network, self.prefix())
        vectors: Tensor = super().forward(texts, length, titles)
        return vectors

    def save(self, folder: Path, length: int, query_prompt: str, passage_prompt: str) -> None:
        """Write the prefix, and the other files that `dense` reads. The network's weights are not copied."""
        networks.describe(self, folder, length, query_prompt, passage_prompt)
        prefixes.save(folder, self.prefix(), self.backbone)


class Prompts(DualEncoder):
    def _made(self, names: Sequence[str], seed: int) -> Mapping[str, Tower]:
        assert isinstance(self._params, PromptsParams)
        return {name: PromptedTower(self._params, seed + place) for place, name in enumerate(names)}
