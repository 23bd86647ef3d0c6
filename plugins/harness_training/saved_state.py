"""The state of a training on disk: weights, moments, losses and the step. Files begin with a digest."""

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

KEPT = 2  # states that are kept: the last, and the one before it in case the last is damaged
DIGEST = 64  # length of the digest at the beginning of a file


class State(NamedTuple):
    step: int  # steps that are done
    tensors: dict[str, Tensor]


def write(folder: Path, step: int, tensors: Mapping[str, Tensor]) -> Path:
    """Write a state whole or not at all, and return its file. Only the last `KEPT` states are kept."""
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
    """The last state that is not damaged, or None if there is none."""
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
    """The trained weights of the models and the optimiser's moments, by the names of the parameters."""
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
    """The model's tensors without the frozen parameters."""
    frozen = {name for name, parameter in model.named_parameters() if not parameter.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


def into_models(
    state: State, models: Mapping[str, torch.nn.Module], optimiser: torch.optim.Optimizer
) -> None:
    """Put the tensors of a state, as `of_models` made them, back into the models and the optimiser."""
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
