"""`harness schema`: the JSON Schema of suites or leaderboards."""

from __future__ import annotations

import argparse

import orjson

from harness import catalogue
from harness.leaderboard import board_file
from harness.suite import schema as suite_schema


def schema(options: argparse.Namespace) -> int:
    of_suite = options.what == "suite"
    content = suite_schema.json_schema(catalogue.load()) if of_suite else board_file.json_schema()
    print(orjson.dumps(content, option=orjson.OPT_INDENT_2).decode())
    return 0
