"""`harness protocols show`: describes a protocol, for those who cite its numbers. Imports nothing heavy."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.records import Protocol

WIDTH = 100


def arguments(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    text = "print a protocol's columns in words, its depth and its citation"
    shown = actions.add_parser("show", help=text, description=f"P{text[1:]}.")
    shown.set_defaults(work=show)
    shown.add_argument("name", metavar="NAME", help="one of `harness list protocols`")


def show(options: argparse.Namespace) -> int:
    from harness import catalogue

    print("\n".join(_lines(catalogue.load().find("protocols", options.name).record)))
    return 0


def _lines(protocol: Protocol) -> Iterator[str]:
    yield f"{protocol.name} (version {protocol.version})"
    yield from _wrapped(protocol.summary, "  ")
    yield ""
    yield f"columns, of runs cut at {protocol.depth}:"
    for column in protocol.columns:
        yield f"  {column.label}"
        yield from _wrapped(column.says or "the plugin does not say what it is", "      ")
    if protocol.notes:
        yield ""
        yield "what to know:"
    for note in protocol.notes:
        yield from _wrapped(note, "    ", "  - ")
    if protocol.cite:
        yield ""
        yield from _wrapped(f"cite: {protocol.cite}", "      ", "")


def _wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    begin = indent if first is None else first
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=begin,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
