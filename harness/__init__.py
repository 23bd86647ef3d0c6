"""passage-harness: one suite YAML to one leaderboard JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.hookspecs import hookimpl

if TYPE_CHECKING:
    from harness.api import Leaderboard, check, load, run

__all__ = ["Leaderboard", "check", "hookimpl", "load", "run"]


def __getattr__(name: str) -> object:
    """The notebook's names, imported when first used: plugins import this package cheaply."""
    if name in __all__:
        from harness import api

        return getattr(api, name)
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
