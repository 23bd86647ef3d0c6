"""`harness list`: lists the records that the installed plugins offer. Imports nothing heavy."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli import arguments as shared
from harness.cli.kinds import RECORDS

if TYPE_CHECKING:
    from harness.catalogue.listing import Listed


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=records)
    command.add_argument(
        "kind", nargs="?", choices=RECORDS, metavar="KIND", help=f"one of {', '.join(RECORDS)}"
    )
    text = "with every parameter, its default and meaning"
    command.add_argument("--params", action="store_true", help=text)


def records(options: argparse.Namespace) -> int:
    from harness import catalogue
    from harness.catalogue import listing

    listed, broken = listing.load()
    parameters = _parameters_of_all() if options.params else {}
    installed = functools.cache(catalogue.is_installed)  # most modules are needed by several records
    for kind in [options.kind] if options.kind else catalogue.KINDS:
        if options.kind is None:
            print(f"{kind}:")
        rows = [row for row in listed if row.kind == kind]
        lines = [_fitted(line, shared.width()) for line in _lines(rows, parameters, installed)]
        print("\n".join(lines) or "  none")
        if options.kind is None:
            print()
    if options.kind == "measures":
        more = "  and every measure of ir-measures, as it writes them: nDCG@10, R(rel=2)@100, RR@10, AP, ..."
        print(f"\n{_fitted(more, shared.width())}")
    for line in broken:
        shared.say(line)
    return 0


def _fitted(line: str, width: int | None) -> str:
    """The line wrapped to the width. Its further lines are indented to where its text begins."""
    if width is None or len(line) <= width:
        return line
    import textwrap

    text = re.match(r" *\S+ +", line)
    indent = " " * min(text.end() if text else 0, width // 2)
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def _lines(
    rows: Sequence[Listed],
    parameters: Mapping[tuple[str, str, str], list[str]],
    installed: Callable[[str], bool],
) -> Iterator[str]:
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        yield f"  {row.name:{width}}  {row.summary}{_remark(row, installed)}"
        yield from parameters.get((row.kind, row.name, row.distribution), ())


def _remark(row: Listed, installed: Callable[[str], bool]) -> str:
    from harness import catalogue

    need = catalogue.missing_modules(row, row.distribution, installed)
    source = f" [{row.distribution}]" if row.distribution != catalogue.OWN else ""
    return source + (f" ({need})" if need else "")


def _parameters_of_all() -> dict[tuple[str, str, str], list[str]]:
    """The lines of each record's parameters, by kind, name and distribution."""
    from harness import catalogue

    return {
        (kind, name, entry.plugin.distribution): list(_parameters(entry.record))
        for kind, entries in catalogue.load().entries.items()
        for name, offered in entries.items()
        for entry in offered
    }


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
