"""References to models that a suite makes, in the form of a suite and in the form of a step's parameters."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import HarnessError
from harness.step_context import CURRENT
from harness.types import JSON

T = TypeVar("T")


class Seed(int):
    """The seed of a made model in a system of a grid, if the systems of the grid have different seeds. All
    made models of one system have the same seed."""


BACKBONE = "backbone.json"  # in the folder of a made model: the model without which it cannot be loaded
BESIDE = "backbone"  # in the same folder: the folder of that model, if it lies there
FOLDERS = "HARNESS_BACKBONES"  # the environment variable that names folders of such models


class Made(str):
    """A reference `{made: NAME, part: PART, checkpoint: N}` of a suite. As text it names a grid's systems."""

    name: str
    part: str | None  # None: the model's only part
    checkpoint: int | None  # counted from 1; None: the chosen checkpoint
    seed: Seed | None  # None: the model's only seed, or the seed of the model that holds the reference

    def __new__(
        cls, name: str, part: str | None = None, checkpoint: int | None = None, seed: Seed | None = None
    ) -> Made:
        made = super().__new__(cls, name + (f"@{checkpoint}" if checkpoint else ""))
        made.name, made.part, made.checkpoint, made.seed = name, part, checkpoint, seed
        return made

    def written(self) -> dict[str, JSON]:
        """The reference as a suite writes it, with its seed."""
        parts = {"made": self.name, "part": self.part, "checkpoint": self.checkpoint, "seed": self.seed}
        return {key: value for key, value in parts.items() if value is not None}


class Planned(str):
    """A made model among the parameters of a planned method. Its text is for people."""

    step: str  # the step that trains the model, or that chooses its checkpoint
    part: str
    recipe: Mapping[str, JSON]  # the parameters of its trainer

    def __new__(cls, step: str, part: str, recipe: Mapping[str, JSON]) -> Planned:
        planned = super().__new__(cls, shown(step, part))
        planned.step, planned.part, planned.recipe = step, part, recipe
        return planned

    def __getnewargs__(self) -> tuple[str, str, Mapping[str, JSON]]:  # type: ignore[override]
        return self.step, self.part, self.recipe


def shown(step: str, part: str) -> str:
    """A made model as a leaderboard shows it."""
    return f"made:{step}/{part}"


def is_planned(model: object) -> bool:
    return isinstance(model, Planned)


def replaced(params: T, put: Callable[[Made], Any]) -> T:
    """The parameters with each reference replaced by the result of `put`."""
    if not dataclasses.is_dataclass(params) or isinstance(params, type):
        return params

    def other(value: Any) -> Any:
        if isinstance(value, Made):
            return put(value)
        return tuple(other(item) for item in value) if isinstance(value, tuple) else value

    values = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    changed = {name: other(value) for name, value in values.items()}
    return dataclasses.replace(params, **changed) if references(params) else params


def references(params: Any) -> list[Made]:
    """The references to made models in the parameters."""
    if not dataclasses.is_dataclass(params):
        return []
    values = [getattr(params, field.name) for field in dataclasses.fields(params)]
    items = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    return [item for item in items if isinstance(item, Made)]


def backbone_folders() -> list[Path]:
    """The folders among which the backbone of a made model may be: those of the step that is executed, and
    those that the user names in the environment: a JSON list of paths, or paths with colons between them.
    Raises HarnessError for another JSON value."""
    return [*CURRENT.get().backbones, *_of_environment()]


def _of_environment() -> list[Path]:
    text = os.environ.get(FOLDERS, "")
    if not text.lstrip().startswith("["):
        return [Path(path) for path in text.split(os.pathsep) if path]
    try:
        paths = json.loads(text)
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) and path for path in paths):
        advice = """write it as '["/first/folder", "/second/folder"]'"""
        raise HarnessError(f"{FOLDERS}: begins with '[' but is no JSON list of folders; {advice}")
    return [Path(path) for path in paths]
