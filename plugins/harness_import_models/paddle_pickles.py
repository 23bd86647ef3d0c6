"""Reads `.pdparams`, pickles of arrays by name. Nothing in the file is executed: the names that an array
needs stand for types of this module, and every other name is refused."""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from harness.plugin import HarnessError
from harness_import_models.paddle_files import Array, Tensors

_NAMES = "StructuredToParameterName@@"  # beside the tensors: other names of the same ones
_CODES = ("f2", "f4", "f8")


class _Refused(Exception):
    """The file asks for a name that no array needs."""


class _Type:
    """What the file says of numpy.dtype."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code, self.order = code, "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = state[1]


class _Array:
    """What the file says of an array."""

    shape: tuple[int, ...]
    kind: _Type
    columns_first: bool
    data: bytes

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, self.shape, self.kind, self.columns_first, self.data = state

    def array(self) -> Array:
        if self.kind.code not in _CODES or self.kind.order not in ("<", "="):
            known = isinstance(self.kind.code, str)  # what is not may be endless as text
            raise ValueError(f"its type is {self.kind.code}" if known else "it has no type")
        flat: Array = np.frombuffer(self.data, f"<{self.kind.code}")
        return flat.reshape(self.shape[::-1]).T if self.columns_first else flat.reshape(self.shape)


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _frombuffer(data: bytes, kind: _Type, shape: tuple[int, ...], order: str) -> _Array:
    array = _Array()
    array.__setstate__((1, shape, kind, order == "F", bytes(data)))
    return array


_KNOWN: Mapping[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "numpy.ndarray": _Array,
    "numpy.dtype": _Type,
    "_codecs.encode": lambda text, _: text.encode("latin-1"),
    **{f"numpy.{core}.multiarray._reconstruct": _reconstruct for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _frombuffer for core in ("core", "_core")},
}


class _Unpickler(pickle._Unpickler):  # in Python: that in C takes memory as the file says
    read: Any  # pickle's own, which typeshed lacks
    append: Any

    def find_class(self, module: str, name: str) -> Any:
        known = _KNOWN.get(f"{module}.{name}")
        if known is None:
            raise _Refused(f"{module}.{name}")
        return known

    def load_bytearray8(self) -> None:
        """As pickle's, which takes the memory before it looks for the bytes."""
        (size,) = struct.unpack("<Q", self.read(8))
        data = self.read(size)
        if len(data) != size:
            raise EOFError("it is cut short")
        self.append(bytearray(data))

    dispatch: ClassVar[Any] = {**pickle._Unpickler.dispatch, pickle.BYTEARRAY8[0]: load_bytearray8}


def read(path: Path) -> Tensors:
    """The tensors of a file by their names."""
    try:
        saved = _Unpickler(io.BytesIO(path.read_bytes())).load()
        if not isinstance(saved, dict):
            raise ValueError(f"it holds a {type(saved).__name__}")
        return {name: _array(name, value) for name, value in saved.items() if name != _NAMES}
    except _Refused as error:
        raise HarnessError(
            f"model: {path} asks for {error}, which can run code, so it is refused; "
            "take the parameters from the model's authors"
        ) from None
    except Exception as error:  # of any type: the file chooses what the reader stumbles over
        raise HarnessError(f"model: {path} is no file of parameters of Paddle: {error}") from None


def _array(name: Any, value: Any) -> Array:
    if not isinstance(name, str):
        raise ValueError("it has a name that is no text")
    if not isinstance(value, _Array):
        raise ValueError(f"{name!r} is no array")
    return value.array()
