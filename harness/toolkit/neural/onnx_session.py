"""Runs exported models with ONNX Runtime, one text at a time: no text's result depends on the other texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError
from harness.toolkit.neural.model_folder import EXPORTS, exported
from harness.toolkit.neural.tokens import Tokens

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it is read on import; sessions are reported without it
import onnxruntime

if TYPE_CHECKING:
    from harness.types import Floats


class Session:
    """An exported network in a folder.

    A quantised network scales its activations by the largest value of the whole batch, so in a batch the
    result for a text would depend on the other texts. A single text also needs no padding. The cores are as
    busy as with batches: each text runs on one thread, and several threads share the session.
    """

    def __init__(self, folder: Path) -> None:
        export = exported(folder)
        if not export:
            raise HarnessError(f"model: {folder} has none of {', '.join(EXPORTS)}; choose backend: torch")
        self.path = folder / export[0]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                str(self.path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime does not export its exception types
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise HarnessError(f"model: {self.path} cannot be loaded by ONNX Runtime: {why}") from error
        self._session = session
        self._inputs = {item.name for item in session.get_inputs()}
        self.outputs: Mapping[str, int] = {  # name -> how many dimensions
            str(item.name): len(item.shape) for item in session.get_outputs()
        }

    def each(self, tokens: Tokens, output: str) -> Iterator[Floats]:
        """Yields the array that the network gives as `output` for each text in turn, without the batch
        dimension."""
        for start, end in pairwise(tokens.bounds.tolist()):
            yield self._one(tokens, start, end, output)

    def _one(self, tokens: Tokens, start: int, end: int, output: str) -> Floats:
        ids = tokens.ids[None, start:end].astype(np.int64)
        types = np.zeros_like(ids) if tokens.types is None else tokens.types[None, start:end].astype(np.int64)
        arrays: dict[str, Any] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": types,
        }
        known = {name: value for name, value in arrays.items() if name in self._inputs}
        states: Floats = self._session.run([output], known)[0][0]
        return states.astype(np.float32, copy=False)
