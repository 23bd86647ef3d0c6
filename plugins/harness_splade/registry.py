"""The known learned sparse models by short name: hub ids and the authors' settings, with citations.

DAPR's table calls `dapr-spladev2` SPLADEv2; there it reads longer texts than in its own paper.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    """The known settings of a model. If one of the queries is None, that of the passages holds."""

    name: str
    passages: str  # the hub's id of the passages' encoder
    length: int  # tokens of a passage, special ones counted
    cite: str
    query_length: int | None = None  # where it differs from the passages' length
    query: str = "model"  # how queries become terms: see `SpladeParams.query`
    queries: str | None = None  # the hub's id of the queries' own encoder, if there are two
    activation: str = "log"


MODELS = tuple(Known(**each) for each in json.loads(Path(__file__).with_name("models.json").read_bytes()))


def find(name: str | Path) -> Known | None:
    """The model whose short name, or whose hub id of the passages' encoder, is `name`, or None."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)
