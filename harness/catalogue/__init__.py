"""The catalogue: finds the installed plugins, and holds their records by kind and name."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import pluggy

from harness import hookspecs, records
from harness.catalogue import code_by_content, entry_points
from harness.catalogue.entry_points import EntryPoint
from harness.errors import HarnessError
from harness.plugin import API
from harness.problems import Need, unknown

OWN = "passage-harness"
KINDS: dict[str, type] = {  # in the order that `harness list` shows; the hook is `harness_<kind>`
    "datasets": records.Dataset,
    "contexts": records.Context,
    "retrievers": records.Retriever,
    "rewriters": records.Rewriter,
    "rerankers": records.Reranker,
    "combiners": records.Combiner,
    "trainers": records.Trainer,
    "makers": records.Maker,
    "analysers": records.Analyser,
    "analyses": records.Analysis,
    "protocols": records.Protocol,
    "measures": records.Measure,
    "commands": records.Command,
}


def singular(kind: str) -> str:
    return "analysis" if kind == "analyses" else kind.removesuffix("s")


class Plugin(NamedTuple):
    """An installed plugin: an entry point of the harness' group, with the error if it did not load."""

    name: str
    module: str
    distribution: str
    version: str
    error: str | None


class Entry(NamedTuple):
    """A record and the plugin that offers it."""

    record: Any
    plugin: Plugin


@dataclass(frozen=True)
class Catalogue:
    plugins: tuple[Plugin, ...]
    entries: dict[str, dict[str, tuple[Entry, ...]]]  # kind -> name -> the offers (one, unless plugins clash)

    def find(self, kind: str, name: str) -> Entry:
        """The record of that kind and name. The name may be qualified by its plugin, as in `mine:bm25`.
        Raises HarnessError if no plugin or several plugins offer it; the message lists the choices."""
        offers = self.entries[kind].get(name, ())
        owner, colon, plain = name.partition(":")
        if colon and not offers:
            named = self.entries[kind].get(plain, ())
            offers = tuple(entry for entry in named if entry.plugin.name == owner)
        if len(offers) == 1:
            return offers[0]
        if offers:
            who = " and ".join(f"{entry.plugin.distribution} ({entry.plugin.module})" for entry in offers)
            choices = " or ".join(f"'{entry.plugin.name}:{name}'" for entry in offers)
            raise HarnessError(f"the {singular(kind)} '{name}' is offered by {who}; write {choices}")
        text = unknown(singular(kind), name, self.entries[kind])
        broken = [f"{plugin.name} ({plugin.error})" for plugin in self.plugins if plugin.error]
        if broken:
            text += f"; these plugins did not load and might have offered it: {', '.join(broken)}"
        raise HarnessError(text)

    def names(self, kind: str) -> list[str]:
        return sorted(self.entries[kind])


def load() -> Catalogue:
    """The catalogue of all installed plugins. A plugin that fails to load is kept with its error."""
    points = list(entry_points.find(hookspecs.PROJECT))
    code_by_content.install(point.module for point in points)
    return collect(points)


def current() -> Catalogue:
    """The same, for methods that ask for it often while a suite is planned: it is loaded again only when a
    folder of the import path has changed, or a plugin did not load."""
    folders = []
    for folder in sys.path:
        with contextlib.suppress(OSError):
            folders.append((folder, Path(folder or ".").stat().st_mtime_ns))
    known = _known(tuple(folders))
    if any(plugin.error for plugin in known.plugins):
        _known.cache_clear()
    return known


@functools.lru_cache(maxsize=1)
def _known(folders: tuple[tuple[str, int], ...]) -> Catalogue:
    return load()


