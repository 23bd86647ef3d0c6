"""The files of an index: arrays that are mapped into memory, and a header that is written last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import HarnessError
from harness.store import disk
from harness.types import JSON

HEADER = "index.json"
_EMPTY = 128  # the size in bytes of an .npy file of an empty array, which cannot be mapped


class Format(NamedTuple):
    """The name of an index format and its version."""

    name: str
    version: int  # raised when the files of the format change


def begin(folder: Path) -> None:
    """Removes an earlier header: the folder then counts as no index until `finish`."""
    (folder / HEADER).unlink(missing_ok=True)


def finish(
    folder: Path, format: Format, files: Iterable[str], facts: Mapping[str, JSON] | None = None
) -> None:
    """Writes the header: the format, the size of each file of the index, and facts for its reader."""
    sizes = {name: (folder / name).stat().st_size for name in files}
    header = {"format": format.name, "version": format.version, "bytes": sizes, "facts": dict(facts or {})}
    disk.replace_file(folder / HEADER, json.dumps(header, indent=1).encode())


def read_facts(folder: Path, format: Format) -> dict[str, Any]:
    """The facts in the header of a finished index. Raises HarnessError if the index is not finished, has
    another format, or lacks a file or a part of one."""
    path = folder / HEADER
    if not path.exists():
        raise HarnessError(f"{folder}: there is no finished index here ({HEADER} is missing); build it")
    try:
        header = json.loads(path.read_bytes())
        same, version = header["format"] == format.name, header["version"]
        sizes, result = dict(header["bytes"]), dict(header["facts"])
    except (ValueError, KeyError, TypeError):
        same = False
    if not same:
        raise HarnessError(f"{path}: this is no index of {format.name}; name another folder")
    if version != format.version:
        raise HarnessError(f"{path}: the index has format {version}, not {format.version}; build it again")
    for name, size in sizes.items():
        file = folder / name
        actual = file.stat().st_size if file.exists() else None
        if actual != size:
            what = "is missing" if actual is None else f"has {actual} bytes where {size} were written"
            raise HarnessError(f"{file}: the index is damaged, this file {what}; build it again")
    return result


def array(path: Path) -> NDArray[Any]:
    """The array of an .npy file, mapped and not writable."""
    try:
        mapped = np.load(path, mmap_mode="r" if path.stat().st_size > _EMPTY else None, allow_pickle=False)
    except ValueError as error:
        raise HarnessError(f"{path}: the index is damaged ({error}); build it again") from error
    return _unwritable(mapped)


def raw(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The numbers of a file that holds nothing else, as an array that is mapped and not writable."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if not path.exists() or path.stat().st_size != size:
        raise HarnessError(f"{path}: the index is damaged, this file has not {size} bytes; build it again")
    return _unwritable(np.memmap(path, dtype, "r", shape=shape) if size else np.empty(shape, dtype))


def damaged(folder: Path) -> HarnessError:
    """The error of an index whose files are whole but do not belong together."""
    return HarnessError(f"{folder}: the index is damaged, its files do not fit one another; build it again")


def _unwritable(array: NDArray[Any]) -> NDArray[Any]:
    """The array as a plain, read-only array. Mapped arrays and arrays that are too small for mapping then
    have the same type, so compiled loops are compiled only once."""
    plain = np.asarray(array)
    plain.flags.writeable = False
    return plain
