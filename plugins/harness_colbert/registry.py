"""Late-interaction models by short name: their hub ids and their authors' settings, with sources."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.toolkit.neural import bge_m3


class Known(NamedTuple):
    name: str
    passages: str  # the model's id on the hub
    query_length: int  # the most tokens of a query, special ones counted
    length: int
    cite: str


def find(name: str | Path) -> Known | None:
    """The model with this short name or hub id; None if there is none."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)


BGE_M3 = "BAAI/bge-m3"
MODELS = (
    Known(
        "bge-m3",
        BGE_M3,
        bge_m3.QUERY_LENGTH,
        bge_m3.PASSAGE_LENGTH,
        "Chen et al. 2024; its model card and code",
    ),
    Known("colbert-v2", "colbert-ir/colbertv2.0", 32, 180, "Santhanam et al. 2022; its artifact.metadata"),
    # DAPR uses the same model with longer texts
    Known("dapr-colbertv2", "colbert-ir/colbertv2.0", 150, 512, "Wang et al. 2024; its code"),
)
