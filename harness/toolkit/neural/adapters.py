"""Low-rank adapters: a folder that holds only the changes of some matrices of a network, in peft's files.

LoRA, Hu et al. 2022, equation 3: W + B A * alpha / r. `backbone.json` names the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from harness.errors import HarnessError
from harness.made_models import BACKBONE
from harness.toolkit.neural import backbones, model_folder
from harness.toolkit.neural.backbones import Backbone

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
START, DOWN, UP = "base_model.model.", ".lora_A.weight", ".lora_B.weight"  # as peft names the tensors


class Change(NamedTuple):
    """The change of one matrix, float[out, in]."""

    down: Tensor  # A: float[r, in]
    up: Tensor  # B: float[out, r]


def is_adapter(folder: Path) -> bool:
    return (folder / WEIGHTS).is_file() and (folder / BACKBONE).is_file()


def save(folder: Path, changes: Mapping[str, Change], alpha: float, backbone: Backbone) -> None:
    """Write the changes of a network's matrices, by the names of their modules. peft reads them too."""
    rank = len(next(iter(changes.values())).down)
    ends = sorted({name.rpartition(".")[2] for name in changes})
    config = {
        "peft_type": "LORA", "task_type": "FEATURE_EXTRACTION", "r": rank, "lora_alpha": alpha,
        "target_modules": ends, "lora_dropout": 0.0, "bias": "none", "inference_mode": True,
        "base_model_name_or_path": backbone.model, "revision": backbone.revision,
    }  # fmt: skip
    (folder / CONFIG).write_bytes(orjson.dumps(config, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    backbones.write(folder, backbone)
    tensors = {
        f"{START}{name}{end}": part.detach().float().cpu().contiguous()
        for name, change in changes.items()
        for end, part in ((DOWN, change.down), (UP, change.up))
    }
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def merge(model: Any, folder: Path) -> None:
    """Add the changes in a folder to the network's matrices."""
    tensors, config = load_file(folder / WEIGHTS), model_folder.read(folder / CONFIG)
    scale, modules = config["lora_alpha"] / config["r"], dict(model.named_modules())
    for name, down in tensors.items():
        if not name.endswith(DOWN):
            continue
        at = name.removeprefix(START).removesuffix(DOWN)
        if at not in modules:
            raise HarnessError(f"model: {folder} changes '{at}', which its network has not")
        weight, up = modules[at].weight, tensors[name.removesuffix(DOWN) + UP]
        with torch.no_grad():
            weight.copy_(weight.float() + up @ down * scale)
