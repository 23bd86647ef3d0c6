"""What a worker tells the methods of the step that it executes, beside their parameters and inputs."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple


class Converted(NamedTuple):
    """Where models in other formats are kept as safetensors."""

    folder: Path
    digests: Path  # the folder of the remembered digests of files
    read: set[str] | None = None  # the files that the step has read so, as its row shows them


class StepContext(NamedTuple):
    """The step that this process executes. Outside of a worker there is none."""

    step: str = ""  # its id
    responses: Path | None = None  # the folder in which the answers of services are kept
    backbones: tuple[Path, ...] = ()  # models without which its made models cannot be loaded
    converted: Converted | None = None
    # what a method does that no key holds, such as "reads files"; its results are removed after the run
    unkeyed: set[str] | None = None
    # lines with faults, which are read as empty to find the next fault
    left_out: Mapping[Path, Set[int]] = {}


# Threads that a method starts do not see it; a method reads it where it is made or opened.
CURRENT: ContextVar[StepContext] = ContextVar("step_context", default=StepContext())  # noqa: B039 - immutable
