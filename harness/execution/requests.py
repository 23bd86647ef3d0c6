"""What workers are asked: requests with the records of steps, encoded as JSON and decoded strictly."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from harness import steps


class Execute(Struct, frozen=True, tag="execute", forbid_unknown_fields=True):
    """Execute a step; or join its parts, if it was cut."""

    step: str  # the id
    record: steps.AnyKind
    parts: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The artifacts that the request names."""
        return (*self.record.inputs, *self.parts)

    @property
    def whole(self) -> str:
        """The id of the step; for a part, the id of the step that it is a part of."""
        return self.record.of if isinstance(self.record, steps.PartOfStep) else self.step


class CountBlocks(Execute, frozen=True, tag="blocks", forbid_unknown_fields=True):
    """Say into how many blocks a step can be cut."""


class Measure(Struct, frozen=True, tag="measure", forbid_unknown_fields=True):
    """Compute a plugin's measure on the arrays in a folder."""

    name: str
    folder: str
    queries: int
    rel: int
    cutoff: int | None


Request: TypeAlias = Execute | CountBlocks | Measure

encode: Final = msgspec.json.Encoder().encode
decode: Final = msgspec.json.Decoder(Request).decode
