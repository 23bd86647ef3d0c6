"""`harness list`: the records that the installed plugins offer. Imports nothing heavy."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli import arguments as shared
from harness.cli.kinds import RECORDS

if TYPE_CHECKING:
    from harness.catalogue import Catalogue, Entry


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=records)
    command.add_argument(
        "kind", nargs="?", choices=RECORDS, metavar="KIND", help=f"one of {', '.join(RECORDS)}"
    )
    text = "with every parameter, its default and meaning"
    command.add_argument("--params", action="store_true", help=text)


def records(options: argparse.Namespace) -> int:
    from harness import catalogue

    loaded = catalogue.load()
    installed = functools.cache(catalogue.is_installed)  # most modules are needed by several records
    for kind in [options.kind] if options.kind else catalogue.KINDS:
        if options.kind is None:
            print(f"{kind}:")
        lines = [_fitted(line, shared.width()) for line in _lines(loaded, kind, options.params, installed)]
        print("\n".join(lines) or "  none")
        if options.kind is None:
            print()
    if options.kind == "measures":
        more = "  and every measure of ir-measures, as it writes them: nDCG@10, R(rel=2)@100, RR@10, AP, ..."
        print(f"\n{_fitted(more, shared.width())}")
    for plugin in loaded.plugins:
        if plugin.error:
            print(f"not loaded: {plugin.name} ({plugin.distribution}): {plugin.error}")
    return 0


def _fitted(line: str, width: int | None) -> str:
    """The line, wrapped below where its text begins."""
    if width is None or len(line) <= width:
        return line
    import textwrap

    text = re.match(r" *\S+ +", line)
    indent = " " * min(text.end() if text else 0, width // 2)
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _lines(
    loaded: Catalogue, kind: str, with_params: bool, installed: Callable[[str], bool]
) -> Iterator[str]:
    width = max((len(name) for name in loaded.entries[kind]), default=0)
    for name in loaded.names(kind):
        for entry in loaded.entries[kind][name]:
            yield f"  {name:{width}}  {entry.record.summary}{_remark(entry, installed)}"
            if with_params:
                yield from _parameters(entry.record)


def _remark(entry: Entry, installed: Callable[[str], bool]) -> str:
    from harness import catalogue

    need = catalogue.missing_modules(entry.record, entry.plugin.distribution, installed)
    source = f" [{entry.plugin.distribution}]" if entry.plugin.distribution != catalogue.OWN else ""
    return source + (f" ({need})" if need else "")


def _parameters(record: Any) -> Iterator[str]:
    from harness.catalogue import params

    if not hasattr(record, "params"):
        return
    for name, (field, hint) in params.fields_of(record.params).items():
        text = field.metadata.get("help", "")
        yield f"      {name}: {params.describe(hint)}, {_default(field)}" + (f" - {text}" if text else "")


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return "required" if field.default_factory is dataclasses.MISSING else "default empty"
    default = str(field.default) if isinstance(field.default, Path) else field.default
    return f"default {default!r}"
