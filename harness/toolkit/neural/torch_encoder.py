"""Token states by torch: from any encoder of transformers, with a faster path for BERT's family on CPUs."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import torch

from harness.toolkit.neural import hardware, torch_packed
from harness.toolkit.neural.tokens import Tokens, padded

States: TypeAlias = "Callable[[Tokens], torch.Tensor]"
"""Tokens of n texts -> the last state of each token: [T, d], in the model's dtype and on its device."""


def encoders(model: Any, padding: int, device: str = "cpu") -> Sequence[States]:
    """One `States` function for each worker of an encoding loop. On GPUs there is a worker for each GPU. On a
    CPU there is a worker for each core if `torch_packed` runs the model; otherwise one worker has all cores.

    `model` is a network of transformers on the CPU (without a head), `padding` the id of its padding token.
    """
    if device == "cuda":
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        return [through(copy.deepcopy(model).to(at), padding, at) for at in devices]
    layout = torch_packed.layout(model)
    if layout is None:
        return [through(model, padding, device)]
    weights = torch_packed.pack(model, layout)
    return [packed(weights)] * hardware.threads()


def through(model: Any, padding: int, device: str) -> States:
    """A `States` function that runs the model's own code on padded batches."""

    def states(tokens: Tokens) -> torch.Tensor:
        ids, mask, types = (torch.from_numpy(array).to(device) for array in padded(tokens, padding))
        type_ids = {} if tokens.types is None else {"token_type_ids": types}
        with torch.inference_mode():
            last_states: torch.Tensor = model(
                input_ids=ids, attention_mask=mask, **type_ids
            ).last_hidden_state
            return last_states[mask.bool()]

    return states


def packed(weights: torch_packed.Weights) -> States:
    """A `States` function that runs without padding, on one core. The other workers use the other cores, and
    the result does not depend on the number of workers."""

    def states(tokens: Tokens) -> torch.Tensor:
        with torch.inference_mode(), _one_thread():
            return torch_packed.states(weights, tokens)

    return states


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limits torch to one thread for what this thread computes within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
