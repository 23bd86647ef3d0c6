"""What a command of a plugin promises: a complete record, functions that exist, and a help text."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
from pathlib import Path
from typing import Any

from harness.testing.subject import Subject, able, require


def is_described(subject: Subject, _: Path) -> None:
    summary = subject.record.summary
    require(isinstance(summary, str) and summary.strip(), "its record has no summary")
    require("\n" not in summary, "its summary is longer than one line")
    require(not summary.endswith("."), "its summary ends with a full stop, which the help adds")
    require(
        subject.record.extra is None or subject.record.extra.strip(), "the extra of its record has no name"
    )


def has_its_functions(subject: Subject, _: Path) -> None:
    record = subject.record
    for name in filter(None, (record.arguments, record.work, record.verify)):
        require(callable(_function(name)), f"{name} is no function")


def describes_its_arguments(subject: Subject, _: Path) -> None:
    for action in _parser(subject)._actions:
        name = action.metavar or action.dest
        require(action.help, f"its argument {name} has no help")
    with able("show its help"):
        _parser(subject).format_help()


def refuses_an_unknown_option(subject: Subject, _: Path) -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            _parser(subject).parse_args(["--no-such-option"])
        except SystemExit as end:
            require(end.code == 2, f"an unknown option ends it with {end.code}, not 2")
        else:
            require(False, "it takes an option that it does not have, '--no-such-option'")


def _parser(subject: Subject) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"harness {subject.record.name}")
    with able("add its arguments"):
        _function(subject.record.arguments)(parser)
    return parser


def _function(name: str) -> Any:
    module, _, attribute = name.partition(":")
    with able(f"import {name}"):
        return getattr(importlib.import_module(module), attribute)
