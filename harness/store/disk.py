"""The few operations by which the store changes the disk, so that each can be made to fail in a test."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness.errors import StoreError

PIECE = 1 << 24  # bytes of a large file that are hashed on their own
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
FAILING = {*FULL, errno.EIO}  # errors of the disk, never a method's fault
DAY = 24 * 60 * 60
NEARLY_FULL = 1 << 20  # bytes: with less free space, a failed step is taken to have failed for lack of space


def write(path: Path, data: bytes) -> None:
    """Write a file that nobody reads yet. The caller syncs the file later."""
    with path.open("wb") as file:
        file.write(data)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file's contents. Whenever the machine stops, the file has all old or all new contents."""
    with replacing(path) as beside:
        write(beside, data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new path for the body to write, which takes the place of `path` when the body has ended."""
    writer = f"{host()}.{os.getpid()}.{threading.get_native_id()}"
    beside = path.with_name(f".{writer}.new.{path.name}")  # keeps the ending, which may choose a format
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
    """Remove new files that killed processes of this host left beside `path` while they were replacing it.
    Whether a process of another host lives is not known: its file stays for a day."""
    for left in path.parent.glob(f".*.new.{glob.escape(path.name)}"):
        writer, process = left.name.split(".")[1:3]
        with contextlib.suppress(FileNotFoundError):  # its process has ended meanwhile, or another swept it
            dead = not _lives(process) if writer == host() else time.time() - left.stat().st_mtime > DAY
            if dead:
                left.unlink()


def host() -> str:
    """A short name of this machine, without dots."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def _lives(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:  # it is another user's
        return True
    return True


def fsync(descriptor: int) -> None:
    os.fsync(descriptor)


def fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(folder: Path) -> None:
    """Sync all files below a folder and the folders themselves, the deepest first."""
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
    """Make `target` a second name for a file, or a copy if the file system has no hard links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def remove_tree(folder: Path) -> None:
    """Remove a folder, or a file in its place. Files that cannot be removed stay."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.unlink()


def is_at(descriptor: int, path: Path) -> bool:
    """Whether the opened file is still the one at `path`. Another process may have removed it, and even made
    it again, before this one got its lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_key(path: Path) -> str:
    """The digest of a file's contents, for keys. It is the file's SHA-256. For a large file it is the SHA-256
    of the SHA-256 sums of its pieces, so that two cores can hash at once."""
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
    """The SHA-256 of each file. Two files are hashed at a time: hashing releases Python's lock."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(sha256, paths))


def is_full(folder: Path) -> bool:
    """Whether the disk is full. The free space is read, because some libraries report a full disk without an
    errno, and writing to a mapped file on a full disk kills the process."""
    try:
        return shutil.disk_usage(folder).free < NEARLY_FULL
    except OSError:
        return False


def full(root: Path) -> StoreError:
    return StoreError(
        f"{root}: no space left on the device; free some and run again: finished steps are kept"
    )


def check_writable(folder: Path) -> None:
    """Check that a small file can be written into the folder, which is made if need be. Raises StoreError."""
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:  # without a name, so a kill leaves nothing
            probe.write(bytes(NEARLY_FULL))
            probe.flush()
            os.fsync(probe.fileno())


def store_error(error: OSError, root: Path) -> StoreError:
    """The StoreError for an OSError at or below `root`. Its message says what the user can do."""
    if error.errno in FULL:
        return full(root)
    what = (error.strerror or str(error)).lower()
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        advice = "choose another folder with --store or --out"
    else:
        advice = "check the disk and run again: finished steps are kept"
    return StoreError(f"{error.filename or root}: {what}; {advice}")


@contextmanager
def explaining(root: Path) -> Iterator[None]:
    """Turns each OSError of the body into a StoreError."""
    try:
        yield
    except OSError as error:
        raise store_error(error, root) from error
