"""A store that several machines share: finished artifacts in an object store or on a file server.

The remote holds pieces of files, named by their SHA-256, and one list per step. The list is written after all
pieces of the step, so an artifact without a list does not exist. Whatever a remote holds may be a lie: it is
decoded strictly, copied in bounded memory beside the store's artifacts, and verified before it becomes one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypeVar

from harness.errors import HarnessError
from harness.store import disk, manifest, recorded
from harness.store.artifacts import Store
from harness.store.manifest import MANIFEST, Corrupt
from harness.store.recorded import Invalid, Listed
from harness.store.remote_address import opened, shown

PIECE = 1 << 26  # bytes of every piece of a file but the last; a broken transfer repeats at most one piece
CHUNK = 1 << 20  # bytes of a piece that are held in memory while it is fetched
THREADS = 8  # transfers at once
PAUSES = (0.2, 1.0, 4.0)  # seconds before each retry of a failed transfer
FRESH_SECONDS = 12 * 3600.0  # a push writes an older piece again, because `cache gc` may remove it
TOLD_EVERY = 10.0  # seconds between two notes on failed transfers
OWN = re.compile(  # the files of a remote that this store writes, and what a kill may leave of them
    r"(steps/[a-z]+-[0-9a-f]{64}\.json|pieces/[0-9a-f]{2}/[0-9a-f]{64}|(steps|pieces/[0-9a-f]{2})/\.[0-9a-f]{32})"
)
Note = Callable[[str], None]
T = TypeVar("T")


class Damaged(Exception):
    """An artifact of the remote differs from what was pushed."""


class Remote:
    """The shared store at an address such as `s3://bucket/prefix`. Credentials come from the environment."""

    def __init__(self, address: str, write: bool = True) -> None:
        from pyarrow import fs

        self.given, self.address = (
            address,
            shown(address),
        )  # `given` is opened, `address` is shown in messages
        self.read, self.write = True, write
        self.replace = False  # whether a push replaces an artifact that the remote has
        self.is_reached = self.is_behind = False  # whether it has answered, and whether a push has failed
        self.note: Note = _unheard  # told about transfers that are tried again
        self._told = -TOLD_EVERY
        try:
            self._files, root = opened(address)
        except (OSError, ValueError) as error:
            what = str(error).splitlines()[0]
            advice = "give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///FOLDER"
            raise HarnessError(f"--remote {self.address}: {what}; {advice}") from None
        self._root, self._on_disk = root.rstrip("/"), self._files.type_name == "local"
        if not self._root and not address.startswith("file:"):
            raise HarnessError(f"--remote {self.address}: names no bucket; give s3://BUCKET/PREFIX")
        self._fs: Any = fs

    def steps(self) -> list[str]:
        """The ids of the artifacts of the remote, in order."""
        selector = self._fs.FileSelector(f"{self._root}/steps", allow_not_found=True)
        infos = self._retried(lambda: self._files.get_file_info(selector))
        names = (info.base_name.removesuffix(".json") for info in infos)
        return sorted(name for name in names if recorded.STEP.match(name))

    def listed(self, step: str) -> Listed | None:
        """The list of an artifact, or None if the remote lacks the artifact. Raises Damaged."""
        data = self._read(self._list(step), recorded.LARGEST + 1)
        if data is None:
            return None
        try:
            if len(data) > recorded.LARGEST:
                raise Invalid("is too long")
            listed = recorded.unsealed(data, Listed)
            if listed.step != step:
                raise Invalid("is another step's")
            if MANIFEST not in listed.files:
                raise Invalid(f"names no {MANIFEST}")
            recorded.check_names(listed.files)
        except Invalid as error:
            raise Damaged(f"the list of {step[:24]} {error}") from None
        return listed

    def push(self, store: Store, step: str) -> bool:
        """Copy a finished artifact to the remote, its list last. Returns False if the remote has it and
        keeps it. Raises Corrupt for an artifact that is damaged here."""
        if not self.replace and self._exists(self._list(step)):
            return False
        artifact = store.read(step)
        pieces: dict[str, list[str]] = {}
        with ThreadPoolExecutor(THREADS) as pool:
            for name in [*artifact.files, MANIFEST]:
                path = artifact.folder / name
                starts = range(0, max(path.stat().st_size, 1), PIECE)
                pieces[name] = list(pool.map(lambda start, path=path: self._push_piece(path, start), starts))
        size = sum(file.size for file in artifact.files.values())
        data = recorded.sealed({"step": step, "size": size, "files": pieces})
        if max(len(data), (artifact.folder / MANIFEST).stat().st_size) > recorded.LARGEST:
            self.note(f"{step[:24]}: its list of files is too long for a remote; it is not pushed")
            return False
        self._write(self._list(step), data)
        return True

    def fetch(self, store: Store, step: str, note: Note) -> bool:
        """Copy an artifact into the local store and verify every piece and the whole. Returns False if the
        remote lacks it or holds it damaged. A damaged one is taken out of the remote, to be pushed again."""
        try:
            listed = self.listed(step)
            if listed is None:
                return False
            with store.claim(
                step, lambda: note(f"{step[:24]}: another run is making or fetching it")
            ) as folder:
                if folder is not None:
                    with store.adopting(step) as copied, disk.explaining(copied):
                        self._copy(listed, copied)
        except (Damaged, Corrupt) as error:
            note(f"{self.address}: {error}; it is made here instead")
            self._forget(step)
            return False
        return True

    def _copy(self, listed: Listed, folder: Path) -> None:
        """Copy the files of an artifact, its manifest first: no file gets larger than the manifest says.
        Raises Damaged or Corrupt."""
        with ThreadPoolExecutor(THREADS) as pool:
            self._copy_file(listed.files[MANIFEST], folder / MANIFEST, None, pool)
            files = manifest.read(listed.step, folder).files
            if files.keys() | {MANIFEST} != listed.files.keys():
                raise Damaged(f"the list of {listed.step[:24]} and its {MANIFEST} differ")
            if (size := sum(file.size for file in files.values())) != listed.size:
                raise Damaged(
                    f"the list of {listed.step[:24]} says {listed.size} bytes, its files have {size}"
                )
            if size > shutil.disk_usage(folder).free:
                raise disk.full(folder)
            for name, file in sorted(files.items()):
                self._copy_file(listed.files[name], folder / name, file.size, pool)

    def _copy_file(self, digests: list[str], path: Path, size: int | None, pool: ThreadPoolExecutor) -> None:
        """Write a file from its pieces, which must have `size` bytes together; None for a manifest."""
        longest = recorded.LARGEST if size is None else size
        count = max(1, -(-longest // PIECE))
        if len(digests) > count or (size is not None and len(digests) < count):
            raise Damaged(f"'{path.name}' has {len(digests)} pieces")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        sizes = [min(PIECE, longest - start) for start in range(0, max(longest, 1), PIECE)]
        copied = pool.map(
            lambda i: self._copy_piece(digests[i], path, i * PIECE, sizes[i]), range(len(digests))
        )
        if (total := sum(copied)) != size and size is not None:
            raise Damaged(f"'{path.name}' has {total} bytes instead of {size}")

    def _copy_piece(self, digest: str, path: Path, start: int, most: int) -> int:
        """Write a piece at its place in a file, a chunk at a time. Returns its size. Raises Damaged if the
        piece is missing, larger than `most`, or its bytes do not have the digest."""
        with path.open("r+b") as file:
            copied = self._retried(lambda: self._copied(self._piece_path(digest), file, start, most))
        if copied is None or copied[1] != digest:
            with contextlib.suppress(OSError):  # a user who may not write leaves the piece
                self._files.delete_file(self._piece_path(digest))
            raise Damaged(f"the piece {digest[:12]} {'was changed' if copied else 'is missing'}")
        return copied[0]

    def _copied(self, path: str, file: IO[bytes], start: int, most: int) -> tuple[int, str] | None:
        """Copy a file of the remote, `most` bytes at most, to a place in an opened one. Returns its size and
        its SHA-256; None if it is missing. The SHA-256 of a larger file is left empty. Raises StoreError if
        the disk here fails, so that this is not taken for a fault of the remote."""
        hashed, size = hashlib.sha256(), 0
        try:
            with self._opened(path) as stream:
                while data := stream.read(CHUNK):
                    size += len(data)
                    if size > most:
                        return most, ""
                    hashed.update(data)
                    with disk.explaining(Path(file.name)):
                        os.pwrite(file.fileno(), data, start + size - len(data))
        except FileNotFoundError:
            return None
        return size, hashed.hexdigest()

    def _opened(self, path: str) -> Any:
        """The stream of a file. Raises FileNotFoundError for a folder or a device of a file server too."""
        if self._on_disk and not self._is_file(self._files.get_file_info(path)):
            raise FileNotFoundError
        return self._files.open_input_stream(path)

    def start_of(self, digest: str, size: int) -> bytes:
        """The first bytes of a piece, `size` at most; none if the piece is missing."""
        return self._read(self._piece_path(digest), size) or b""

    def try_writing(self, data: bytes) -> float:
        """Write a piece and remove it, also if the user interrupts this. Returns the seconds that writing
        took. A piece that the remote does not remove is noted."""
        path = self._piece_path(hashlib.sha256(data).hexdigest())
        seconds, began = None, time.perf_counter()
        try:
            self._write(path, data)
            seconds = time.perf_counter() - began
            self._retried(lambda: self._files.delete_file(path))
        except BaseException as error:
            with contextlib.suppress(OSError):  # it may not have been written
                self._files.delete_file(path)
            if seconds is None or not isinstance(error, HarnessError):
                raise
            self.note(f"{self.address}: a trial of {len(data)} bytes stays at {path} ({error}); remove it")
        return seconds

    def _push_piece(self, path: Path, start: int) -> str:
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(PIECE)
        digest = hashlib.sha256(data).hexdigest()
        info = self._info(self._piece_path(digest))
        if not self._is_file(info) or info.size != len(data) or time.time() - _changed(info) > FRESH_SECONDS:
            self._write(self._piece_path(digest), data)
        return digest

    def has(self, step: str) -> bool:
        """Whether the remote has the artifact of a step."""
        return self._exists(self._list(step))

    def forget(self, step: str) -> None:
        """Take an artifact out of the remote. Its pieces stay, because other artifacts may share them."""
        self._forget(step)

    def entries(self, folder: str) -> list[tuple[str, int, float]]:
        """The path, size and time of the last change of each of the store's files in a folder of the remote.
        Other files there are somebody else's."""
        selector = self._fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True, recursive=True)
        infos = self._retried(lambda: self._files.get_file_info(selector))
        files = [(info.path.removeprefix(f"{self._root}/"), info) for info in infos if self._is_file(info)]
        return sorted((path, info.size, _changed(info)) for path, info in files if OWN.fullmatch(path))

    def remove_if_old(self, path: str, before: float) -> bool:
        """Remove a file unless it was changed since the time `before`. Returns whether it was removed."""
        info = self._info(f"{self._root}/{path}")
        old = self._is_file(info) and _changed(info) < before
        if old:
            self._retried(lambda: self._files.delete_file(info.path))
        return old

    def _forget(self, step: str) -> None:
        with contextlib.suppress(OSError):
            self._files.delete_file(self._list(step))

    def _list(self, step: str) -> str:
        return f"{self._root}/steps/{step}.json"

    def _piece_path(self, digest: str) -> str:
        return f"{self._root}/pieces/{digest[:2]}/{digest}"

    def _exists(self, path: str) -> bool:
        return self._is_file(self._info(path))

    def _info(self, path: str) -> Any:
        return self._retried(lambda: self._files.get_file_info(path))

    def _is_file(self, info: Any) -> bool:
        return bool(info.type == self._fs.FileType.File)

    def _read(self, path: str, size: int) -> bytes | None:
        """The first bytes of a file, `size` at most; None if the file is missing."""

        def read() -> bytes | None:
            try:
                with self._opened(path) as stream:
                    return bytes(stream.read(size))
            except FileNotFoundError:
                return None

        return self._retried(read)

    def _write(self, path: str, data: bytes) -> None:
        """Write a file that is there whole or not at all. An object store ensures this by itself."""

        def write() -> None:
            folder = path.rpartition("/")[0]
            target = f"{folder}/.{uuid.uuid4().hex}" if self._on_disk else path
            if self._on_disk:
                self._files.create_dir(folder, recursive=True)
            try:
                with self._files.open_output_stream(target) as stream:
                    stream.write(data)
                if self._on_disk:
                    self._files.move(target, path)
            except BaseException:
                if self._on_disk:
                    with contextlib.suppress(OSError):
                        self._files.delete_file(target)
                raise

        self._retried(write)

    def _retried(self, transfer: Callable[[], T]) -> T:
        """The result of a transfer. A failed transfer is tried again a few times."""
        for pause in (*PAUSES, None):
            try:
                result = transfer()
                self.is_reached = True
                return result
            except OSError as error:
                what = str(error).splitlines()[0]
                denied = isinstance(error, PermissionError) or error.errno == errno.EROFS
                if denied or "ACCESS_DENIED" in what or "AccessDenied" in what:
                    raise Refused(what) from error
                if pause is None:
                    advice = "check the address and the network; finished steps are kept here"
                    raise HarnessError(f"{self.address}: {what}; {advice}") from error
                if time.monotonic() - self._told > TOLD_EVERY:
                    self._told = time.monotonic()
                    self.note(f"{self.address}: {what}; trying again")
                time.sleep(pause)
        raise AssertionError


class Refused(HarnessError):
    """The remote denies this user an operation."""


def _changed(info: Any) -> float:
    """The time of a file's last change, in seconds since 1970."""
    return float(info.mtime.timestamp()) if info.mtime is not None else time.time()


def _unheard(text: str) -> None:
    """Ignores a note; used if nobody reads the notes."""
