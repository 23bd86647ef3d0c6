"""The folders in the user's cache: the default store, and data that all stores and commands share."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_store() -> Path:
    """The folder of the store, unless `--store` names another one."""
    return _folder("store")


def compiled_code() -> Path:
    """The folder of Numba's compiled code."""
    return _folder("compiled")


def probed_plugins() -> Path:
    """The folder of the notes which plugins crash when they are imported."""
    return _folder("plugins")


def listings() -> Path:
    """The folder of the kept output of `harness list`, by the digest of the plugins' files."""
    return _folder("listings")


def boards() -> Path:
    """The folder of the leaderboards of suites that are not files."""
    return _folder("boards")


def _folder(name: str) -> Path:
    """A folder below XDG_CACHE_HOME or, if this is not set, below the system's folder of caches."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not caches.startswith("/"):
        caches = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(caches, "passage-harness", name).expanduser()
