"""Describes a method that a suite chooses: its name, its work for the store, and its needs that are missing
here."""

from __future__ import annotations

from typing import Any

from harness.catalogue import KINDS, missing_modules, params
from harness.plan import answers
from harness.problems import Need, exists, missing_path
from harness.suite import Chosen
from harness.types import JSON


def named(name: str, written: dict[str, JSON]) -> str:
    """A method with the parameters that a suite gives it, such as `bm25 (k1=0.9)`. Long values are left out:
    texts of several lines, and mappings other than a made model."""
    kept = {
        key: value
        for key, value in written.items()
        if not ("\n" in value if isinstance(value, str) else isinstance(value, dict) and "made" not in value)
    }
    pairs = [f"{key}={params.shown(value)}" for key, value in kept.items()]
    return f"{name} ({', '.join(pairs)})" if pairs else name


def work_of(chosen: Chosen, values: Any) -> JSON:
    kind = next(kind for kind, record in KINDS.items() if type(chosen.entry.record) is record)
    plugin = f"{chosen.entry.plugin.distribution} {chosen.entry.plugin.version}"
    cores = chosen.entry.record.cores
    work = {
        "kind": kind, "name": chosen.name, "params": params.plain(values), "plugin": plugin, "cores": cores,
        "resources": dict(chosen.resources),
    }  # fmt: skip
    reason = chosen.entry.record.unkeyed(values) if chosen.entry.record.unkeyed else None
    return {**work, "unkeyed": reason} if reason else work


def needs_of(chosen: Chosen, values: Any) -> list[Need]:
    """The needs of a method with the parameters `values` that are missing here: modules and files."""
    return [*missing_modules_of(chosen), *answers.missing_files(chosen.entry.record, values)]


def missing_modules_of(chosen: Chosen) -> list[Need]:
    need = missing_modules(chosen.entry.record, chosen.entry.plugin.distribution)
    return [] if need is None else [need]


def missing_paths(values: Any) -> list[Need]:
    return [missing_path(path) for path in params.paths_in(values) if not exists(path)]
