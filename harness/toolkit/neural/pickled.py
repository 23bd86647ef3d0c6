"""Reads the tensors of torch's archives by its weights-only loader, and keeps them as safetensors."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import torch

from harness.errors import HarnessError
from harness.step_context import CURRENT, Converted
from harness.store import disk
from harness.store.file_digests import FileDigests
from harness.toolkit.neural import torch_archives

FILE, CARD = "model.safetensors", "archive.json"  # the tensors, and where they come from
VERSION = 1  # raised when the same archive becomes other tensors
# The types that the format of safetensors has, by the names it gives them.
TYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
    torch.bool: "BOOL",
}  # fmt: skip
WRAPPERS = ("state_dict", "model_state_dict", "model")  # keys under which trainers save a network's tensors
PARALLEL = "module."  # before every name, if several GPUs have trained the network
_TIMES = 8  # a tensor may have several names, but all tensors at most this many times the bytes of the file


def safetensors_of(path: Path) -> Path:
    """The safetensors file with the tensors of an archive. It is made once in the store, by the digest of
    the archive, whichever model and process asks first; the row that is computed shows the archive."""
    place = CURRENT.get().converted or _temporary()
    digests = FileDigests(place.digests)
    folder = place.folder / f"{digests.of(path.resolve())}-{VERSION}"
    digest = _known(folder, digests)
    if digest is None:
        with _alone(folder):
            digest = _known(folder, digests) or _made(path, folder)
    with contextlib.suppress(OSError):  # the store may be read-only
        os.utime(folder)  # `cache gc` removes what has not been used for long
    if place.read is not None:
        place.read.add(f"{path.name} (pickle, by torch's weights-only loader), SHA-256 {digest}")
    return folder / FILE


def tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of an archive by their names, on the CPU in their stored dtypes. Nothing of the archive is
    executed. Raises HarnessError for an archive that holds or asks for anything else."""
    form = torch_archives.form(path)
    strange = torch_archives.strange(torch_archives.seen(path).globals)
    if strange:  # before the loader, which calls some functions that take as much memory as the archive says
        raise HarnessError(
            f"model: {path} asks for {', '.join(strange)}, which can run code or fill the memory, so it is "
            "refused; take weights from the model's authors as safetensors, or name another model"
        )
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=form == "zip")
    except Exception as error:  # of any type: the archive chooses what the loader stumbles over
        raise torch_archives.damaged(path, _why(error)) from None
    return _checked(path, _unwrapped(loaded))


def _unwrapped(loaded: Any) -> Any:
    """The tensors by name of a network, without the wrapping that trainers put around them."""
    if not isinstance(loaded, Mapping):
        return loaded
    inner = next((loaded[name] for name in WRAPPERS if isinstance(loaded.get(name), Mapping)), loaded)
    if inner and all(isinstance(name, str) and name.startswith(PARALLEL) for name in inner):
        return {name.removeprefix(PARALLEL): tensor for name, tensor in inner.items()}
    return inner


def _checked(path: Path, loaded: Any) -> dict[str, torch.Tensor]:
    """The tensors, if `loaded` is a mapping from names to tensors whose values are in the file."""
    if not isinstance(loaded, Mapping) or not loaded:
        raise _refused(path, f"it holds a {type(loaded).__name__}")
    checked: dict[str, torch.Tensor] = {}
    size = 0
    for name, tensor in loaded.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            shown = repr(name) if isinstance(name, str) else f"a name of the type {type(name).__name__}"
            raise _refused(path, f"{shown} is a {type(tensor).__name__}")
        tensor = tensor.detach()
        if tensor.layout != torch.strided or tensor.dtype not in TYPES or tensor.device.type != "cpu":
            raise _refused(path, f"{name!r} is of the type {tensor.dtype}, {tensor.layout}, {tensor.device}")
        size += tensor.nbytes
        checked[name] = tensor
    if size > _TIMES * path.stat().st_size:
        raise _refused(path, f"its tensors would fill {size} bytes, and it has {path.stat().st_size}")
    return checked


def _refused(path: Path, what: str) -> HarnessError:
    return HarnessError(
        f"model: {path} is not a network's tensors by name: {what}; name a model whose weights are"
    )


def _made(path: Path, folder: Path) -> str:
    """Write the tensors of an archive as safetensors, and return the SHA-256 of the archive."""
    found, digest = tensors(path), disk.sha256(path)
    with disk.explaining(folder):
        with disk.replacing(folder / FILE) as beside:
            write(beside, found)
            made = disk.content_key(beside)
        disk.replace_file(folder / CARD, orjson.dumps({"file": path.name, "sha256": digest, "made": made}))
    return digest


def write(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors in the format of safetensors, one at a time: a checkpoint may be as large as the memory.
    Tensors that share their values are written out each."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, tensor in sorted(tensors.items()):
        offsets = [at, at := at + tensor.nbytes]
        header[name] = {"dtype": TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": offsets}
    raw = json.dumps(header, ensure_ascii=False).encode()
    raw += b" " * (-len(raw) % 8)
    with path.open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        for _, tensor in sorted(tensors.items()):
            file.write(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)


def _known(folder: Path, digests: FileDigests) -> str | None:
    """The SHA-256 of the archive, if its tensors are there and undamaged."""
    try:
        card = orjson.loads((folder / CARD).read_bytes())
        return str(card["sha256"]) if digests.of(folder / FILE) == card["made"] else None
    except (OSError, ValueError, LookupError, TypeError, HarnessError):
        return None


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps other processes out of the block."""
    with disk.explaining(folder):
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if disk.is_at(descriptor, folder):  # else it was removed meanwhile, and perhaps made again
                break
            os.close(descriptor)
    try:
        yield
    finally:
        os.close(descriptor)


def _temporary() -> Converted:
    """A place for the time in which no step is executed: the tensors are kept until the process ends."""
    folder = Path(_temporary_folder().name)
    return Converted(folder / "converted", folder)


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="passage-harness-")


def _why(error: Exception) -> str:
    text = str(error).rpartition("WeightsUnpickler error:")[2]  # before it, torch advises to load it unsafely
    return (text.strip().splitlines() or [type(error).__name__])[0]
