"""Runs exported cross-encoders with ONNX Runtime, one pair at a time."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Floats, HarnessError
from harness.toolkit.neural.onnx_session import Session
from harness.toolkit.neural.tokens import Tokens


class Exported:
    """A `Forward` that gives the logit of relevance of each pair."""

    def __init__(self, folder: Path) -> None:
        self._session = Session(folder)
        self._output = _logits(self._session)

    def __call__(self, batch: Tokens) -> list[float]:
        return [self._logit(output) for output in self._session.each(batch, self._output)]

    def _logit(self, output: Floats) -> float:
        """The logit of relevance. For two classes (irrelevant, relevant) it is the difference of logits: log
        p / (1 - p) of their softmax."""
        if len(output) not in (1, 2):
            raise HarnessError(
                f"model: {self._session.path} gives {len(output)} numbers a pair; a cross-encoder gives one "
                "logit, or two classes"
            )
        return float(output[-1]) - float(output[0]) if len(output) == 2 else float(output[0])


def _logits(session: Session) -> str:
    """The name of the output with one row per pair."""
    named = [name for name in ("logits", *session.outputs) if session.outputs.get(name) == 2]
    if not named:
        raise HarnessError(
            f"model: {session.path} gives no logits, only {', '.join(session.outputs)}; export a model for "
            "sequence classification"
        )
    return named[0]
