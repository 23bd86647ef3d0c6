"""Finds the plugins that are installed and knows every record by kind and name."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pluggy

from harness import hookspecs, records
from harness.errors import HarnessError
from harness.problems import Need, unknown

OWN = "passage-harness"
KINDS: dict[str, type] = {  # in the order that `harness list` shows; the hook is `harness_<kind>`
    "datasets": records.Dataset,
    "contexts": records.Context,
    "retrievers": records.Retriever,
    "rerankers": records.Reranker,
    "combiners": records.Combiner,
    "trainers": records.Trainer,
    "analysers": records.Analyser,
    "analyses": records.Analysis,
    "protocols": records.Protocol,
    "measures": records.Measure,
}


def singular(kind: str) -> str:
    return "analysis" if kind == "analyses" else kind.removesuffix("s")


class Plugin(NamedTuple):
    """An entry point of our group, and why it did not load, if so."""

    name: str
    module: str
    distribution: str
    version: str
    error: str | None


class Entry(NamedTuple):
    """A record and the plugin that it came from."""

    record: Any
    plugin: Plugin


@dataclass(frozen=True)
class Catalogue:
    plugins: tuple[Plugin, ...]
    entries: dict[str, dict[str, tuple[Entry, ...]]]  # kind -> name -> who offers it (one, if all is well)

    def find(self, kind: str, name: str) -> Entry:
        """The one record of that name; a HarnessError says what there is instead."""
        offers = self.entries[kind].get(name, ())
        if len(offers) == 1:
            return offers[0]
        if offers:
            who = " and ".join(f"{entry.plugin.distribution} ({entry.plugin.module})" for entry in offers)
            raise HarnessError(f"the {singular(kind)} '{name}' is offered by {who}; uninstall one of them")
        text = unknown(singular(kind), name, self.entries[kind])
        broken = [f"{plugin.name} ({plugin.error})" for plugin in self.plugins if plugin.error]
        if broken:
            text += f"; these plugins did not load and might have offered it: {', '.join(broken)}"
        raise HarnessError(text)

    def names(self, kind: str) -> list[str]:
        return sorted(self.entries[kind])


def load() -> Catalogue:
    """Load every plugin, one by one; one that fails is kept with its error and stops nothing."""
    return collect(importlib.metadata.entry_points(group=hookspecs.PROJECT))


def collect(points: Iterable[importlib.metadata.EntryPoint]) -> Catalogue:
    """The catalogue of these entry points: ours first, then by name."""
    from_where = _Distributions()
    placed = [(*from_where.of(point), point) for point in points]
    entries: dict[str, dict[str, tuple[Entry, ...]]] = {kind: {} for kind in KINDS}
    plugins = []
    placed.sort(key=lambda item: (item[0] != OWN, item[2].name, item[2].value))
    for distribution, version, point in placed:
        try:
            found, error = _records(point), None
        except (Exception, SystemExit) as problem:  # a stranger's plugin must not stop us in any way
            found, error = [], f"{type(problem).__name__}: {problem}".splitlines()[0]
        plugin = Plugin(point.name, point.module, distribution, version, error)
        plugins.append(plugin)
        for kind, record in found:
            entries[kind][record.name] = (*entries[kind].get(record.name, ()), Entry(record, plugin))
    return Catalogue(tuple(plugins), entries)


def _records(point: importlib.metadata.EntryPoint) -> list[tuple[str, Any]]:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    manager.register(point.load(), point.name)
    manager.check_pending()  # a misspelt hook is an error
    found: list[tuple[str, Any]] = []
    for kind, expected in KINDS.items():
        for offered in getattr(manager.hook, f"harness_{kind}")():
            for record in offered:
                if not isinstance(record, expected):
                    raise TypeError(f"harness_{kind} yielded {record!r}, which is no {expected.__name__}")
                found.append((kind, record))
    return found


class _Distributions:
    """Reads the metadata of each distribution once: to parse it costs as much as to load a plugin."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[str, str]] = {}

    def of(self, point: importlib.metadata.EntryPoint) -> tuple[str, str]:
        if point.dist is None:
            return point.module, "unknown"
        if id(point.dist) not in self.known:
            metadata = point.dist.metadata
            self.known[id(point.dist)] = metadata["Name"], metadata["Version"]
        return self.known[id(point.dist)]


def missing_modules(record: Any, distribution: str) -> Need | None:
    """The modules that a record needs and that are not installed, with what installs them."""
    import importlib.util

    absent = [
        name for name in getattr(record, "needs", ()) if importlib.util.find_spec(name.split(".")[0]) is None
    ]
    if not absent:
        return None
    target = f"{distribution}[{record.extra}]" if record.extra else distribution
    return Need("modules", "", record.name, tuple(absent), f"pip install '{target}'")