def collect(points: Iterable[EntryPoint]) -> Catalogue:
    """The catalogue of these entry points: those of the harness first, then by name."""
    entries: dict[str, dict[str, tuple[Entry, ...]]] = {kind: {} for kind in KINDS}
    plugins = []
    manager = _manager()
    for point in sorted(points, key=lambda point: (point.distribution != OWN, point.name, point.value)):
        records, error = _loaded(manager, point)
        plugin = Plugin(point.name, point.module, point.distribution, point.version, error)
        plugins.append(plugin)
        for kind, record in records:
            entries[kind][record.name] = (*entries[kind].get(record.name, ()), Entry(record, plugin))
    return Catalogue(tuple(plugins), entries)


class _Manager(pluggy.PluginManager):
    """Finds hooks as pluggy does, but looks only at a module's functions, which is much faster."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        if isinstance(plugin, ModuleType) and not isinstance(vars(plugin).get(name), FunctionType):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def _manager() -> _Manager:
    manager = _Manager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def _loaded(manager: _Manager, point: EntryPoint) -> tuple[list[tuple[str, Any]], str | None]:
    """A plugin's records as pairs with their kind, and the error if it did not load. No error of a plugin
    must stop the harness."""
    if point.distribution != OWN:
        from harness.catalogue import probe

        crash = probe.crash_of(point)
        if crash is not None:
            return [], crash
    try:
        with output_to_stderr():
            written_for = 1 if point.distribution == OWN else _api_of(point)
            if written_for > API:
                return [], (
                    f"it was written for API {written_for}, and this harness has API {API}; "
                    f"upgrade {OWN}, or install an earlier version of {point.distribution}"
                )
            return _records(manager, point), None
    except (Exception, SystemExit) as problem:
        return [], f"{type(problem).__name__}: {problem}".partition("\n")[0]


@contextlib.contextmanager
def output_to_stderr() -> Iterator[None]:
    """In the body, what a plugin or a program that it starts prints goes to the standard error, because
    another program may read a command's output."""
    saved = -1
    with contextlib.suppress(AttributeError, OSError, ValueError):  # an output may be closed, or be no file
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if saved >= 0:
            with contextlib.suppress(AttributeError, OSError, ValueError):
                sys.__stdout__.flush()  # type: ignore[union-attr]
            os.dup2(saved, 1)
            os.close(saved)


def _api_of(point: EntryPoint) -> int:
    """The API for which a plugin was written, by the line `HARNESS_API = 1` of its module; 1 without one. The
    module is not imported: it may import names that only the later API has."""
    spec = importlib.util.find_spec(point.module)
    source = getattr(spec.loader, "get_source", lambda name: None)(point.module) if spec else None
    declared = re.search(r"^HARNESS_API\s*(?::\s*\w+\s*)?=\s*(\d+)", source or "", re.MULTILINE)
    return int(declared[1]) if declared else 1


def _records(manager: _Manager, point: EntryPoint) -> list[tuple[str, Any]]:
    """The records of one plugin. The plugin is registered only while its records are read."""
    records: list[tuple[str, Any]] = []
    manager.register(point.load(), point.name)
    try:
        manager.check_pending()  # raises an error for a misspelt hook
        for kind, expected in KINDS.items():
            for offered in getattr(manager.hook, f"harness_{kind}")():
                for record in offered:
                    if not isinstance(record, expected):
                        raise TypeError(f"harness_{kind} yielded {record!r}, which is no {expected.__name__}")
                    records.append((kind, record))
    finally:
        manager.unregister(name=point.name)
    return records


def is_installed(module: str) -> bool:
    return importlib.util.find_spec(module.split(".")[0]) is not None


def missing_modules(
    record: Any, distribution: str, installed: Callable[[str], bool] = is_installed
) -> Need | None:
    """The need for the modules that a record requires and that are not installed, with the command that
    installs them. None if all are installed."""
    absent = [name for name in getattr(record, "needs", ()) if not installed(name)]
    if not absent:
        return None
    target = f"{distribution}[{record.extra}]" if record.extra else distribution
    return Need("modules", "", record.name, tuple(absent), f"pip install '{target}'")
