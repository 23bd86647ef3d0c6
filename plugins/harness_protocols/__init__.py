"""The protocols of papers and benchmarks, each with its cut-offs, levels, gains and denominators fixed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from harness.plugin import Protocol, hookimpl
from harness_protocols import words


@hookimpl
def harness_protocols() -> Iterable[Protocol]:
    data = Path(__file__).with_name("protocols.toml").read_text(encoding="utf-8")
    for entry in tomllib.loads(data)["protocol"]:
        answers = entry.get("judgements") == "answers"
        columns = (
            words.column(*column, depth=entry["depth"], answers=answers) for column in entry["columns"]
        )
        yield Protocol(**{**entry, "columns": tuple(columns), "notes": tuple(entry["notes"])})
