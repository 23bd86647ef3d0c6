"""Resolves a user's name to an id of ir_datasets, its split, and the survey's entry if there is one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from typing import NamedTuple

from harness.plugin import HarnessError
from harness_ir_datasets.survey import BESIDE, TABLE, Entry

_SPLIT = re.compile(r"(?:train|dev|valid|validation|test|eval)\w*(?:-\w+)?")


class Named(NamedTuple):
    id: str
    split: str
    entry: Entry | None


def named(written: str, split: str | None, known: Collection[str]) -> Named:
    """The id, split and survey entry of the collection `written`, which is an id of ir_datasets or a name of
    the survey. If ir_datasets lacks the collection, a HarnessError is raised; for a collection of the survey
    it says where to get the data."""
    names = (*TABLE, *BESIDE)
    entry = next((entry for entry in names if written.partition("/")[0] == entry.name), None)
    if entry is not None:
        return _of_survey(entry, written, split)
    name = written if split is None else _with_split(written, split, known)
    if name not in known:
        close = difflib.get_close_matches(name, [*known, *(entry.name for entry in names)], n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; `ir_datasets list` names all"
        raise HarnessError(f"id: ir_datasets has no '{name}'{hint}")
    return Named(name, split or split_of(name) or "test", None)


def split_of(id: str) -> str | None:
    """The split in an id of ir_datasets as a plain name, such as `dev-small` for msmarco-passage/dev/small,
    or None if the id has no split."""
    parts = id.split("/")
    at = _split_at(parts)
    return None if at is None else "-".join(parts[at:])


def _split_at(parts: list[str]) -> int | None:
    return next((at for at, part in enumerate(parts) if at and _SPLIT.fullmatch(part)), None)


def _with_split(id: str, split: str, known: Collection[str]) -> str:
    parts = id.split("/")
    base = "/".join(parts[: _split_at(parts)])
    wanted = f"{base}/{split}"
    if wanted in known:
        return wanted
    names = sorted({name for name in known if name.startswith(f"{base}/")})[:12]
    hint = f"write one of these as the id: {', '.join(names)}" if names else "leave 'split' out"
    raise HarnessError(f"split: ir_datasets has no '{wanted}'; {hint}")


def _of_survey(entry: Entry, written: str, split: str | None) -> Named:
    if not entry.ids:
        raise HarnessError(f"id: ir_datasets does not have {entry.name}; {entry.elsewhere}")
    part = written.partition("/")[2]
    if entry.parts and part not in entry.parts:
        raise HarnessError(
            f"id: {entry.name} is several; write {entry.name}/ and one of {', '.join(entry.parts)}"
        )
    if part and not entry.parts:
        raise HarnessError(f"id: '{written}' goes on too long; write {entry.name}, and set 'split'")
    chosen = split or next(iter(entry.ids))
    if chosen not in entry.ids:
        raise HarnessError(f"split: {entry.name} has no '{chosen}' here; choose from {', '.join(entry.ids)}")
    return Named(entry.ids[chosen].format(part), chosen, entry)
