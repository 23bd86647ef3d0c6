"""Reads a suite from a dict of names, plain data, and Python functions as methods."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.catalogue import Catalogue
from harness.errors import Problems
from harness.notebook import captured
from harness.notebook.served import Served
from harness.problems import Keys, Problem
from harness.suite import Changes, Suite, changes, check, yaml_nodes
from harness.types import JSON

FILE = "suite"  # the name of the suite in messages
PLUGIN = "python"


class Read(NamedTuple):
    suite: Suite
    objects: tuple[tuple[str, str], ...]  # (name, reason) of objects that run again every time


def load(content: Mapping[str, Any], base: Path, catalogue: Catalogue, served: Served, made: Changes) -> Read:
    """Reads and checks a suite. Relative paths start at `base`. Raises HarnessError with all problems."""
    reader = _Reader(served)
    plain = reader.plain(content, ())
    if reader.problems:
        raise Problems(reader.problems)
    root = yaml_nodes.of_data(plain, base / FILE)
    checked = check.Checker(catalogue).suite(changes.applied(root, made), made)
    return Read(checked, tuple(reader.objects))


class _Reader:
    def __init__(self, served: Served) -> None:
        self.served = served
        self.run = uuid.uuid4().hex
        self.objects: list[tuple[str, str]] = []
        self.problems: list[Problem] = []

    def plain(self, value: Any, path: Keys) -> JSON:
        """The value as YAML would give it. A function becomes the plugin `python` with its parameters."""
        if isinstance(value, Mapping):
            named = {str(key): item for key, item in value.items()}
            return {
                key: self.method(item) if key == PLUGIN and callable(item) else self.plain(item, (*path, key))
                for key, item in named.items()
            }
        if isinstance(value, list | tuple):
            return [self.plain(item, (*path, i)) for i, item in enumerate(value)]
        if isinstance(value, Path):
            return str(value.expanduser().absolute())
        if value is None or type(value) in (bool, int, float, str):
            return value
        if hasattr(value, "item") and getattr(value, "shape", None) == ():  # a NumPy number
            return value.item()
        if callable(value):
            return {PLUGIN: self.method(value)}
        what = f"a {type(value).__name__} is neither plain data nor a function; give one of these"
        self.problems.append(Problem(None, (FILE, *path), what))
        return None

    def method(self, called: Callable[..., Any]) -> JSON:
        try:
            function = captured.capture(called)
        except captured.Uncapturable as reason:
            name = getattr(called, "__name__", type(called).__name__)
            self.objects.append((name, str(reason)))
            number = self.served.add(called)
            fields = {"name": name, "run": self.run, "served": number, "address": str(self.served.address)}
            return {key: _escaped(item) for key, item in fields.items()}
        return {key: _escaped(item) for key, item in function._asdict().items()}


def _escaped(value: JSON) -> JSON:
    """The data with every `${` escaped, because a suite would read it as an environment variable."""
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    return value.replace("${", "$${") if isinstance(value, str) else value
