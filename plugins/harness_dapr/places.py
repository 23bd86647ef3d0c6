"""Finds the files of a configuration in the forms in which the hub stores, converts and serves them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_FORMATS = r"\.(?:parquet|jsonl|jsonl\.gz|jsonl\.zst)"


def configuration(path: Path, dataset: str, name: str, split: str) -> tuple[Path, ...]:
    """The files of `split` in the configuration `<dataset>-<name>`, in order. If no file exists, the result
    is the first path that is looked for. If the shards' names state how many shards there are, all shards are
    returned, whether they exist or not."""
    homes = [path / dataset / name, path / f"{dataset}-{name}", path / name]
    for home in homes:
        if home.is_dir():
            files = sorted(file.relative_to(home).as_posix() for file in _files(home))
            for form in _forms(split):
                matches = [name for name in files if re.fullmatch(form + _FORMATS, name)]
                if matches:
                    return tuple(home / name for name in _with_missing_shards(matches))
    return (homes[0] / f"{split}.parquet",)


def _forms(split: str) -> tuple[str, ...]:
    """Patterns of file names without their endings: one file, shards whose names state how many there are,
    shards of the hub's own conversion, and files without a split, for datasets with only one split."""
    return (split, rf"{split}-\d{{5}}-of-\d{{5}}", rf"{split}/\d{{4}}", r"\d{4}")


def _files(home: Path) -> Iterator[Path]:
    for file in home.iterdir():
        if file.is_dir():
            yield from file.iterdir()
        else:
            yield file


def _with_missing_shards(names: list[str]) -> list[str]:
    parts = re.fullmatch(r"(.*-)\d{5}(-of-(\d{5})\..*)", names[0])
    if not parts:
        return names
    return [f"{parts[1]}{number:05d}{parts[2]}" for number in range(int(parts[3]))]


def hub_patterns(dataset: str, names: Iterable[str]) -> list[str]:
    """Patterns of the hub's files that belong to the configurations `names`, in both layouts of folders."""
    return [f"{home}/*" for name in names for home in (f"{dataset}/{name}", f"{dataset}-{name}")]
