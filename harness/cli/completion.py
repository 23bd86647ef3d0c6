"""`harness completion`: a script that makes a shell complete the command."""

from __future__ import annotations

import argparse

import shtab

from harness import cli


def completion(options: argparse.Namespace) -> int:
    print(shtab.complete(cli.parser(), options.shell))
    return 0
