"""The training loop: AdamW with a linear schedule, resumable at any step, the same bytes killed or not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
import torch
from torch import nn

from harness.errors import HarnessError
from harness.types import JSON, Training
from harness_training import saved_state
from harness_training.lamb import Lamb

STATE, LOG = "state", "log.jsonl"
ROOT = {"adamw": 1e-8, "lamb": 1e-6}  # what keeps the root of the second moment from 0, as published
SHARE = 20  # a state is kept when so many times as long has passed as keeping the last one took


class Optimisation(NamedTuple):
    """How weights move, whatever the loss."""

    steps: int  # of the whole training, all segments together
    rate: float  # the highest learning rate
    warmup: float  # the share of the steps in which the rate rises from 0
    decay: float  # of weights; biases and layer norms are left alone
    clip: float  # the largest norm of the gradient; 0: any
    micro: int = 32  # texts or pairs that are held in memory at a time
    optimiser: Literal["adamw", "lamb"] = "adamw"

    @classmethod
    def of(cls, params: Any, steps: int) -> Optimisation:
        return cls(steps, params.lr, params.warmup, params.decay, params.clip, params.micro, params.optimiser)


def rate_at(step: int, how: Optimisation) -> float:
    """Linear up from 0 over the warm-up, then linear down to 0 at the end."""
    warm = round(how.steps * how.warmup)
    if step < warm:
        return how.rate * (step + 1) / warm
    return how.rate * (how.steps - step) / max(1, how.steps - warm)


def run(
    models: Mapping[str, nn.Module],
    how: Optimisation,
    backward: Callable[[int, int], float],
    folder: Path,
    training: Training,
) -> dict[str, JSON]:
    """Train the segment of `training`. `backward(step, micro)` adds the gradients of one batch, of which it
    holds `micro` texts or pairs in memory at a time, and returns its loss; it must depend on the step and the
    weights alone. What is left in `folder` is the log, and, unless the segment is the last, the state that
    the next one begins with. Returns what the row shows."""
    kind = torch.optim.AdamW if how.optimiser == "adamw" else Lamb
    optimiser = kind(_groups(models, how.decay), lr=how.rate, betas=(0.9, 0.999), eps=ROOT[how.optimiser])
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    state = saved_state.newest(folder / STATE)  # of a run that was killed
    if state is None and training.before is not None:
        state = saved_state.newest(training.before / STATE)
        if state is None:
            raise HarnessError("training: the segment before left no state; run again with --fresh")
    step, losses = 0, []
    if state is not None:
        saved_state.into_models(state, models, optimiser)
        step, losses = state.step, state.tensors["losses"].tolist()
    last = how.steps * (training.segment + 1) // training.segments
    kept, cost, micro = time.monotonic(), 0.0, how.micro
    began, first, read = kept, step, _read(models)
    for model in models.values():
        model.train()
    while step < last:
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step, how)
        try:
            optimiser.zero_grad(set_to_none=True)
            loss = backward(step, micro)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error) or micro == 1:
                raise
            micro //= 2
            training.progress(step, how.steps, f"memory is short: {micro} texts or pairs at a time")
            continue
        if not math.isfinite(loss):
            raise HarnessError(
                f"training: the loss of batch {step + 1} of {how.steps} is {loss}; lower the learning rate, "
                "or compute in fp32"
            )
        if how.clip:
            nn.utils.clip_grad_norm_(parameters, how.clip)
        optimiser.step()
        losses.append(loss)
        step += 1
        passed = time.monotonic() - began
        pace = (_read(models) - read) / passed
        left = passed / (step - first) * (last - step)
        recent = sum(losses[-20:]) / len(losses[-20:])
        training.progress(
            step, how.steps,
            f"loss {recent:.4f}, rate {rate_at(step - 1, how):.2g}, {pace:.0f} tokens/s, {left:.0f} s left",
        )  # fmt: skip
        if step < last and time.monotonic() - kept > SHARE * cost:
            before = time.monotonic()
            _keep(folder, step, models, optimiser, losses)
            kept, cost = time.monotonic(), time.monotonic() - before
    saved_state.remove(folder / STATE)
    if training.segment + 1 < training.segments:
        _keep(folder, step, models, optimiser, losses)
    lines = ({"step": i + 1, "loss": loss, "rate": rate_at(i, how)} for i, loss in enumerate(losses))
    (folder / LOG).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    if step > first:
        passed = time.monotonic() - began
        training.measured({"tokens_per_second": (_read(models) - read) / passed})
        training.measured({"steps_per_second": (step - first) / passed})
    return {"steps": step, "loss": losses[-1], **({"micro": micro} if micro < how.micro else {})}


def out_of_memory(error: Exception) -> bool:
    """Whether torch says that it could not allocate."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or any(text in str(error).lower() for text in words)


def _read(models: Mapping[str, nn.Module]) -> int:
    """The tokens that the models have been trained on."""
    return sum(getattr(model, "tokens", 0) for model in models.values())


def _keep(
    folder: Path, step: int, models: Mapping[str, nn.Module], optimiser: torch.optim.Optimizer,
    losses: list[float],
) -> None:  # fmt: skip
    tensors = saved_state.of_models(models, optimiser)
    saved_state.write(folder / STATE, step, {**tensors, "losses": torch.tensor(losses, dtype=torch.float64)})


def _groups(models: Mapping[str, nn.Module], decay: float) -> list[dict[str, Any]]:
    """Matrices, which decay, and vectors (biases, layer norms), which do not."""
    every = [item for model in models.values() for item in model.parameters() if item.requires_grad]
    matrices, vectors = [item for item in every if item.ndim > 1], [item for item in every if item.ndim < 2]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
