"""Reads plain or compressed files as chunks of whole lines; errors name the file and the line."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import zstandard

from harness.errors import Fault, HarnessError
from harness.step_context import CURRENT

Chunk: TypeAlias = bytes | memoryview
S = TypeVar("S", bytes, Chunk)
_CHUNK = 1 << 20  # bytes; the data decoded from a chunk fits the processor's cache
_PIECE = 1 << 16  # compressed bytes; decompressed, they may be a thousand times as many
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_LFS = b"version https://git-lfs.github.com/spec/v1"
_BOM = b"\xef\xbb\xbf"


def refuse(path: Path, line: int, what: str) -> NoReturn:
    """Raises Fault at a line of a file. `what` is the fault and, after a semicolon, what to do."""
    raise Fault(path, line, what)


def has_left_out(path: Path) -> bool:
    """Whether lines of the file are read as empty because they have faults, while the next fault is looked
    for. What such a line may hold is not missing."""
    return path in CURRENT.get().left_out


class _Damaged(Exception):
    """Compressed data is damaged; the message says how, and what to do."""


def chunks(path: Path) -> Iterator[tuple[int, Chunk]]:
    """Yields the decompressed file in chunks of whole lines, each with the number of its first line. Only
    b"\\n" ends a line; the last line may lack it. A byte order mark at the start is dropped."""
    line, left_out = 1, CURRENT.get().left_out.get(path, ())
    try:
        for chunk in _whole_lines(path):
            if left_out:
                chunk = _without(chunk, line, left_out)
            yield line, chunk[len(_BOM) :] if line == 1 and chunk[: len(_BOM)] == _BOM else chunk
            line += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == 10))
            if chunk[-1] != 10:
                return
    except _Damaged as damage:
        refuse(path, line, str(damage))
    if line == 1:
        refuse(path, 1, "the file is empty; check what wrote it, or copy it again")


def _without(chunk: Chunk, first: int, left_out: Container[int]) -> Chunk:
    """The chunk with nothing in these lines."""
    lines = bytes(chunk).split(b"\n")
    return b"\n".join(b"" if number in left_out else line for number, line in enumerate(lines, start=first))


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields every line that is not blank, without its line end, with its number."""
    for first, chunk in chunks(path):
        yield from lines_of(first, chunk)


def lines_of(first: int, chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    for number, line in every_line_of(first, chunk):
        if line and not line.isspace():
            yield number, line


def every_line_of(first: int, chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """Yields every line of a chunk with its number, also blank ones: line numbers may have a meaning."""
    pieces = bytes(chunk).split(b"\n")
    if not pieces[-1]:  # the empty piece after the last line's end
        pieces.pop()
    for number, line in enumerate(pieces, start=first):
        yield number, line.removesuffix(b"\r")


def text_of(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        refuse(path, number, f"byte {error.start + 1} of the line is not valid UTF-8; save the file as UTF-8")


def pieces(path: Path) -> Iterator[bytes]:
    """Yields the decompressed file in pieces, even of a line, for files that are one long line."""
    line = 1
    try:
        for piece in _contents(path, _read, lambda inflated: inflated):
            yield piece
            line += piece.count(b"\n")
    except _Damaged as damage:
        refuse(path, line, str(damage))


@contextmanager
def opened(path: Path) -> Iterator[FileIO]:
    """The open file, for reading its raw bytes. Raises HarnessError if the system refuses to open it, or if
    it is a Git LFS pointer."""
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(len(_LFS))
            file.seek(0)
            if head == _LFS:
                refuse(path, 1, "this is a Git LFS pointer, not the data; fetch the data with: git lfs pull")
            yield file
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise HarnessError(f"{path}: it cannot be read: {what}; check the path and its permissions") from None


def _whole_lines(path: Path) -> Iterator[Chunk]:
    return _contents(path, _plain, _joined)


def _contents(
    path: Path, plain: Callable[[FileIO], Iterator[S]], packed: Callable[[Iterator[bytes]], Iterator[S]]
) -> Iterator[S]:
    """The contents of a file: read by `plain`, or decompressed and passed through `packed`."""
    with opened(path) as file:
        head = file.read(len(_ZSTD))
        file.seek(0)
        if path.suffix == ".gz":
            _check_kind(path, head, _GZIP, "gzip")
            yield from packed(_inflated(_read(file), _gzip, "gzip"))
        elif path.suffix == ".zst":
            _check_kind(path, head, _ZSTD, "Zstandard")
            yield from packed(_inflated(_read(file), _zstd, "Zstandard"))
        else:
            for magic, suffix in ((_GZIP, ".gz"), (_ZSTD, ".zst")):
                if head.startswith(magic):
                    refuse(path, 1, f"the data is compressed; let the name end in {suffix}")
            yield from plain(file)


def _check_kind(path: Path, head: bytes, magic: bytes, kind: str) -> None:
    if head and not head.startswith(magic):
        refuse(path, 1, f"this is not {kind} data, as the name says; rename the file or copy it again")


def _plain(file: FileIO) -> Iterator[memoryview]:
    """Yields chunks of whole lines. Bytes after the last line end are read again, not copied."""
    size = _CHUNK
    while data := file.read(size):
        end = data.rfind(b"\n") + 1
        if not end and len(data) == size:  # the line is longer than `size`
            size *= 2
        else:
            end = end or len(data)
            yield memoryview(data)[:end]
            size = _CHUNK
        file.seek(end - len(data), os.SEEK_CUR)


def _joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []  # the beginning of a line that continues in the next piece
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, piece[:end]])
            rest = []
        rest.append(piece[end:])
    if any(rest):
        yield b"".join(rest)


def _read(file: FileIO) -> Iterator[bytes]:
    while data := file.read(_PIECE):
        yield data


def _gzip() -> Any:
    return zlib.decompressobj(wbits=31)


def _zstd() -> Any:
    return zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj()


def _inflated(pieces: Iterable[bytes], make: Callable[[], Any], kind: str) -> Iterator[bytes]:
    """Yields the data of one or more compressed members, one after the other. Zeros may pad the members."""
    member, started = make(), False
    held: list[bytes] = []
    size = 0
    damage = ""
    try:
        for piece in pieces:
            while piece := piece if started else piece.lstrip(b"\0"):
                started = True
                held.append(member.decompress(piece))
                size += len(held[-1])
                piece = b""
                if member.eof:
                    piece, member, started = member.unused_data, make(), False
            if size >= _CHUNK:
                yield b"".join(held)
                held, size = [], 0
        if started:
            damage = f"the {kind} data ends early, at or after this line; copy the file again"
    except (zlib.error, zstandard.ZstdError):
        damage = f"the {kind} data is damaged, at or after this line; copy the file again"
    yield b"".join(held)  # before the error, so that these lines are counted
    if damage:
        raise _Damaged(damage)
