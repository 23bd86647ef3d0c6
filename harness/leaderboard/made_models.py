"""The models that a suite made, as the rows of a leaderboard name them."""

from __future__ import annotations

import re
from typing import NamedTuple

import orjson

from harness.leaderboard.model import Row

STEP = re.compile(r"made:((?:train|validate)-[0-9a-f]{64})/([\w-]+)")
USERS = ("index", "search", "rerank")  # the steps that read a model


class MadeModel(NamedTuple):
    """A reference to a made model, as it occurs in the parameters of a row's steps."""

    step: str  # the step that trained the model or chose its checkpoint
    part: str


def models_of(row: Row) -> list[MadeModel]:
    """The made models that a row's own steps read, each once."""
    text = orjson.dumps([step.params for step in row.provenance.steps if step.step in USERS]).decode()
    return list(dict.fromkeys(MadeModel(*match) for match in STEP.findall(text)))
