"""Cross-encoders by short name: their hub ids, and how many tokens of a pair their authors use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    name: str
    model: str  # the model's id on the hub
    cite: str
    kind: str = "classifier"
    length: int = 512  # tokens of a pair, special ones counted


MODELS = tuple(Known(**each) for each in json.loads(Path(__file__).with_name("models.json").read_bytes()))


def find(name: str | Path) -> Known | None:
    """The model with this short name or hub id; None if there is none."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.model)), None)


def names() -> list[str]:
    return [known.name for known in MODELS]
