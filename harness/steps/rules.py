"""How steps score hits: the rules of a collection, and what a key says of a plugin's measure."""

from __future__ import annotations

from msgspec import Struct

from harness.steps.record import Uses


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """The rules that decide about a score, beside hits, judgements and columns."""

    drop: bool = False  # whether judged passages that the corpus lacks count as not relevant
    depth: int | None = None  # the depth at which runs are cut before scoring; None: runs are not cut
    by_answers: bool = False  # whether a passage is relevant if it contains an answer


class Measured(Struct, frozen=True, forbid_unknown_fields=True):
    """A measure by which a step compares hits."""

    name: str
    rules: Rules
    plugin: Uses | None = None  # the plugin of the measure; None: the harness has the measure
