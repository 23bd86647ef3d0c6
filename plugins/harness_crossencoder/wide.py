"""Computes a network's last layer in fp32: in bf16 a logit has 8 bits, and many tie."""

from __future__ import annotations

from typing import Any

import torch


def widen(layer: torch.nn.Linear) -> torch.nn.Linear:
    """The same layer, changed to compute in fp32."""
    layer.float()
    layer.register_forward_pre_hook(_in_fp32)
    return layer


def _in_fp32(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.float() for tensor in inputs)
