"""`harness list` and `harness plugins`: what is installed. Imports nothing heavy."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

from harness import catalogue, params
from harness.catalogue import Catalogue, Entry


def records(options: argparse.Namespace) -> int:
    found = catalogue.load()
    for kind in [options.kind] if options.kind else catalogue.KINDS:
        if options.kind is None:
            print(f"{kind}:")
        print("\n".join(_lines(found, kind, options.params)) or "  none")
        if options.kind is None:
            print()
    if options.kind == "measures":
        print(
            "\n  and every measure of ir-measures, as it writes them: nDCG@10, R(rel=2)@100, RR@10, AP, ..."
        )
    for plugin in found.plugins:
        if plugin.error:
            print(f"not loaded: {plugin.name} ({plugin.distribution}): {plugin.error}")
    return 0


def _lines(found: Catalogue, kind: str, with_params: bool) -> Iterator[str]:
    width = max((len(name) for name in found.entries[kind]), default=0)
    for name in found.names(kind):
        for entry in found.entries[kind][name]:
            yield f"  {name:{width}}  {entry.record.summary}{_remark(entry)}"
            if with_params:
                yield from _parameters(entry.record)


def _remark(entry: Entry) -> str:
    missing = catalogue.missing_modules(entry.record, entry.plugin.distribution)
    source = f" [{entry.plugin.distribution}]" if entry.plugin.distribution != catalogue.OWN else ""
    return source + (f" ({missing})" if missing else "")


def _parameters(record: Any) -> Iterator[str]:
    for name, (field, hint) in params.fields_of(getattr(record, "params", type(record))).items():
        if not hasattr(record, "params"):
            return
        default = "required" if field.default is dataclasses.MISSING else f"default {field.default!r}"
        text = field.metadata.get("help", "")
        yield f"      {name}: {params.describe(hint)}, {default}" + (f" - {text}" if text else "")


def plugins(options: argparse.Namespace) -> int:
    rows = [
        (plugin.name, plugin.distribution, plugin.version, plugin.error or "loaded")
        for plugin in catalogue.load().plugins
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)] if rows else []
    for row in rows:
        print("  ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[3]]))
    return 0
