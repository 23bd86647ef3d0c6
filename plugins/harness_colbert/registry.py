"""Late-interaction models by short name: hub ids and their authors' settings, with the source of each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    name: str
    passages: str  # the hub's id
    query_length: int  # tokens, special ones counted
    length: int
    cite: str


def find(name: str | Path) -> Known | None:
    """The model of that short name, or that has that id."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)


MODELS = (
    Known("colbert-v2", "colbert-ir/colbertv2.0", 32, 180, "Santhanam et al. 2022; its artifact.metadata"),
    # DAPR's table cuts its texts later
    Known("dapr-colbertv2", "colbert-ir/colbertv2.0", 150, 512, "Wang et al. 2024; its code"),
)
