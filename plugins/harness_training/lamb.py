"""LAMB (You et al. 2020): AdamW with the step of each tensor scaled by the tensor's norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Lamb(torch.optim.Optimizer):  # type: ignore[misc]
    """The optimiser of algorithm 2 of the paper. phi is the identity, and the ratio is 1 if a norm is 0."""

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Callable[[], float] | None = None) -> None:
        for group in self.param_groups:
            first, second = group["betas"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
                state["step"] += 1
                count = float(state["step"])
                mean = state["exp_avg"].mul_(first).add_(weight.grad, alpha=1 - first)
                square = state["exp_avg_sq"].mul_(second).addcmul_(weight.grad, weight.grad, value=1 - second)
                move = (mean / (1 - first**count)) / ((square / (1 - second**count)).sqrt() + group["eps"])
                move += group["weight_decay"] * weight
                norm, length = float(weight.norm()), float(move.norm())
                ratio = norm / length if norm > 0 and length > 0 else 1.0
                weight.add_(move, alpha=-group["lr"] * ratio)
