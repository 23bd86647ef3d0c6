"""Reads the tensors of Paddle's static graphs without Paddle: a file a tensor, or all in one file."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.plugin import HarnessError

Array = np.ndarray[Any, Any]
Tensors = Mapping[str, Array]
BESIDE = (".json", ".txt", ".md", ".yaml", ".yml", ".sh", ".py")  # files that are no parameters
# Paddle's numbers of types (VarType.Type in framework.proto) that weights have
TYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<f2"), 5: np.dtype("<f4"), 6: np.dtype("<f8")}
_TENSOR = 7  # the number of the type of a variable that is a tensor


class Variable(NamedTuple):
    """A variable of a program, as far as its parameters need it."""

    name: str
    kind: int
    kept: bool  # whether its value is saved


class Separate(Mapping[str, Array]):
    """The tensors of a folder with one file for each. They are read when they are asked for: what training
    saved beside them may be twice as large."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.name: path for path in sorted(folder.iterdir()) if _is_parameter(path)}

    def __getitem__(self, name: str) -> Array:
        path = self._paths[name]
        data = _read(path)
        tensor, end = _tensor(data, 0, path)
        if end != len(data):
            raise _strange(path, f"{len(data) - end} bytes follow its tensor")
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def combined(parameters: Path, program: Path) -> dict[str, Array]:
    """The tensors of one file, named by the program beside them: they stand in the order of the names."""
    names = sorted(v.name for v in _variables(program) if v.kept and v.kind == _TENSOR)
    data, at = _read(parameters), 0
    tensors: dict[str, Array] = {}
    for number, name in enumerate(names):
        if at == len(data):
            raise _strange(
                parameters, f"it ends after {number} of the {len(names)} tensors of {program.name}"
            )
        tensors[name], at = _tensor(data, at, parameters)
    if at != len(data):
        raise _strange(parameters, f"it goes on after the {len(names)} tensors of {program.name}")
    return tensors


def _tensor(data: memoryview, at: int, path: Path) -> tuple[Array, int]:
    """The tensor that begins at a byte, and where it ends: its version, levels of detail (none), the tensor's
    version, the size of its description, the description, the numbers (Paddle's SerializeToStream)."""
    head = struct.Struct("<IQIi")
    if len(data) < at + head.size:
        raise _strange(path, "it is cut short")
    version, levels, inner, size = head.unpack_from(data, at)
    if version or levels or inner or not 0 < size < 1 << 16:
        raise _strange(path, "it does not begin as a tensor of Paddle")
    start = at + head.size
    if start + size > len(data):
        raise _strange(path, "it is cut short")
    kind, shape = 0, []
    for number, value in _fields(data[start : start + size], path):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 2 and isinstance(value, int):
            shape.append(value)
    if kind not in TYPES:
        raise _strange(path, f"its numbers are of Paddle's type {kind}, which no weights have")
    count = 1
    for width in shape:
        count *= width
    start += size
    end = start + count * TYPES[kind].itemsize
    if end > len(data):
        raise _strange(path, f"it has {len(data) - start} bytes for the shape {shape}")
    return np.frombuffer(data[start:end], TYPES[kind]).reshape(shape), end


def _variables(path: Path) -> Iterator[Variable]:
    """The variables of the first block of a program (ProgramDesc in framework.proto)."""
    for number, block in _fields(_read(path), path):
        if number != 1 or isinstance(block, int):
            continue
        for part, described in _fields(block, path):
            if part == 3 and not isinstance(described, int):
                yield _variable(described, path)
        return


def _variable(data: memoryview, path: Path) -> Variable:
    found = dict(_fields(data, path))
    name, kind = found.get(1, b""), found.get(2, b"")
    if isinstance(name, int) or isinstance(kind, int):
        raise _strange(path, "it is no program of Paddle")
    number = dict(_fields(memoryview(kind), path)).get(1, 0)
    return Variable(
        str(name, "utf-8", "replace"), number if isinstance(number, int) else 0, found.get(3) == 1
    )


def _fields(data: memoryview, path: Path) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a protobuf message: their numbers, and their values as numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at, path)
        if key & 7 == 0:
            value, at = _varint(data, at, path)
            yield key >> 3, value
            continue
        if key & 7 == 2:
            size, at = _varint(data, at, path)
        elif key & 7 in (1, 5):
            size = 8 if key & 7 == 1 else 4
        else:
            raise _strange(path, "it is no message of protobuf")
        if at + size > len(data):
            raise _strange(path, "it is cut short")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int, path: Path) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
    raise _strange(path, "it is cut short")


def _is_parameter(path: Path) -> bool:
    return path.is_file() and path.suffix not in BESIDE and not path.name.startswith((".", "__"))


def _read(path: Path) -> memoryview:
    try:
        return memoryview(path.read_bytes())
    except OSError as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); unpack the archive again") from error


def _strange(path: Path, why: str) -> HarnessError:
    return HarnessError(f"model: {path} is no file of parameters of Paddle: {why}")
