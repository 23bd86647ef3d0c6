"""Gathers the code that a run sends to the nodes of a cluster: the harness and all installed plugins."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.catalogue import OWN, entry_points
from harness.catalogue.entry_points import EntryPoint
from harness.hookspecs import PROJECT

UNUSED = shutil.ignore_patterns("__pycache__", "*.pyc")


def gather(folder: Path) -> None:
    """Write into an empty folder what a node needs on its import path: packages, and the metadata of each
    distribution, by which its plugins are found. Other libraries are not included."""
    points = entry_points.find(PROJECT)
    for name in sorted({"harness", *_modules(points)}):
        _copy(name, folder)
    for distribution in sorted({point.distribution for point in points}):
        chosen = [point for point in points if point.distribution == distribution]
        named = f"{distribution.replace('-', '_')}-{chosen[0].version}.dist-info"
        metadata = folder / named
        metadata.mkdir()
        header = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {chosen[0].version}\n"
        (metadata / "METADATA").write_text(header, encoding="utf-8")
        lines = [f"[{PROJECT}]", *(f"{point.name} = {point.value}" for point in chosen)]
        (metadata / "entry_points.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _modules(points: Sequence[EntryPoint]) -> Iterator[str]:
    """The topmost modules of the plugins, and those that their distributions install beside them."""
    for point in points:
        yield point.module.partition(".")[0]
    for name in {point.distribution for point in points} - {OWN}:
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        yield from (path.parts[0].removesuffix(".py") for path in files if path.suffix == ".py")


def _copy(module: str, folder: Path) -> None:
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    if spec is None:  # a plugin that cannot be loaded here, or a script beside the packages
        return
    for location in spec.submodule_search_locations or ():
        shutil.copytree(location, folder / module, ignore=UNUSED, dirs_exist_ok=True)
    if spec.submodule_search_locations is None and spec.origin and Path(spec.origin).is_file():
        shutil.copy(spec.origin, folder)
