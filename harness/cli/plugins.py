"""`harness plugins`: lists the installed plugins, or prints what a plugin may import."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli import arguments as shared

HARNESS = Path(__file__).parents[1]


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=plugins)
    command.add_argument("--api", action="store_true", help="print what a plugin may import (docs/api.md)")


def plugins(options: argparse.Namespace) -> int:
    if options.api:  # the page is beside the package in the repository, and in the package when installed
        pages = (HARNESS.parent / "docs" / "api.md", HARNESS / "plugin_api.md")
        shared.say(next(page for page in pages if page.is_file()).read_text(encoding="utf-8").rstrip())
        return 0
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
