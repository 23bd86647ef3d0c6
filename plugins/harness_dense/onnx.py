"""Exported models through ONNX Runtime: one text at a time, so that no text depends on its neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from harness.errors import HarnessError
from harness.toolkit.tokens import Tokens
from harness_dense.folder import ONNX

if TYPE_CHECKING:
    from harness.types import Floats

STATES = ("last_hidden_state", "token_embeddings")


class Exported:
    """Token states of an exported encoder.

    A quantised model scales what flows through it by the largest value of the whole batch, so a text's
    vector would depend on what it is batched with. A text alone needs no padding either, and several at
    once keep the cores as busy: each runs on one thread, and the threads share the session.
    """

    def __init__(self, folder: Path) -> None:
        path = next((folder / name for name in ONNX if (folder / name).is_file()), None)
        if path is None:
            raise HarnessError(f"model: {folder} has none of {', '.join(ONNX)}; choose backend: torch")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # of its own kinds, which are not exported by name
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise HarnessError(f"model: {path} cannot be loaded by ONNX Runtime: {why}") from error
        self._session = session
        self._inputs = {item.name for item in session.get_inputs()}
        self._output = _states(session, path)

    def __call__(self, tokens: Tokens) -> Floats:
        """float32[T, d]"""
        parts = [self._one(tokens, *ends) for ends in zip(tokens.bounds, tokens.bounds[1:], strict=False)]
        result: Floats = np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)
        return result

    def _one(self, tokens: Tokens, start: int, end: int) -> Floats:
        ids = tokens.ids[None, start:end].astype(np.int64)
        types = np.zeros_like(ids) if tokens.types is None else tokens.types[None, start:end].astype(np.int64)
        given: dict[str, Any] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": types,
        }
        known = {name: value for name, value in given.items() if name in self._inputs}
        states: Floats = self._session.run([self._output], known)[0][0]
        return states.astype(np.float32, copy=False)


def _states(session: Any, path: Path) -> str:
    """The output with one state a token."""
    outputs = {str(item.name): len(item.shape) for item in session.get_outputs()}
    named = [name for name in (*STATES, *outputs) if outputs.get(name) == 3]
    if not named:
        raise HarnessError(
            f"model: {path} gives no token states, only {', '.join(outputs)}; export it without pooling"
        )
    return named[0]
