"""Lists the files below a folder that are opened meanwhile, by whatever code, as Linux's inotify tells."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IN_OPEN, IN_ISDIR = 0x20, 0x40000000
HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name


@contextmanager
def opened(folder: Path) -> Iterator[set[Path]]:
    """The set is filled when the body has ended."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    files: set[Path] = set()
    try:
        below = (path for path in folder.rglob("*") if path.is_dir())
        watches = {
            libc.inotify_add_watch(descriptor, os.fsencode(path), IN_OPEN): path for path in (folder, *below)
        }
        yield files
        while data := _events(descriptor):
            while data:
                watch, mask, _, length = HEAD.unpack_from(data)
                name = data[HEAD.size : HEAD.size + length].rstrip(b"\0")
                if name and not mask & IN_ISDIR:
                    files.add(watches[watch] / os.fsdecode(name))
                data = data[HEAD.size + length :]
    finally:
        os.close(descriptor)


def _events(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 20)
    except BlockingIOError:
        return b""
