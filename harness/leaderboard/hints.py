"""`verify.yaml` beside a leaderboard: where its datasets and store were. It changes no number."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from harness.catalogue import params
from harness.errors import HarnessError
from harness.store import disk
from harness.suite import DatasetSpec, yaml_nodes
from harness.suite.yaml_nodes import Node
from harness.types import JSON

FILE = "verify.yaml"
PLACES = ("suites", "stores")
HEAD = """# Where the datasets and the store of this leaderboard were, for `harness verify` and others.
# Paths are relative to this folder. No number comes from this file, and it may be removed.
"""


class Hints(NamedTuple):
    """The places that a `verify.yaml` names. They need not exist any more."""

    suites: tuple[Path, ...]
    stores: tuple[Path, ...]
    datasets: Mapping[str, Node]  # in the form of a suite


def write(out: Path, suite: Path, store: Path, specs: Iterable[DatasetSpec]) -> None:
    """Writes the hints of a run: its suite, its store, and the datasets that it read. Datasets that the suite
    makes are left out."""
    _write(out, [suite], [store], {spec.name: _form(spec, out) for spec in specs if not spec.make})


def merge(folders: Iterable[Path], out: Path) -> None:
    """Writes into `out` the hints of the leaderboards in `folders`, whose rows are merged there. Writes
    nothing if no folder has hints."""
    hints_here = [hints for folder in folders if (hints := read(folder)) is not None]
    if not hints_here:
        return
    datasets: dict[str, JSON] = {}
    for hints in hints_here:
        for name, node in hints.datasets.items():
            datasets.setdefault(name, _moved(node.plain(written=True), node.file.parent, out))
    suites, stores = ([place for hints in hints_here for place in getattr(hints, key)] for key in PLACES)
    _write(out, suites, stores, datasets)


def read(folder: Path) -> Hints | None:
    """The hints in a folder, or None if there is no `verify.yaml` that can be read."""
    path = folder.absolute() / FILE
    try:
        root = yaml_nodes.read(path).value if path.is_file() else None
    except HarnessError:
        return None
    if not isinstance(root, dict):
        return None
    datasets = root.get("datasets")
    named = datasets.value if datasets is not None and isinstance(datasets.value, dict) else {}
    suites, stores = (_places(path.parent, root.get(key)) for key in PLACES)
    return Hints(suites, stores, named)


def store_of(folder: Path) -> Path | None:
    """The first store of the hints in `folder` that still exists, or None."""
    hints = read(folder)
    return next((store for store in hints.stores if (store / "layout").is_file()), None) if hints else None


def _places(folder: Path, node: Node | None) -> tuple[Path, ...]:
    listed = node.value if node is not None and isinstance(node.value, list) else []
    places = [folder / item.value for item in listed if isinstance(item.value, str)]
    return tuple(Path(os.path.normpath(place)) for place in places)


def _write(out: Path, suites: Iterable[Path], stores: Iterable[Path], datasets: Mapping[str, JSON]) -> None:
    content = {
        "suites": [_relative(suite, out) for suite in dict.fromkeys(suites)],
        "stores": [_relative(store, out) for store in dict.fromkeys(stores)],
        "datasets": dict(datasets),
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    disk.replace_file(out / FILE, (HEAD + text).encode())


def _form(spec: DatasetSpec, out: Path) -> JSON:
    """A dataset as a suite writes it. Paths in parameters are written relative to `out`."""
    values = {}
    for name, written in spec.chosen.as_written.items():
        value = getattr(spec.chosen.params, name, None)
        values[name] = _by_place(value, out) if params.paths_in(value) else written
    form = {spec.chosen.name: values or None}
    return (
        form if spec.unknown_judgements == "keep" else {**form, "unknown_judgements": spec.unknown_judgements}
    )


def _by_place(value: Any, out: Path) -> JSON:
    """Plain data with each path relative to `out`."""
    if isinstance(value, Path):
        return _relative(value, out)
    if isinstance(value, Mapping):
        return {str(key): _by_place(item, out) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_by_place(item, out) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _by_place(getattr(value, field.name), out) for field in dataclasses.fields(value)}
    return value


def _moved(form: JSON, folder: Path, out: Path) -> JSON:
    """A form that was written in `folder`, with its paths made relative to `out`."""
    if isinstance(form, dict):
        return {key: _moved(item, folder, out) for key, item in form.items()}
    if isinstance(form, list):
        return [_moved(item, folder, out) for item in form]
    is_path = isinstance(form, str) and form.startswith(("./", "../"))
    return _relative(folder / form, out) if is_path else form


def _relative(path: Path, out: Path) -> str:
    """The path relative to `out`. It begins with a dot, which marks it as a path and not a name."""
    relative = os.path.relpath(os.path.normpath(path.absolute()), out.absolute())
    return relative if relative.startswith("..") else f"./{relative}"
