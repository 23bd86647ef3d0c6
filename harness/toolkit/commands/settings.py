"""Settings that a user writes in YAML, for commands of plugins: reading the file, finding the method that it
names, and converting parameters.

Status: provisional.
"""

from __future__ import annotations

from typing import Any

from harness import catalogue
from harness.catalogue import is_installed
from harness.catalogue.params import convert, plain
from harness.suite.yaml_nodes import read as read_yaml

__all__ = ["convert", "is_installed", "method", "offering", "plain", "read_yaml"]


def method(kind: str, name: str) -> Any:
    """The record of an installed method, such as `method("rerankers", "crossencoder")`. Raises HarnessError
    if no plugin or several plugins offer it."""
    return catalogue.load().find(kind, name).record


def offering(kind: str, name: str) -> str | None:
    """The distribution whose plugin offers this method, the first if several do; None if none does."""
    offers = catalogue.load().entries[kind].get(name, ())
    return offers[0].plugin.distribution if offers else None
