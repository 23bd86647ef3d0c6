"""The training loop: AdamW with a linear schedule, resumable at any step, the same bytes killed or not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import torch
from torch import nn

from harness.errors import HarnessError
from harness.types import Training
from harness_training import saved_state

STATE, LOG = "state", "log.jsonl"
SHARE = 20  # a state is kept when so many times as long has passed as keeping the last one took


class Optimisation(NamedTuple):
    """How weights move, whatever the loss."""

    steps: int  # of the whole training, all segments together
    rate: float  # the highest learning rate
    warmup: float  # the share of the steps in which the rate rises from 0
    decay: float  # of weights; biases and layer norms are left alone
    clip: float  # the largest norm of the gradient; 0: any


def rate_at(step: int, how: Optimisation) -> float:
    """Linear up from 0 over the warm-up, then linear down to 0 at the end."""
    warm = round(how.steps * how.warmup)
    if step < warm:
        return how.rate * (step + 1) / warm
    return how.rate * (how.steps - step) / max(1, how.steps - warm)


def run(
    models: Mapping[str, nn.Module],
    how: Optimisation,
    backward: Callable[[int], float],
    folder: Path,
    training: Training,
) -> list[float]:
    """Train the segment of `training`. `backward(step)` adds the gradients of one batch and returns its loss;
    it must depend on the step and the weights alone. What is left in `folder` is the log, and, unless the
    segment is the last, the state that the next one begins with. Returns the losses of all steps so far."""
    optimiser = torch.optim.AdamW(_groups(models, how.decay), lr=how.rate, betas=(0.9, 0.999), eps=1e-8)
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
    kept, cost = time.monotonic(), 0.0
    for model in models.values():
        model.train()
    while step < last:
        for group in optimiser.param_groups:
            group["lr"] = rate_at(step, how)
        optimiser.zero_grad(set_to_none=True)
        loss = backward(step)
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
        training.progress(step, how.steps, f"loss {sum(losses[-20:]) / len(losses[-20:]):.4f}")
        if step < last and time.monotonic() - kept > SHARE * cost:
            began = time.monotonic()
            _keep(folder, step, models, optimiser, losses)
            kept, cost = time.monotonic(), time.monotonic() - began
    saved_state.remove(folder / STATE)
    if training.segment + 1 < training.segments:
        _keep(folder, step, models, optimiser, losses)
    lines = ({"step": i + 1, "loss": loss, "rate": rate_at(i, how)} for i, loss in enumerate(losses))
    (folder / LOG).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return losses


def seeded(*numbers: int) -> None:
    """Start torch's generator from these numbers: dropout then depends on the seed, the step and the place
    in the batch, so a resumed training needs no generator's state and a second pass drops the same."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 1_000_003 + number + 1) % 2**63
    torch.manual_seed(mixed)


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
