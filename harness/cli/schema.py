"""`harness schema`: the JSON Schema of suites or leaderboards."""

from __future__ import annotations

import argparse

import orjson

from harness import catalogue
from harness.leaderboard import schemas


def schema(options: argparse.Namespace) -> int:
    found = schemas.suite(catalogue.load()) if options.what == "suite" else schemas.leaderboard()
    print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    return 0
