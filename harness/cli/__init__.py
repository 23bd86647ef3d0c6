"""The `harness` command. It starts often, so it imports only the module of the chosen command."""

from __future__ import annotations

import argparse
import faulthandler
import sys
from collections.abc import Collection, Sequence
from importlib import import_module

COMMANDS = {  # in the order of the help; each name is also that of a module in this package
    "run": "run a suite and write its leaderboard",
    "eval": "run methods on a dataset, without a suite",
    "check": "list every problem of a suite",
    "list": "list what the installed plugins offer",
    "plugins": "list the plugins, and why one did not load",
    "protocols": "look up how a protocol scores",
    "datasets": "look at a collection, or download it",
    "show": "show a leaderboard",
    "diff": "show what was changed between two leaderboards, and what that did",
    "compare": "test the systems of leaderboards against each other",
    "verify": "compute a leaderboard's numbers again, or replay a log of judgements",
    "validate": "evaluate the checkpoints of another trainer as they appear",
    "score": "make a leaderboard of runs that were made elsewhere",
    "import-mteb": "make a leaderboard of MTEB's task results",
    "training-data": "write training data in another trainer's form",
    "export": "write a leaderboard in the forms of other tools",
    "merge": "put rows of several machines into one leaderboard",
    "report": "write a leaderboard as one HTML file",
    "annotate": "have people judge a pool in a page on this machine",
    "site": "write many leaderboards as static pages",
    "inspect": "look at one query or passage, or at where systems fail",
    "cache": "look after the store of artifacts",
    "schema": "print a JSON Schema, for editors and programs",
    "new-plugin": "write a working plugin package with a test",
    "completion": "print a shell's completion script",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; `harness.cli.exits` explains the codes."""
    words = tuple(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and sys.stderr is not None:
        faulthandler.enable()  # if a plugin crashes while a suite is planned, the stack trace names it
    from harness.cli import exits

    def work() -> int:
        options = parser(words[:1]).parse_args(words)
        return int(options.work(options))

    return exits.guarded(work)


def parser(chosen: Collection[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser of all commands, with the arguments of the chosen commands."""
    top = argparse.ArgumentParser(
        prog="harness", description="Evaluate passage retrieval: one suite YAML in, one leaderboard JSON out."
    )
    top.add_argument("--version", action=_Version, help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name in chosen:
            import_module(f"harness.cli.{name.replace('-', '_')}").arguments(command)
    return top


class _Version(argparse.Action):
    """The option `--version`, which reads the version only when it is used."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"passage-harness {version('passage-harness')}")
        parser.exit()
