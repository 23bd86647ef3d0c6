"""The training loop: AdamW or LAMB with a schedule. A killed training goes on at the last kept state and ends
with the same bytes as one that was not killed."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson
import torch
from torch import nn

from harness.plugin import JSON, HarnessError
from harness_training import saved_state
from harness_training.lamb import Lamb
from harness_training.processes import Course

STATE, LOG = "state", "log.jsonl"
ROOT = {"adamw": 1e-8, "lamb": 1e-6}  # the published epsilons, added to the root of the second moment
SHARE = 20  # the next state is kept after SHARE times the seconds that keeping the last one took


class Optimisation(NamedTuple):
    """The settings of the optimiser, which do not depend on the loss."""

    steps: int  # the steps of the whole training, over all segments
    rate: float  # the highest learning rate
    warmup: float  # the share of the steps in which the rate rises from 0
    decay: float  # the weight decay of matrices; biases and layer norms have none
    clip: float  # the largest norm of the gradient; 0: any
    micro: int = 16  # texts or pairs that are in memory at a time
    optimiser: Literal["adamw", "lamb"] = "adamw"
    schedule: Literal["linear", "constant", "cosine"] = "linear"

    @classmethod
    def of(cls, params: Any, steps: int) -> Optimisation:
        return cls(
            steps, params.lr, params.warmup, params.decay, params.clip, params.micro, params.optimiser,
            params.schedule,
        )  # fmt: skip


def rate_at(step: int, how: Optimisation) -> float:
    """The learning rate of a step: it rises linearly from 0 in the warm-up. Then it falls to 0 at the end,
    linearly or as half a cosine (Loshchilov and Hutter 2017, equation 5), or it stays."""
    warm = round(how.steps * how.warmup)
    if step < warm:
        return how.rate * (step + 1) / warm
    left = (how.steps - step) / max(1, how.steps - warm)
    shares = {"linear": left, "constant": 1.0, "cosine": (1 - math.cos(math.pi * left)) / 2}
    return how.rate * shares[how.schedule]


def run(
    models: Mapping[str, nn.Module], how: Optimisation, backward: Callable[[int, int], float], course: Course
) -> dict[str, JSON]:
    """Train a segment, and return the facts that the row shows. `backward(step, micro)` adds the gradients of
    this process's share of a batch and returns the loss of the share. It holds `micro` texts or pairs in
    memory at a time, and must depend only on the step and the weights. Afterwards the folder has the log and,
    unless the segment is the last, the state from which the next segment begins."""
    with threads_for(models):
        return _run(models, how, backward, course)


def _run(
    models: Mapping[str, nn.Module], how: Optimisation, backward: Callable[[int, int], float], course: Course
) -> dict[str, JSON]:
    folder, training, together = course.folder, course.training, course.group
    optimiser = optimiser_of(models, how)
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    state = saved_state.newest(folder / STATE)  # left by a run that was killed
    if state is None and training.before is not None:
        state = saved_state.newest(training.before / STATE)
        if state is None:
            raise HarnessError("training: the segment before left no state; run again with --fresh")
    step, losses = 0, []
    if state is not None:
        saved_state.into_models(state, models, optimiser)
        step, losses = state.step, state.tensors["losses"].tolist()
    together.agree(step, parameters[0].device)  # the first process removes states only after this
    last = how.steps * (training.segment + 1) // training.segments
    kept, cost, micro = time.monotonic(), 0.0, how.micro
    began, first, read, tokens = kept, step, _read(models), 0.0
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
            if together.size > 1:
                raise HarnessError(f"training: memory is short; say a lower `micro` than {micro}") from error
            micro //= 2
            training.progress(step, how.steps, f"memory is short: {micro} texts or pairs at a time")
            continue
        loss, tokens = together.reduced(parameters, (loss, _read(models)))
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
        pace = (tokens - read) / passed
        left = passed / (step - first) * (last - step)
        recent = sum(losses[-20:]) / len(losses[-20:])
        training.progress(
            step, how.steps,
            f"loss {recent:.4f}, rate {rate_at(step - 1, how):.2g}, {pace:.0f} tokens/s, {left:.0f} s left",
        )  # fmt: skip
        if step < last and together.first and time.monotonic() - kept > SHARE * cost:
            before = time.monotonic()
            _keep(folder, step, models, optimiser, losses)
            kept, cost = time.monotonic(), time.monotonic() - before
    if not together.first:
        return {}
    saved_state.remove(folder / STATE)
    if training.segment + 1 < training.segments:
        _keep(folder, step, models, optimiser, losses)
    lines = ({"step": i + 1, "loss": loss, "rate": rate_at(i, how)} for i, loss in enumerate(losses))
    (folder / LOG).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    if step > first:
        passed = time.monotonic() - began
        training.measured({"tokens_per_second": (tokens - read) / passed})
        training.measured({"steps_per_second": (step - first) / passed})
    return {"steps": step, "loss": losses[-1], **({"micro": micro} if micro < how.micro else {})}


@contextlib.contextmanager
def threads_for(models: Mapping[str, nn.Module]) -> Iterator[None]:
    """A block in which torch has one thread if every model computes whole texts on each core. The operations
    that are left are small. With several threads, waiting would take longer than they do."""
    before = torch.get_num_threads()
    if all(getattr(model, "packed", None) is not None for model in models.values()):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def optimiser_of(models: Mapping[str, nn.Module], how: Optimisation) -> torch.optim.Optimizer:
    groups, betas = _groups(models, how.decay), (0.9, 0.999)
    if how.optimiser == "lamb":
        return Lamb(groups, how.rate, betas, ROOT["lamb"])
    # fused: one pass over the weights instead of ten
    return torch.optim.AdamW(groups, how.rate, betas, ROOT["adamw"], fused=_on_cpu(models))


def _on_cpu(models: Mapping[str, nn.Module]) -> bool:
    return all(weight.device.type == "cpu" for model in models.values() for weight in model.parameters())


def out_of_memory(error: Exception) -> bool:
    """Whether the error says that memory could not be allocated."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError) or any(text in str(error).lower() for text in words)


def _read(models: Mapping[str, nn.Module]) -> int:
    """How many tokens the models have been trained on."""
    return sum(getattr(model, "tokens", 0) for model in models.values())


def _keep(
    folder: Path, step: int, models: Mapping[str, nn.Module], optimiser: torch.optim.Optimizer,
    losses: list[float],
) -> None:  # fmt: skip
    tensors = saved_state.of_models(models, optimiser)
    saved_state.write(folder / STATE, step, {**tensors, "losses": torch.tensor(losses, dtype=torch.float64)})


def _groups(models: Mapping[str, nn.Module], decay: float) -> list[dict[str, Any]]:
    """The groups of parameters: matrices, which decay, and vectors (biases, layer norms), which do not."""
    every = [item for model in models.values() for item in model.parameters() if item.requires_grad]
    matrices, vectors = [item for item in every if item.ndim > 1], [item for item in every if item.ndim < 2]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
