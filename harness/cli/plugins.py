"""`harness plugins`: lists the installed plugins, with the reason if one did not load."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=plugins)


def plugins(options: argparse.Namespace) -> int:
    from harness import catalogue

    rows = [
        (plugin.name, plugin.distribution, plugin.version, plugin.error or "loaded")
        for plugin in catalogue.load().plugins
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)] if rows else []
    for row in rows:
        cells = [f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)]
        shared.say("  ".join([*cells, row[3]]))
    return 0
