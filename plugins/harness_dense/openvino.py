"""A torch network compiled by OpenVINO for the CPU, on padded batches."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openvino
import torch

from harness.errors import HarnessError
from harness.toolkit import checkpoints, hardware
from harness.toolkit.tokens import Tokens, padded
from harness_dense import DenseParams, checkpoint, pooling

if TYPE_CHECKING:
    from harness.types import Floats

PRECISION = {"fp32": "f32", "bf16": "bf16"}


class States(torch.nn.Module):  # type: ignore[misc]
    """What is compiled: token ids and a mask to the last states."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return found


class Request:
    """A compiled network for one worker: it runs on one core, and the other workers keep the others busy."""

    def __init__(self, compiled: Any, padding: int) -> None:
        self._request, self._padding = compiled.create_infer_request(), padding

    def __call__(self, tokens: Tokens) -> Floats:
        """float32[T, d]"""
        ids, mask, _ = padded(tokens, self._padding)
        states = self._request.infer({"input_ids": ids, "attention_mask": mask})[0]
        result: Floats = np.asarray(states, np.float32)[mask.astype(np.bool_)]
        return result


def compiled(params: DenseParams, at: Path, padding: int) -> tuple[list[pooling.Network], list[pooling.Step]]:
    """A network for each core, and the layers after pooling that an original checkpoint brings."""
    if params.dtype not in PRECISION:
        raise HarnessError(f"dtype: OpenVINO computes in fp32 or bf16 on a CPU, not in {params.dtype}")
    # Converted from fp32, whatever it is to compute in; its tracer does not follow fused attention's masks
    whole = checkpoint.load(params, at, dtype="fp32", attn_implementation="eager")
    example = {name: torch.ones(2, 5, dtype=torch.int64) for name in ("input_ids", "attention_mask")}
    with warnings.catch_warnings(), checkpoints.quiet():
        warnings.simplefilter("ignore")  # of the tracer, about Python in the model's code
        converted = openvino.convert_model(States(whole[0]), example_input=example)
    cores = hardware.threads()
    settings = {
        "INFERENCE_PRECISION_HINT": PRECISION[params.dtype],
        "NUM_STREAMS": str(cores),
        "INFERENCE_NUM_THREADS": str(cores),
    }
    made = openvino.Core().compile_model(converted, "CPU", settings)
    return [Request(made, padding) for _ in range(cores)], whole[1]
