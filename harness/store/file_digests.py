"""Digests of the user's files and folders, which enter the keys of steps. They are remembered."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import NamedTuple

import orjson

from harness.errors import HarnessError
from harness.store import disk

YOUNG = 2_000_000_000  # nanoseconds: a file that changed less long ago is hashed again


class FileDigests(NamedTuple):
    folder: Path  # one small file for each file whose digest is remembered

    def of(self, path: Path) -> str:
        """The digest of a file's contents, or of a folder's file names and their contents. It is remembered
        while size, time stamp and inode stay the same. Raises HarnessError for a file that cannot be read."""
        if path.is_dir():
            listed = [[item.relative_to(path).as_posix(), self.of(item)] for item in _files_in(path)]
            return _sha(orjson.dumps(listed))
        try:
            return self._of_file(path)
        except OSError as error:
            what = (error.strerror or str(error)).lower()
            raise HarnessError(
                f"{path}: it cannot be read: {what}; check the file and its permissions"
            ) from error

    def _of_file(self, path: Path) -> str:
        stamp = _stamp(path)
        memo = self.folder / f"{_sha(os.fsencode(path.absolute()))}.json"
        try:
            known = orjson.loads(memo.read_bytes())
            if tuple(known["stamp"]) == stamp:
                return str(known["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        content_key = disk.content_key(path)
        # a file that was written just now could change again under the same time stamp
        if time.time_ns() - stamp[2] > YOUNG:
            with contextlib.suppress(OSError):  # the file only saves time, and the store may be read-only
                disk.replace_file(memo, orjson.dumps({"stamp": stamp, "sha256": content_key}))
        return content_key

    def folder_with(self, digest: str) -> Path | None:
        """A folder with these contents, if the digests of all its files are remembered. No file is read."""
        remembered: dict[Path, str] = {}
        for memo in self.folder.glob("*.json"):
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                known = orjson.loads(memo.read_bytes())
                if tuple(known["stamp"]) == _stamp(path := Path(known["stamp"][0])):
                    remembered[path] = known["sha256"]
        inside: dict[Path, list[Path]] = {}
        for path in sorted(remembered):
            for folder in path.parents:
                inside.setdefault(folder, []).append(path)
        for folder, paths in sorted(inside.items()):
            listed = [[path.relative_to(folder).as_posix(), remembered[path]] for path in paths]
            if _sha(orjson.dumps(listed)) == digest and _files_in(folder) == paths:
                return folder
        return None


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _stamp(path: Path) -> tuple[str, int, int, int]:
    status = path.stat()
    return str(path.absolute()), status.st_size, status.st_mtime_ns, status.st_ino


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
