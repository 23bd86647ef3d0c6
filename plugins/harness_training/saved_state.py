"""The state of a training on disk: weights, moments, losses and the step, each file with its own digest."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import safetensors.torch
import torch
from torch import Tensor

KEPT = 2  # the last one, and the one before it for when the last is damaged
DIGEST = 64  # characters of a file's head


class State(NamedTuple):
    step: int  # that are done
    tensors: dict[str, Tensor]


def write(folder: Path, step: int, tensors: Mapping[str, Tensor]) -> Path:
    """Keep a state as a whole, or not at all; older ones than the one before are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    body = safetensors.torch.save({name: tensor.contiguous() for name, tensor in tensors.items()})
    path, beside = folder / f"step-{step:09d}.state", folder / "unfinished"
    with beside.open("wb") as file:
        file.write(hashlib.sha256(body).hexdigest().encode() + body)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    for old in sorted(folder.glob("step-*.state"))[:-KEPT]:
        old.unlink()
    return path


def newest(folder: Path) -> State | None:
    """The last whole state; one that is damaged is passed over for the one before it."""
    for path in sorted(folder.glob("step-*.state"), reverse=True):
        data = path.read_bytes()
        digest, body = data[:DIGEST], data[DIGEST:]
        if hashlib.sha256(body).hexdigest().encode() == digest:
            return State(int(path.stem.partition("-")[2]), safetensors.torch.load(body))
    return None


def remove(folder: Path) -> None:
    for path in [*folder.glob("step-*.state"), folder / "unfinished"]:
        path.unlink(missing_ok=True)
    with contextlib.suppress(FileNotFoundError):
        folder.rmdir()


def of_models(models: Mapping[str, torch.nn.Module], optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Weights and AdamW's moments by the parameters' names."""
    tensors: dict[str, Tensor] = {}
    for part, model in models.items():
        for name, tensor in _learnt(model).items():
            tensors[f"{part}/weight/{name}"] = tensor.clone()  # tied weights must not share memory
        for name, parameter in model.named_parameters():
            for moment in ("exp_avg", "exp_avg_sq"):
                if parameter in optimiser.state:
                    tensors[f"{part}/{moment}/{name}"] = optimiser.state[parameter][moment]
    return tensors


def _learnt(model: torch.nn.Module) -> dict[str, Tensor]:
    """The model's tensors without those that stay as they were read."""
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


def into_models(
    state: State, models: Mapping[str, torch.nn.Module], optimiser: torch.optim.Optimizer
) -> None:
    """Give models and optimiser what `of_models` took from them."""
    for part, model in models.items():
        kept = {name: state.tensors[f"{part}/weight/{name}"] for name in _learnt(model)}
        model.load_state_dict({**model.state_dict(), **kept})
        for name, parameter in model.named_parameters():
            if f"{part}/exp_avg/{name}" in state.tensors:
                moments = {
                    moment: state.tensors[f"{part}/{moment}/{name}"].to(parameter.device)
                    for moment in ("exp_avg", "exp_avg_sq")
                }
                optimiser.state[parameter] = {"step": torch.tensor(float(state.step)), **moments}
