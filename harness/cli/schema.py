"""`harness schema`: prints the JSON Schema of suites or leaderboards."""

from __future__ import annotations

import argparse


def arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(work=schema)
    command.add_argument("what", choices=("suite", "leaderboard"))


def schema(options: argparse.Namespace) -> int:
    import orjson

    from harness import catalogue
    from harness.leaderboard import board_file
    from harness.suite import schema as suite_schema

    of_suite = options.what == "suite"
    content = suite_schema.json_schema(catalogue.load()) if of_suite else board_file.json_schema()
    print(orjson.dumps(content, option=orjson.OPT_INDENT_2).decode())
    return 0
