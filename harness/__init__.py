"""passage-harness: makes one leaderboard JSON of one suite YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.api import Board, Leaderboard, check, load, read_leaderboard, run
    from harness.hookspecs import hookimpl

__all__ = ["Board", "Leaderboard", "check", "hookimpl", "load", "read_leaderboard", "run"]


def __getattr__(name: str) -> object:
    """One of the names in `__all__`. Imported when first used: `harness --help` needs none."""
    if name == "hookimpl":
        from harness.hookspecs import hookimpl

        return hookimpl
    if name in __all__:
        from harness import api

        return getattr(api, name)
    raise AttributeError(f"module 'harness' has no attribute {name!r}")
