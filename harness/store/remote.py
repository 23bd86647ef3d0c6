"""A store that several machines share: finished artifacts in an object store or on a file server.

The remote holds pieces of files, named by their SHA-256, and one list per step. The list is written after all
pieces of the step, so an artifact without a list does not exist.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from harness.errors import HarnessError
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import MANIFEST, Corrupt
from harness.store.remote_address import opened, shown

PIECE = 1 << 26  # bytes of a piece at most; a broken transfer repeats at most one piece
THREADS = 8  # transfers at once
PAUSES = (0.2, 1.0, 4.0)  # seconds before each retry of a failed transfer
FRESH_SECONDS = 12 * 3600.0  # a push writes an older piece again, because `cache gc` may remove it
TOLD_EVERY = 10.0  # seconds between two notes on failed transfers
Note = Callable[[str], None]
T = TypeVar("T")


class Damaged(Exception):
    """An artifact of the remote differs from what was pushed."""


class Listed(NamedTuple):
    """An artifact of the remote: its files, with the pieces of which each consists."""

    step: str
    size: int
    files: dict[str, list[str]]  # relative path -> digests of its pieces, in order


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
        self.note: Note = _unheard  # told about transfers that are tried again
        self._told = -TOLD_EVERY
        try:
            self._files, root = opened(address)
        except (OSError, ValueError) as error:
            what = str(error).splitlines()[0]
            advice = "give s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or file:///FOLDER"
            raise HarnessError(f"--remote {self.address}: {what}; {advice}") from None
        self._root = root.rstrip("/")
        if not self._root and not address.startswith("file:"):
            raise HarnessError(f"--remote {self.address}: names no bucket; give s3://BUCKET/PREFIX")
        self._fs: Any = fs

    def steps(self) -> list[str]:
        """The ids of the artifacts of the remote, in order."""
        selector = self._fs.FileSelector(f"{self._root}/steps", allow_not_found=True)
        infos = self._retried(lambda: self._files.get_file_info(selector))
        return sorted(
            info.base_name.removesuffix(".json") for info in infos if not info.base_name.startswith(".")
        )

    def listed(self, step: str) -> Listed | None:
        """The list of an artifact, or None if the remote lacks the artifact. Raises Damaged."""
        data = self._read(self._list(step))
        if data is None:
            return None
        body, _, digest = data.rpartition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            raise Damaged(f"the list of {step[:24]} was changed")
        content = orjson.loads(body)
        return Listed(content["step"], content["size"], content["files"])

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
        size = sum(int(entry["size"]) for entry in artifact.files.values())
        body = orjson.dumps({"step": step, "size": size, "files": pieces}, option=orjson.OPT_SORT_KEYS)
        self._write(self._list(step), body + b"\n" + hashlib.sha256(body).hexdigest().encode())
        return True

    def fetch(self, store: Store, step: str, note: Note) -> bool:
        """Copy an artifact into the local store and verify every piece and the whole. Returns False if the
        remote lacks the artifact or holds it damaged. A damaged artifact is taken out of the remote, to be
        pushed again."""
        try:
            listed = self.listed(step)
            if listed is None:
                return False
            with store.claim(
                step, lambda: note(f"{step[:24]}: another run is making or fetching it")
            ) as folder:
                if folder is not None:
                    store.clear(folder)  # a killed run may have left other files
                    self._fetch_files(listed, folder)
                    store.adopt(step)
        except (Damaged, Corrupt) as error:
            note(f"{self.address}: {error}; it is made here instead")
            self._forget(step)
            return False
        return True

    def _fetch_files(self, listed: Listed, folder: Path) -> None:
        with ThreadPoolExecutor(THREADS) as pool, disk.explaining(folder):
            for name, digests in listed.files.items():
                path = folder / name
                if not path.resolve().is_relative_to(folder.resolve()):
                    raise Damaged(f"{listed.step[:24]} names a file outside of its folder")
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    for start in range(0, len(digests), THREADS):  # a few pieces at a time, to bound memory
                        file.writelines(pool.map(self.piece, digests[start : start + THREADS]))

    def piece(self, digest: str) -> bytes:
        """The bytes of a piece. Raises Damaged if the piece is missing or its bytes do not have the
        digest."""
        data = self._read(self._piece_path(digest))
        if data is None:
            raise Damaged(f"the piece {digest[:12]} is missing")
        if hashlib.sha256(data).hexdigest() != digest:
            with contextlib.suppress(OSError):  # a user who may not write leaves the piece
                self._files.delete_file(self._piece_path(digest))
            raise Damaged(f"the piece {digest[:12]} was changed")
        return data

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
        """The path, size and time of the last change of each file in a folder of the remote."""
        selector = self._fs.FileSelector(f"{self._root}/{folder}", allow_not_found=True, recursive=True)
        infos = self._retried(lambda: self._files.get_file_info(selector))
        files = [info for info in infos if self._is_file(info)]
        return sorted((info.path.removeprefix(f"{self._root}/"), info.size, _changed(info)) for info in files)

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

    def _read(self, path: str, size: int | None = None) -> bytes | None:
        def read() -> bytes | None:
            try:
                with self._files.open_input_stream(path) as stream:
                    return bytes(stream.read(size))
            except FileNotFoundError:
                return None

        return self._retried(read)

    def _write(self, path: str, data: bytes) -> None:
        """Write a file that is there whole or not at all. An object store ensures this by itself."""
        on_disk = self._files.type_name == "local"

        def write() -> None:
            folder = path.rpartition("/")[0]
            target = f"{folder}/.{uuid.uuid4().hex}" if on_disk else path
            if on_disk:
                self._files.create_dir(folder, recursive=True)
            try:
                with self._files.open_output_stream(target) as stream:
                    stream.write(data)
                if on_disk:
                    self._files.move(target, path)
            except BaseException:
                if on_disk:
                    with contextlib.suppress(OSError):
                        self._files.delete_file(target)
                raise

        self._retried(write)

    def _retried(self, transfer: Callable[[], T]) -> T:
        """The result of a transfer. A failed transfer is tried again a few times."""
        for pause in (*PAUSES, None):
            try:
                return transfer()
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
