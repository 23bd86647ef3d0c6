"""`harness merge`: merges rows of several machines into one leaderboard."""

from __future__ import annotations

import argparse

from harness.cli import arguments as shared


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=merge)
    shared.leaderboards(command)
    shared.out(command)
    which = "for the rows of one leaderboard, put its name before it: LEADERBOARD:"
    drop = f"leave these rows out, a pattern; {which}SYSTEM"
    command.add_argument("--drop", action="append", default=[], metavar="SYSTEM", help=drop)
    rename = f"rename a system; {which}OLD=NEW"
    command.add_argument("--rename", action="append", default=[], metavar="OLD=NEW", help=rename)


def merge(options: argparse.Namespace) -> int:
    from harness.leaderboard.merge import merge
    from harness.problems import shown_path

    merged = merge(options.leaderboards, options.out, options.drop, options.rename)
    for note in merged.notes:
        shared.say(f"note: {note}")
    rows = merged.board.rows
    failed = sum(row.status == "failed" for row in rows)
    failures = f", {failed} of them failed" if failed else ""
    shared.say(f"{len(rows)} rows{failures}: {shown_path(merged.path.absolute())}")
    return 1 if failed else 0
