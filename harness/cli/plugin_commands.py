"""The commands that plugins offer, kept in the user's cache folder until an installed plugin changes.

They are kept because loading all plugins takes longer than all other work of `harness --help`. For the same
reason, this module imports the catalogue only when it has to load the plugins.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import user_cache
from harness.errors import HarnessError
from harness.problems import unknown

if TYPE_CHECKING:
    from harness.catalogue import Entry

FORM = 3  # of the kept file
METADATA = (".dist-info", ".egg-info")


class Offer(NamedTuple):
    """A command, and the plugin that offers it."""

    name: str
    summary: str
    arguments: str
    work: str
    needs: tuple[str, ...]
    extra: str | None
    marker: str | None
    verify: str | None
    formats: tuple[str, ...]
    forms: tuple[str, ...]
    dataset_forms: tuple[str, ...]
    plugin: str
    module: str
    distribution: str

    @property
    def qualified(self) -> str:
        return f"{self.plugin}:{self.name}"

    def function(self, name: str) -> Callable[..., Any]:
        """The function that a field names as "module:function". Its module is imported only now."""
        module, _, attribute = name.partition(":")
        try:
            function: Callable[..., Any] = getattr(import_module(module), attribute)
        except Exception as error:  # whatever the plugin raises when it is imported
            where = f"the command '{self.name}' of {self.distribution} ({self.module})"
            raise HarnessError(
                f"{where}: {name} cannot be imported ({type(error).__name__}: {error}); repair the plugin"
            ) from error
        return function

    def add_arguments(self, command: argparse.ArgumentParser) -> None:
        """Adds the command's arguments and its work. Raises HarnessError if a needed module is missing."""
        if self.needs:
            from harness import catalogue

            if need := catalogue.missing_modules(self, self.distribution):
                raise HarnessError(f"harness {need}")
        self.function(self.arguments)(command)
        command.set_defaults(work=self.function(self.work))


class Commands(NamedTuple):
    offers: tuple[Offer, ...]
    broken: tuple[str, ...]  # a line for each plugin that did not load

    def by_name(self, taken: Collection[str]) -> dict[str, Offer]:
        """The commands by the names that call them. A command whose name is taken by the harness, or which
        several plugins offer, is called as PLUGIN:NAME."""
        count = Counter(list(taken))
        for offer in self.offers:
            count.update((offer.name, offer.qualified))

        def called(offer: Offer) -> str:
            if count[offer.name] == 1:
                return offer.name
            # two distributions may have plugins of one name
            return offer.qualified if count[offer.qualified] == 1 else f"{offer.distribution}:{offer.name}"

        return {called(offer): offer for offer in self.offers}

    def find(self, name: str, taken: Collection[str]) -> Offer:
        """The command of this name, which may be qualified by its plugin. Raises HarnessError if there is
        none, or if several plugins offer it."""
        called = self.by_name(taken)
        if name in called:
            return called[name]
        same = [offer for offer in self.offers if name in (offer.name, offer.qualified)]
        if len(same) == 1:
            return same[0]
        if same:
            who = " and ".join(f"{offer.distribution} ({offer.module})" for offer in same)
            choices = " or ".join(f"'{word}'" for word, offer in called.items() if offer in same)
            raise HarnessError(f"the command '{name}' is offered by {who}; write {choices}")
        text = unknown("command", name, [*taken, *called])
        if self.broken:
            text += f"; these plugins did not load and might have offered it: {', '.join(self.broken)}"
        raise HarnessError(text)

    def run_form(self, field: str, form: str, own: Collection[str], words: list[str]) -> int:
        """Runs the command whose record has this form in the field `formats`, `forms` or `dataset_forms`.
        Raises HarnessError, with the forms that there are, if none has it, and if several have it."""
        import argparse

        having = [(each, offer) for offer in self.offers for each in getattr(offer, field)]
        able = [offer for each, offer in having if each == form]
        option = "format" if field == "formats" else "form"
        if not able:
            raise HarnessError(f"--{option} {unknown('form', form, [*own, *(each for each, _ in having)])}")
        if len(able) > 1:
            who = " and ".join(f"'{offer.qualified}' of {offer.distribution}" for offer in able)
            raise HarnessError(f"--{option} {form}: is offered by {who}; run one of these commands instead")
        [offer] = able
        command = argparse.ArgumentParser(prog=f"harness {offer.name}")
        offer.add_arguments(command)
        options = command.parse_args(words)
        return int(options.work(options))


