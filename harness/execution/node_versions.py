"""The versions that must be the same on every node of a cluster: Python, the harness, plugins, libraries."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path

from harness import catalogue
from harness.catalogue import Catalogue, Plugin
from harness.plan import keys

SHOWN = 5


def here() -> dict[str, str]:
    """What this machine has: name -> version, or a digest of the sources."""
    return _versions(catalogue.load())


def differences(expected: Mapping[str, str]) -> str:
    """In what this machine differs from the expected versions, with both versions; empty if in nothing. The
    text says why a plugin did not load."""
    installed = catalogue.load()
    actual = _versions(installed)
    absent = {_plugin(plugin): f"not loaded ({plugin.error})" for plugin in installed.plugins if plugin.error}
    names = [name for name in sorted({*expected, *actual}) if expected.get(name) != actual.get(name)]
    shown = [
        f"{name} {actual.get(name) or absent.get(name, 'absent')} instead of {expected.get(name, 'absent')}"
        for name in names
    ]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def _versions(installed: Catalogue) -> dict[str, str]:
    versions = {"python": ".".join(platform.python_version_tuple()[:2]), "harness": _sources()}
    for entries in installed.entries.values():
        for entry in (item for items in entries.values() for item in items):
            plugin = entry.plugin
            versions[_plugin(plugin)] = keys.sources(plugin.module, plugin.distribution)[:12]
            versions |= {name: keys.library(name) for name in getattr(entry.record, "libraries", ())}
    return versions


def _plugin(plugin: Plugin) -> str:
    return f"plugin {plugin.module}"


def _sources() -> str:
    """A digest of the harness's own code."""
    hashed, root = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        hashed.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()[:12]
