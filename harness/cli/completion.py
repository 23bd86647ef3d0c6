"""`harness completion`: prints a script that completes the command in a shell."""

from __future__ import annotations

import argparse


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=completion)
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def completion(options: argparse.Namespace) -> int:
    import shtab

    from harness import cli

    print(shtab.complete(cli.parser(), options.shell))
    return 0