def load() -> Commands:
    """The commands of all installed plugins, by name."""
    installed = _installed()
    memory = user_cache.listings() / _file_name()
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        kept = json.loads(memory.read_bytes())
        if (kept["form"], kept["installed"]) == (FORM, installed) and all(
            _stamp(path) == stamp for path, stamp in kept["files"].items()
        ):
            return Commands(tuple(_offer(row) for row in kept["commands"]), ())
    return _loaded(memory, installed)


def _loaded(memory: Path, installed: list[list[Any]]) -> Commands:
    """The commands, from the plugins themselves. They are kept, unless a plugin did not load: the cause of an
    error may disappear without a change of the plugin's files."""
    from harness import catalogue

    loaded = catalogue.load()
    entries = [entry for name in loaded.names("commands") for entry in loaded.entries["commands"][name]]
    offers = tuple(map(_of_entry, entries))
    broken = tuple(f"{plugin.name} ({plugin.error})" for plugin in loaded.plugins if plugin.error)
    if not broken:
        files = {path: _stamp(path) for plugin in loaded.plugins for path in _files(plugin.module, offers)}
        kept = {"form": FORM, "installed": installed, "files": files, "commands": offers}
        with contextlib.suppress(OSError):  # if they cannot be saved, the plugins are loaded each time
            memory.parent.mkdir(parents=True, exist_ok=True)
            beside = memory.with_name(f"{memory.name}.{os.getpid()}")
            beside.write_text(json.dumps(kept), encoding="utf-8")
            beside.replace(memory)
    return Commands(offers, broken)


def _files(module: str, offers: Collection[Offer]) -> list[str]:
    """The files of a plugin that its commands depend on: of a plugin without commands, the one that would
    implement the hook; of others, all in its folder."""
    from harness.catalogue import listing

    paths = [path for path, *_ in listing.stamps(module)]
    if any(offer.module == module for offer in offers) or len(paths) < 2:
        return paths
    return [path for path in paths if Path(path).name == "__init__.py"]


def _of_entry(entry: Entry) -> Offer:
    record, plugin = entry
    return Offer(
        record.name, record.summary, record.arguments, record.work, record.needs, record.extra,
        record.marker, record.verify, record.formats, record.forms, record.dataset_forms, plugin.name,
        plugin.module, plugin.distribution,
    )  # fmt: skip


def _offer(row: list[Any]) -> Offer:
    cells: list[Any] = [tuple(cell) if isinstance(cell, list) else cell for cell in row]
    return Offer(*cells)


def _file_name() -> str:
    """A name for each Python environment, so that environments do not overwrite each other's file."""
    environment = "-".join((sys.implementation.cache_tag or "", *Path(sys.prefix).parts[1:]))
    return f"commands-{environment[-200:]}.json"


def _installed() -> list[list[Any]]:
    """The folders of installed distributions, with their modification times. A folder changes when a
    distribution is added, removed or replaced."""
    return [[folder, *_stamp(folder)] for folder in sys.path if _has_distributions(folder)]


def _has_distributions(folder: str) -> bool:
    try:
        with os.scandir(folder or ".") as entries:
            return any(entry.name.endswith(METADATA) for entry in entries)
    except OSError:  # the folder is missing, or is a zip file
        return False


def _stamp(path: str) -> list[int]:
    """The size and modification time of a file or folder; empty if it is not there."""
    try:
        stat = os.stat(path)  # noqa: PTH116 - `Path.stat` is slower
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns]
