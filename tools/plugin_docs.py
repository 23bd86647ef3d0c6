"""Writes docs/plugins.md from the catalogue: `python tools/plugin_docs.py > docs/plugins.md`."""

from __future__ import annotations

import dataclasses
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from harness import catalogue
from harness.catalogue import Catalogue, params

HEAD = """\
# What ships with passage-harness

Generated from the plugins' records by `python tools/plugin_docs.py`. `harness list --params` lists
every plugin of your installation, other people's included.
"""


def page(records: Catalogue) -> str:
    """The page: every record of our own plugins by kind, with its parameters."""
    return "\n".join([HEAD, *(line for kind in catalogue.KINDS for line in _kind(records, kind))])


def _kind(records: Catalogue, kind: str) -> Iterator[str]:
    every = [entry for name in records.names(kind) for entry in records.entries[kind][name]]
    ours = [entry.record for entry in every if entry.plugin.distribution == catalogue.OWN]
    if not ours:
        return
    yield f"## {kind}\n"
    if kind == "protocols":
        yield "[protocols.md](protocols.md) has their columns and what their papers' scripts do otherwise.\n"
    detailed = [record for record in ours if _fields(record)]
    if plain := [record for record in ours if record not in detailed]:
        yield "\n".join(["| name | |", "| --- | --- |", *(_line(record) for record in plain)]) + "\n"
    for record in detailed:
        yield f"### {record.name}\n"
        summary = textwrap.fill(_sentence(record.summary) + _needs(record), 100, break_on_hyphens=False)
        yield f"{summary}\n"
        yield _parameters(record) + "\n"


def _line(record: Any) -> str:
    languages = ", ".join(getattr(record, "languages", ()))
    default = f"; the default for {languages}" if languages else ""
    return f"| `{record.name}` | {_cell(record.summary + default + _needs(record))} |"


def _needs(record: Any) -> str:
    return f" (needs the extra `{record.extra}`)" if getattr(record, "extra", None) else ""


def _parameters(record: Any) -> str:
    lines = ["| parameter | type | default | |", "| --- | --- | --- | --- |"]
    for name, (field, hint) in _fields(record).items():
        required = field.default is dataclasses.MISSING
        default = "required" if required else f"`{_yaml(field.default)}`"
        text = field.metadata.get("help", "") + _range(field)
        lines.append(f"| `{name}` | {_cell(params.describe(hint))} | {default} | {_cell(text)} |")
    return "\n".join(lines)


def _fields(record: Any) -> Mapping[str, tuple[dataclasses.Field[Any], Any]]:
    return params.fields_of(record.params) if hasattr(record, "params") else {}


def _range(field: dataclasses.Field[Any]) -> str:
    low, high = field.metadata.get("minimum"), field.metadata.get("maximum")
    if low is not None and high is not None:
        return f"; {low} to {high}"
    if low is not None:
        return f"; at least {low}"
    return f"; at most {high}" if high is not None else ""


def _yaml(value: Any) -> str:
    """A default value as it would be written in a suite."""
    words = {None: "null", True: "true", False: "false", "": "''"}
    if isinstance(value, tuple):
        return f"[{', '.join(_yaml(item) for item in value)}]"
    return words[value] if type(value) in (bool, type(None)) or value == "" else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


if __name__ == "__main__":
    sys.stdout.write(page(catalogue.load()))
