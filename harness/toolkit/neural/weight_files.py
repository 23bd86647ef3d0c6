"""Picks the files whose weights are read from the names of a model's files: safetensors, else pickles."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.errors import HarnessError

# The names that hold a network's weights; the first that a folder has is read.
ORDER = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
INDEX = ".index.json"
_SHARD = re.compile(r"(model|pytorch_model)-\d+-of-\d+\.(safetensors|bin)")


class Chosen(NamedTuple):
    """The weight files of one folder of a model, by their names in that folder."""

    files: tuple[str, ...]
    listing: str | None = None  # the index that names them, if there are several

    @property
    def pickled(self) -> bool:
        return not self.files[0].endswith(".safetensors")


def chosen(folder: Path) -> Chosen | None:
    """The weight files of a folder on disk; None if it has none. Raises HarnessError for an index that names
    files outside of the folder, of another format, or that are not there."""
    name = first({name for name in ORDER if (folder / name).exists()})
    if name is None or not name.endswith(INDEX):
        return None if name is None else Chosen((name,))
    files = _shards(folder / name)
    missing = [file for file in files if not (folder / file).exists()]
    if missing:
        raise HarnessError(f"model: {folder} lacks {', '.join(missing)}; fetch the model again")
    return Chosen(files, name)


def first(names: Collection[str]) -> str | None:
    """The name of the weights, or of their index, that is read if these names lie in one folder."""
    return next((name for name in ORDER if name in names), None)


def among(names: Iterable[str], folder: str = "") -> Chosen | None:
    """The weight files of one folder, by a list of all files of a model. With an index, these are the files
    with the names of shards; only the index itself says whether it names all of them."""
    below = {
        PurePosixPath(name).name for name in names if PurePosixPath(name).parent == PurePosixPath(folder)
    }
    name = first(below)
    if name is None or not name.endswith(INDEX):
        return None if name is None else Chosen((name,))
    end = _end(name)
    shards = sorted(file for file in below if _SHARD.fullmatch(file) and file.endswith(end))
    return Chosen(tuple(shards), name) if shards else None


def _shards(index: Path) -> tuple[str, ...]:
    """The names of the files that an index names."""
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise HarnessError(f"model: {index} cannot be read ({error!r}); fetch the model again") from error
    end = _end(index.name)
    for name in names:
        if not isinstance(name, str) or not is_plain(name) or not name.endswith(end):
            raise HarnessError(
                f"model: {index} names {name!r}, which is no {end} file of its folder; take the model from "
                "its authors"
            )
    if not names:
        raise HarnessError(f"model: {index} names no file; fetch the model again")
    return tuple(sorted(names))


def is_plain(name: str) -> bool:
    """Whether the name is one of a file in the folder itself."""
    return name not in ("", ".", "..") and "/" not in name and "\\" not in name and "\0" not in name


def inside(folder: str, where: Path) -> str:
    """The path of a module's folder, as a model's own files name it. Raises HarnessError if it leaves the
    model's folder."""
    path = PurePosixPath(folder)
    if path.is_absolute() or ".." in path.parts or "\\" in folder or "\0" in folder:
        raise HarnessError(
            f"model: {where} names the folder {folder!r}, which is outside of the model; take the model from "
            "its authors"
        )
    return "" if path == PurePosixPath() else path.as_posix()


def shown(files: Sequence[str]) -> str:
    """The names of files in few words."""
    return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def _end(index: str) -> str:
    return PurePosixPath(index.removesuffix(INDEX)).suffix
