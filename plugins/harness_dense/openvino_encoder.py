"""Computes token states with OpenVINO: converts a network of transformers and compiles it for this CPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import openvino
import torch

from harness.plugin import Floats
from harness.toolkit.neural import hardware
from harness.toolkit.neural.checkpoints import quiet
from harness.toolkit.neural.tokens import Tokens, padded

States: TypeAlias = "Callable[[Tokens], Floats]"
"""Tokens of n texts -> the last layer's state of each token, float32[T, d]."""
PRECISION = {"fp32": "f32", "bf16": "bf16"}
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def encoders(model: Any, padding: int, dtype: str) -> Sequence[States]:
    """One encoder for each core, over one compiled network. A batch runs on one core, so that results do not
    depend on the number of cores. `model` is a network of transformers in fp32, without a head."""
    compiled = _compiled(model, dtype, hardware.threads())
    return [_states(compiled.create_infer_request(), padding) for _ in range(hardware.threads())]


def _compiled(model: Any, dtype: str, streams: int) -> Any:
    example = torch.ones(2, 8, dtype=torch.long)
    takes_types = getattr(model.config, "type_vocab_size", 0) > 1
    names = INPUTS if takes_types else INPUTS[:2]
    with quiet(), warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of Python in the model's code, and of its own age
        converted = openvino.convert_model(_Bare(model, names), example_input=(example,) * len(names))
    settings = {
        "INFERENCE_PRECISION_HINT": PRECISION[dtype],
        "PERFORMANCE_HINT": "THROUGHPUT",
        "NUM_STREAMS": str(streams),
        "INFERENCE_NUM_THREADS": str(streams),
    }
    return openvino.Core().compile_model(converted, "CPU", settings)


class _Bare(torch.nn.Module):  # type: ignore[misc]  # torch is not typed where it is not installed
    """The network with positional inputs and the last states as its only output, for tracing."""

    def __init__(self, model: Any, names: Sequence[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        last_states: torch.Tensor = self.model(**dict(zip(self.names, inputs, strict=True))).last_hidden_state
        return last_states


def _states(request: Any, padding: int) -> States:
    def states(tokens: Tokens) -> Floats:
        ids, mask, types = padded(tokens, padding)
        arrays = (ids, mask, types)[: len(request.model_inputs)]
        request.infer(dict(enumerate(arrays)), share_inputs=True)
        states_of_tokens: Floats = request.get_output_tensor(0).data[mask.astype(np.bool_)]  # a copy
        return states_of_tokens

    return states
