"""`harness site`: writes many leaderboards as static pages."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.toolkit import commands


def arguments(command: argparse.ArgumentParser) -> None:
    paths = "folders, of which every leaderboard.json is taken, or such files"
    command.add_argument("paths", type=Path, nargs="+", metavar="FOLDER", help=paths)
    commands.out(command, "where the pages go")
    command.add_argument("--title", default="Leaderboards", metavar="TEXT", help="the site's title")
    facts = "further models, with their parameters, licences and papers (docs/report.md)"
    command.add_argument("--models", type=Path, metavar="FILE", help=facts)


def run(options: argparse.Namespace) -> int:
    from harness.plugin import shown_path
    from harness_site import write

    count = write.write(options.paths, options.out, options.title, options.models)
    print(f"site: {shown_path((options.out / write.INDEX).absolute())} ({count} pages)")
    return 0
