"""The user's cache folder: the default store, and what all stores and commands share."""

from __future__ import annotations

from pathlib import Path


def default_store() -> Path:
    """Where artifacts are kept unless `--store` names another folder."""
    return _folder("store")


def compiled_code() -> Path:
    """Numba's compiled code."""
    return _folder("compiled")


def probed_plugins() -> Path:
    """Which plugins crash when they are imported."""
    return _folder("plugins")


def listings() -> Path:
    """What `harness list` shows, by the digest of the plugins' files."""
    return _folder("listings")


def boards() -> Path:
    """Leaderboards of suites that are no files."""
    return _folder("boards")


def _folder(name: str) -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("passage-harness"), name)
