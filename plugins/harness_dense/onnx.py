"""Computes the token states of exported encoders with ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.plugin import Floats, HarnessError
from harness.toolkit.neural.onnx_session import Session
from harness.toolkit.neural.tokens import Tokens

STATES = ("last_hidden_state", "token_embeddings")


class Exported:
    """A `pooling.Network` in an ONNX file: it maps tokens to the last layer's state of each token."""

    def __init__(self, folder: Path) -> None:
        self._session = Session(folder)
        self._output = _states(self._session)

    def __call__(self, tokens: Tokens) -> Floats:
        """float32[T, d]: the states of all T tokens."""
        parts = list(self._session.each(tokens, self._output))
        result: Floats = np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)
        return result


def _states(session: Session) -> str:
    """The name of the session's output that has one state for each token."""
    named = [name for name in (*STATES, *session.outputs) if session.outputs.get(name) == 3]
    if not named:
        raise HarnessError(
            f"model: {session.path} gives no token states, only {', '.join(session.outputs)}; export it "
            "without pooling"
        )
    return named[0]
