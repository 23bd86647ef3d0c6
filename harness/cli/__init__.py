"""The `harness` command. It starts often, so it imports only the module of the chosen command."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

COMMANDS = {  # the core's own, in the order of the help; each name is also that of a module in this package
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
    "score": "make a leaderboard of runs that were made elsewhere",
    "merge": "put rows of several machines into one leaderboard",
    "report": "write a leaderboard as one HTML file",
    "inspect": "look at one query or passage, or at where systems fail",
    "cache": "look after the store of artifacts",
    "schema": "print a JSON Schema, for editors and programs",
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


def parser(chosen: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, with the arguments of the chosen ones, or of all. If the chosen command is
    one of the core's own, commands of plugins are left out."""
    formatter = partial(argparse.HelpFormatter, width=_width())
    about = "Evaluate passage retrieval: one suite YAML in, one leaderboard JSON out."
    top = argparse.ArgumentParser(prog="harness", description=about, formatter_class=formatter)
    top.add_argument("--version", action=_Version, help="print the version and exit")
    not_chosen = argparse.ArgumentParser(add_help=False)  # one for all, because making a parser takes a while

    def parser_of(**given: Any) -> argparse.ArgumentParser:
        is_chosen = chosen is None or given["prog"].rpartition(" ")[2] in chosen
        return argparse.ArgumentParser(**given, formatter_class=formatter) if is_chosen else not_chosen

    commands: Any = top.add_subparsers(  # type: ignore[call-overload]  # it calls the class, or a function
        title="commands", metavar="COMMAND", required=True, parser_class=parser_of
    )
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=_sentence(text))
        if chosen is None or name in chosen:
            import_module(f"harness.cli.{name.replace('-', '_')}").arguments(command)
    if chosen is None or not {"--version", *COMMANDS}.issuperset(chosen):
        _add_others(top, commands, chosen)
    return top


def _add_others(top: argparse.ArgumentParser, commands: Any, chosen: Sequence[str] | None) -> None:
    """Adds the commands of plugins, with the arguments of the chosen one. With all arguments, those of a
    command that cannot be used here are left out."""
    from harness.cli import plugin_commands
    from harness.errors import printable

    offered = plugin_commands.load()
    called = offered.by_name(COMMANDS)
    wanted = chosen[0] if chosen else ""
    if wanted and not wanted.startswith("-"):
        called[wanted] = offered.find(wanted, COMMANDS)
    for name, offer in sorted(called.items()):
        source = "" if offer.distribution == "passage-harness" else f" [{offer.distribution}]"
        text = (offer.summary + source).replace("%", "%%")  # argparse formats it
        command = commands.add_parser(name, help=text, description=_sentence(offer.summary))
        if name == wanted:
            offer.add_arguments(command)
        elif chosen is None:
            with contextlib.suppress(Exception):
                offer.add_arguments(command)
    if offered.broken:
        top.epilog = printable(f"not loaded: {', '.join(offered.broken)}")


def _sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."


def _width() -> int:
    """The width of a help text, as argparse computes it by `shutil`, which takes long to import."""
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or int(columns) < 1:
        try:
            columns = str(os.get_terminal_size(sys.__stdout__.fileno()).columns or 80)  # type: ignore[union-attr]
        except (AttributeError, ValueError, OSError):  # the output is closed, or is no terminal
            columns = "80"
    return int(columns) - 2


class _Version(argparse.Action):
    """The option `--version`, which reads the version only when it is used."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"passage-harness {version('passage-harness')}")
        parser.exit()
