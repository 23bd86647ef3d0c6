"""Trains low-rank adapters of a frozen bi-encoder (LoRA, Hu et al. 2022)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from harness.plugin import HarnessError
from harness.toolkit.neural import adapters, backbones
from harness.toolkit.neural.adapters import Change
from harness_training import networks
from harness_training.dual_encoder import DualEncoder
from harness_training.networks import Titles, Tower
from harness_training.params import LoraParams


class LowRank(nn.Module):  # type: ignore[misc]
    """A matrix with its change: W + B A * alpha / r (equation 3). B begins as 0 and A at random. The sum is
    computed in fp32, even where the products with the sum are computed in bf16: a small change would be lost
    in bf16, and the network that `dense` merges would be another one."""

    def __init__(self, weight: Tensor, rank: int, alpha: float) -> None:
        super().__init__()
        out, width = weight.shape
        self.scale = alpha / rank
        self.down, self.up = nn.Parameter(torch.empty(rank, width)), nn.Parameter(torch.zeros(out, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        with torch.autocast(weight.device.type, enabled=False):
            return weight + self.up @ self.down * self.scale


class AdaptedTower(Tower):
    """A tower with a frozen network. Only the changes of some of its matrices are trained."""

    keeps_prefix = True

    def __init__(self, params: LoraParams, seed: int) -> None:
        self.backbone = backbones.of(params.init, params.revision)
        unit = params.similarity == "cosine"
        super().__init__(self.backbone.at, params.pooling, unit, params.dropout, params.dtype, params.device)
        self.network.requires_grad_(False)
        self.alpha = params.alpha
        torch.manual_seed(seed)
        self.adapted = {
            name: module
            for name, module in self.network.named_modules()
            if isinstance(module, nn.Linear) and name.rpartition(".")[2] in params.matrices
        }
        absent = set(params.matrices) - {name.rpartition(".")[2] for name in self.adapted}
        if absent:
            raise HarnessError(f"matrices: the network has no '{min(absent)}'; take names of its modules")
        for module in self.adapted.values():
            change = LowRank(module.weight, params.rank, params.alpha).to(params.device)
            parametrize.register_parametrization(module, "weight", change)

    def forward(self, texts: Sequence[str], length: int, titles: Titles | None = None) -> Tensor:
        if self.packed is not None:
            changed = {f"{name}.weight": module.weight for name, module in self.adapted.items()}
            self.packed = self.packed._replace(parameters={**self.packed.parameters, **changed})
        vectors: Tensor = super().forward(texts, length, titles)
        return vectors

    def save(self, folder: Path, length: int, query_prompt: str, passage_prompt: str) -> None:
        """Write the changes, and the other files that `dense` reads. The network's weights are not copied."""
        networks.describe(self, folder, length, query_prompt, passage_prompt)
        parts = {name: module.parametrizations.weight[0] for name, module in self.adapted.items()}
        changes = {name: Change(part.down, part.up) for name, part in parts.items()}
        adapters.save(folder, changes, self.alpha, self.backbone)


class Lora(DualEncoder):
    def _made(self, names: Sequence[str], seed: int) -> Mapping[str, Tower]:
        assert isinstance(self._params, LoraParams)
        return {name: AdaptedTower(self._params, seed + place) for place, name in enumerate(names)}
