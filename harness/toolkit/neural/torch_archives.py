"""Looks into a file that torch.save wrote without unpickling it: its form, names, and what it asks for."""

from __future__ import annotations

import io
import pickletools
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from harness.errors import HarnessError

MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # how the form before torch 1.6 begins
LONGEST = 1 << 28  # bytes of pickled objects that are read: the values of tensors are not among them
_LEGACY_PICKLES = 5  # the magic number, the protocol, facts on the machine, the objects, their storages
_POINTER = b"version https://git-lfs"
# What tensors, and the plain values that trainers save beside them, are made of. Torch's loader knows more: a
# call of builtins.bytearray or _codecs.encode fills the memory from a few bytes.
_REBUILT = ("tensor", "parameter", "sparse_tensor", "meta_tensor", "qtensor")
_OF_TENSORS = (
    *(f"torch._utils._rebuild_{kind}" for kind in _REBUILT),
    "torch.serialization.",
    "torch.storage.",
)
_PLAIN = ("collections.OrderedDict", "collections.Counter", "builtins.set", "__builtin__.set")

Form = Literal["zip", "legacy"]


class Seen(NamedTuple):
    """What the objects of an archive consist of."""

    strings: frozenset[str]  # the names of tensors are among them
    globals: tuple[str, ...]  # the functions and classes that it asks for, sorted


def form(path: Path) -> Form:
    """The form of an archive. Raises HarnessError for a file that torch.save did not write, for a truncated
    one, and for one whose members are compressed or larger than the file."""
    with _opened(path) as file:
        start = file.read(64)
        if start.startswith(MAGIC):
            return "legacy"
        if not start.startswith(b"PK\x03\x04"):
            raise _not_torch(path, start)
        _members(path, file)
        return "zip"


def seen(path: Path) -> Seen:
    """The strings of an archive's objects and the globals that it asks for."""
    strings, found = set[str](), set[str]()
    with _opened(path) as file:
        for pickled in _pickles(path, file):
            try:
                _scan(pickled, strings, found)
            except (ValueError, IndexError, LookupError, UnicodeDecodeError) as error:
                raise damaged(path, str(error)) from error
    return Seen(frozenset(strings), tuple(sorted(found)))


def strange(globals: tuple[str, ...]) -> list[str]:
    """Those globals that no archive of tensors asks for."""
    known = (name.startswith(_OF_TENSORS) or name in _PLAIN or _is_type(name) for name in globals)
    return [name for name, is_known in zip(globals, known, strict=True) if not is_known]


def damaged(path: Path, why: str) -> HarnessError:
    return HarnessError(f"model: {path} is damaged or cut short ({why}); fetch it again")


def _is_type(name: str) -> bool:
    """Whether the global is a class of torch itself, such as torch.FloatStorage or torch.float16."""
    module, _, kind = name.rpartition(".")
    return module == "torch" and (kind.endswith("Storage") or kind.islower() or kind == "Size")


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch it again") from error


def _not_torch(path: Path, start: bytes) -> HarnessError:
    if start.startswith(_POINTER):
        return HarnessError(f"model: {path} is a pointer of git-lfs, not the weights; fetch the model again")
    return HarnessError(
        f"model: {path} was not written by torch.save (it begins with {start[:8]!r}); fetch it again, or "
        "take the model from its authors"
    )


def _members(path: Path, file: BinaryIO) -> zipfile.ZipFile:
    """The members of an archive. torch.save compresses none, so that together they cannot be larger than the
    file."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise damaged(path, str(error)) from error
    packed = [item.filename for item in archive.infolist() if item.compress_type != zipfile.ZIP_STORED]
    size = path.stat().st_size
    if packed or sum(item.file_size for item in archive.infolist()) > size:
        what = f"{packed[0]} is compressed" if packed else f"its members are larger than its {size} bytes"
        raise HarnessError(
            f"model: {path} was not written by torch.save: {what}; take the model from its authors"
        )
    names = [item.filename for item in archive.infolist()]
    if any(name.endswith("/constants.pkl") for name in names):
        raise HarnessError(f"model: {path} is a program of TorchScript, not only tensors; name another model")
    if sum(name.count("/") == 1 and name.endswith("/data.pkl") for name in names) != 1:
        raise damaged(path, "it has no data.pkl, or several")
    return archive


def _pickles(path: Path, file: BinaryIO) -> Iterator[BinaryIO]:
    if file.read(len(MAGIC)) == MAGIC:
        file.seek(0)
        for _ in range(_LEGACY_PICKLES):
            yield file
        return
    archive = _members(path, file)
    name = next(item for item in archive.namelist() if item.endswith("/data.pkl"))
    if archive.getinfo(name).file_size > LONGEST:
        raise damaged(path, f"{name} has {archive.getinfo(name).file_size} bytes")
    try:
        yield io.BytesIO(archive.read(name))
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise damaged(path, str(error)) from error


def _scan(pickled: BinaryIO, strings: set[str], found: set[str]) -> None:
    """Read one pickle up to its end, as a list of instructions that are not followed."""
    last: tuple[str, str] = ("", "")  # what STACK_GLOBAL takes its names from; "" for what is no string
    memo: dict[int, str] = {}
    start = pickled.tell()
    for operation, argument, _ in pickletools.genops(pickled):
        if operation.name in ("GLOBAL", "INST"):
            found.add(str(argument).replace(" ", "."))
            last = (last[1], "")
        elif operation.name == "STACK_GLOBAL":
            found.add(".".join(last))
            last = ("", "")
        elif operation.name == "MEMOIZE" or operation.name.endswith("PUT"):
            memo[len(memo) if argument is None else int(argument)] = last[1]
        elif operation.name.endswith("GET"):
            last = (last[1], memo.get(int(argument or 0), ""))
        else:
            text = argument if isinstance(argument, str) else ""
            last = (last[1], text)
            if text:
                strings.add(text)
        if pickled.tell() - start > LONGEST:
            raise ValueError("its objects have no end")
