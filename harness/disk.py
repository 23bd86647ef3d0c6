"""The few operations by which the store changes the disk, so that each can be made to fail in a test."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from pathlib import Path

from harness.errors import StoreError

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write(path: Path, data: bytes) -> None:
    """Write and fsync a file that nobody reads yet."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        fsync(file.fileno())


def replace_file(path: Path, data: bytes) -> None:
    """The file has the old contents or the new, never a part of them, whenever the machine stops."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        write(beside, data)
        rename(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def fsync(descriptor: int) -> None:
    os.fsync(descriptor)


def fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(folder: Path) -> None:
    """All files below a folder, then the folders themselves, the deepest first."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            descriptor = os.open(Path(root, name), os.O_RDONLY)
            try:
                fsync(descriptor)
            finally:
                os.close(descriptor)
        fsync_folder(Path(root))


def rename(source: Path, target: Path) -> None:
    source.replace(target)


def remove_tree(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explained(error: OSError, root: Path) -> StoreError | None:
    """What a user can do about a disk that does not take more; None for any other error."""
    if error.errno in FULL:
        return StoreError(
            f"{root}: no space left on the device; free some and run again: finished steps are kept"
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        what = (error.strerror or "not permitted").lower()
        return StoreError(f"{error.filename or root}: {what}; choose another folder with --store or --out")
    return None
