"""The known bi-encoders by short name: their hub ids and their authors' settings, each with a citation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    """The known settings of a model. A setting that is None is read from the model's folder, if the folder
    has it."""

    name: str
    passages: str  # the hub's id of the passages' tower
    pooling: str | None
    similarity: str
    normalise: bool
    length: int | None  # tokens of a passage, special ones counted
    cite: str
    queries: str | None = None  # the hub's id of the queries' own tower
    query_length: int | None = None  # where it differs from the passages' length
    query_prompt: str = ""
    passage_prompt: str = ""
    titles: str = "none"  # how the model reads a passage's title
    static: bool = False  # a table with a vector for each token
    dimensions: Sequence[int] = ()  # the lengths that its authors trained vectors to be cut to


MODELS = tuple(Known(**each) for each in json.loads(Path(__file__).with_suffix(".json").read_bytes()))


def find(name: str | Path) -> Known | None:
    """The known model whose short name is `name`, or whose encoder of passages has the hub id `name`; None if
    there is no such model."""
    if isinstance(name, Path):
        return None
    return next((known for known in MODELS if name in (known.name, known.passages)), None)


def names() -> list[str]:
    return [known.name for known in MODELS]
