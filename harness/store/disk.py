"""The few operations by which the store changes the disk, so that each can be made to fail in a test."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness.errors import StoreError

PIECE = 1 << 24  # bytes of a large file that are summed on their own
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FAILING = {*FULL, errno.EIO}  # never a method's fault
NEARLY_FULL = 1 << 20  # bytes: with less, a failed step is taken for one that found no space


def write(path: Path, data: bytes) -> None:
    """Write a file that nobody reads yet; it still has to be synced."""
    with path.open("wb") as file:
        file.write(data)


def replace_file(path: Path, data: bytes) -> None:
    """The file has the old contents or the new, never a part of them, whenever the machine stops."""
    with replacing(path) as beside:
        write(beside, data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` when it is whole."""
    writer = f"{os.getpid()}.{threading.get_native_id()}"
    beside = path.with_name(f".{writer}.new.{path.name}")  # the same ending: it may choose a format
    _sweep(path)
    try:
        yield beside
        with beside.open("rb") as file:
            fsync(file.fileno())
        rename(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def _sweep(path: Path) -> None:
    """Remove what killed processes left beside a file that they were replacing."""
    for left in path.parent.glob(f".*.new.{glob.escape(path.name)}"):
        process = left.name.split(".")[1]
        with contextlib.suppress(PermissionError):  # it lives, and is another user's
            try:
                os.kill(int(process), 0)
            except (ProcessLookupError, ValueError):
                left.unlink(missing_ok=True)


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
            if not Path(root, name).is_file():  # opening a pipe would wait for its other end
                continue
            descriptor = os.open(Path(root, name), os.O_RDONLY)
            try:
                fsync(descriptor)
            finally:
                os.close(descriptor)
        fsync_folder(Path(root))


def rename(source: Path, target: Path) -> None:
    source.replace(target)


def link(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has no such thing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def remove_tree(folder: Path) -> None:
    """Remove a folder, or whatever stands in its place; what cannot be removed stays."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.unlink()


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_key(path: Path) -> str:
    """What stands for a file's contents in a key: its SHA-256 or, of a large file, the SHA-256 of those of
    its pieces, because they are summed on two cores at once."""
    size = path.stat().st_size
    if size <= PIECE:
        return sha256(path)
    with ThreadPoolExecutor(2) as pool:
        sums = list(pool.map(lambda start: _sum_of_piece(path, start), range(0, size, PIECE)))
    return hashlib.sha256(b"".join(sums)).hexdigest()


def _sum_of_piece(path: Path, start: int) -> bytes:
    hashed, left = hashlib.sha256(), PIECE
    with path.open("rb") as file:
        file.seek(start)
        while left and (data := file.read(min(left, 1 << 18))):
            hashed.update(data)
            left -= len(data)
    return hashed.digest()


def sha256_of(paths: Sequence[Path]) -> list[str]:
    """The sums of several files, two at a time: hashing leaves the interpreter's lock alone."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(sha256, paths))


def is_full(folder: Path) -> bool:
    """Whether the disk takes no more. Not every library says so by an errno, and a mapped file kills."""
    try:
        return shutil.disk_usage(folder).free < NEARLY_FULL
    except OSError:
        return False


def full(root: Path) -> StoreError:
    return StoreError(
        f"{root}: no space left on the device; free some and run again: finished steps are kept"
    )


def check_writable(folder: Path) -> None:
    """Raises StoreError if no small file can be written into the folder, which is made if need be."""
    probe = folder / f".{os.getpid()}.probe"
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            write(probe, bytes(NEARLY_FULL))
        finally:
            probe.unlink(missing_ok=True)


def told(error: OSError, root: Path) -> StoreError:
    """What a user can do about a disk that refused something at or below this folder."""
    if error.errno in FULL:
        return full(root)
    what = (error.strerror or str(error)).lower()
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST):
        advice = "choose another folder with --store or --out"
    else:
        advice = "check the disk and run again: finished steps are kept"
    return StoreError(f"{error.filename or root}: {what}; {advice}")


@contextmanager
def explaining(root: Path) -> Iterator[None]:
    """Every OSError of the body becomes a StoreError."""
    try:
        yield
    except OSError as error:
        raise told(error, root) from error
