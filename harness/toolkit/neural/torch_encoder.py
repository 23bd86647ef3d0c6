"""Token states by torch: any encoder that transformers knows, and a faster path for BERT's family on CPUs."""

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
    """One for each worker of an encoding loop: for each GPU; on a CPU for each core if the model is one of
    those that `torch_packed` runs, else one that has all cores to itself.

    `model` is a network of transformers on the CPU (without a head), `padding` its padding token's id."""
    if device == "cuda":
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
        return [through(copy.deepcopy(model).to(at), padding, at) for at in devices]
    layout = torch_packed.layout(model)
    if layout is None:
        return [through(model, padding, device)]
    weights = torch_packed.pack(model, layout)
    return [packed(weights)] * hardware.threads()


def through(model: Any, padding: int, device: str) -> States:
    """By the model's own code, on padded batches."""

    def states(tokens: Tokens) -> torch.Tensor:
        ids, mask, types = (torch.from_numpy(array).to(device) for array in padded(tokens, padding))
        given = {} if tokens.types is None else {"token_type_ids": types}
        with torch.inference_mode():
            last_states: torch.Tensor = model(input_ids=ids, attention_mask=mask, **given).last_hidden_state
            return last_states[mask.bool()]

    return states


def packed(weights: torch_packed.Weights) -> States:
    """Without padding, on one core: the workers keep the others busy, and the result does not depend on how
    many there are."""

    def states(tokens: Tokens) -> torch.Tensor:
        with torch.inference_mode(), _one_thread():
            return torch_packed.states(weights, tokens)

    return states


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """What torch computes in this thread runs on it alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
