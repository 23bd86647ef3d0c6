"""Attacks by a remote: what it may hold instead of what was pushed, by a table and by seeded mutations."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import orjson

from harness.store import recorded
from harness.store.manifest import MANIFEST

Lie = Callable[[Path, str, Path], None]  # changes a remote, about a step, with a user's file as its target
VALUES: list[Any] = [
    None, {}, [], [[]], 5, -1, 1e308, 2**63, True, "", "x" * 70_000, "\0", "../victim.txt", "/etc/passwd",
    "0" * 63, "G" * 64, "A" * 64, "0" * 64 + "\n", {"": {}}, ["0" * 64] * 40, [None], "\u202e\u200b", "1e9",
]  # fmt: skip
NAMES = [
    "../../victim.txt", "../../../../../../victim.txt", "inner/../../../victim.txt", "..\\..\\victim.txt", "..",
    ".", "", "/", "//victim.txt", "a\0b", "x" * 300, "d/" * 700 + "f", "\u00e9" * 200, "empty/below", "large/a/b",
    "manifest.json/below", "C:\\victim.txt", "\x1b[2J", "a\nb", "inner//file", "inner/./file", "\u202efile",
]  # fmt: skip
BODIES = [
    b"", b"{}", b"null", b"5", b'"\\u0000"', b"[" * 100_000, b'{"a":' * 5_000, b"\xff\xfe", b'{"step":"\\ud800"}',
    b"[{}]", b'{"step":5,"size":0,"files":{}}', b'{"size":0,"files":{}}', b"NaN", b"{" * 3, b"\0" * 64,
]  # fmt: skip


def seal(body: bytes) -> bytes:
    return body + b"\n" + hashlib.sha256(body).hexdigest().encode()


def listed(shared: Path, step: str) -> dict[str, Any]:
    return orjson.loads(list_of(shared, step).read_bytes().rpartition(b"\n")[0])


def list_of(shared: Path, step: str) -> Path:
    return shared / "steps" / f"{step}.json"


def piece_of(shared: Path, digest: str) -> Path:
    return shared / "pieces" / digest[:2] / digest


def relist(shared: Path, step: str, content: Any) -> None:
    list_of(shared, step).write_bytes(recorded.sealed(content))


def put(shared: Path, data: bytes) -> str:
    """Add a piece, and return its digest."""
    digest = hashlib.sha256(data).hexdigest()
    piece_of(shared, digest).parent.mkdir(parents=True, exist_ok=True)
    piece_of(shared, digest).write_bytes(data)
    return digest


def remanifest(shared: Path, step: str, data: bytes) -> None:
    """Replace the manifest and name it in the list, so that all digests are right."""
    content = listed(shared, step)
    content["files"][MANIFEST] = [put(shared, data)]
    relist(shared, step, content)


def manifest_of(shared: Path, step: str) -> Any:
    [digest] = listed(shared, step)["files"][MANIFEST]
    return orjson.loads(piece_of(shared, digest).read_bytes().rstrip(b"\n").rpartition(b"\n")[0])


def table() -> Iterator[tuple[str, Lie]]:
    """Every body in place of the list and of the manifest, every name in both, and files that are none."""
    for i, body in enumerate(BODIES):
        yield (
            f"list {i}",
            lambda shared, step, _, body=body: list_of(shared, step).write_bytes(seal(body)) and None,
        )
        yield f"manifest {i}", lambda shared, step, _, body=body: remanifest(shared, step, seal(body) + b"\n")
    for i, name in enumerate(NAMES):
        yield f"name {i}", lambda shared, step, _, name=name: _rename(shared, step, name)
    for what, make in {
        "link": _link,
        "pipe": _pipe,
        "folder": _folder,
        "endless": _endless,
        "vast": _vast,
    }.items():
        yield (
            f"list: {what}",
            lambda shared, step, victim, make=make: _swap(list_of(shared, step), victim, make),
        )
        yield (
            f"piece: {what}",
            lambda shared, step, victim, make=make: (
                [
                    _swap(piece_of(shared, digest), victim, make)
                    for digest in listed(shared, step)["files"]["large"]
                ]
                and None
            ),
        )
    yield "a digest that is a path", _path_as_digest
    yield (
        "a piece forty times",
        lambda shared, step, _: _change(
            shared, step, lambda content: content["files"].update(large=content["files"]["large"][:1] * 40)
        ),
    )


def mutation(seed: int) -> Lie:
    """A random change of the list, the manifest or a piece, most often with right digests around it."""
    draw = Random(seed)

    def lie(shared: Path, step: str, victim: Path) -> None:
        target = draw.choice(("list", "list", "manifest", "manifest", "piece"))
        if target == "piece":
            digests = [digest for pieces in listed(shared, step)["files"].values() for digest in pieces]
            path = piece_of(shared, draw.choice(digests))
            path.write_bytes(_damaged(path.read_bytes(), draw))
            return
        content = listed(shared, step) if target == "list" else manifest_of(shared, step)
        for _ in range(draw.randint(1, 3)):
            _mutate(content, draw)
        data = recorded.sealed(content)
        if draw.random() < 0.1:
            data = _damaged(data, draw)
        if target == "list":
            list_of(shared, step).write_bytes(data)
        else:
            remanifest(shared, step, data + b"\n")

    return lie


def _mutate(content: Any, draw: Random) -> None:
    """Change one random place of a JSON value: replace, remove, add, or rename."""
    places = list(_places(content))
    if not places:
        return
    inside, key = draw.choice(places)
    way = draw.choice(("replace", "replace", "remove", "add", "rename"))
    if way == "remove":
        del inside[key]
    elif way == "rename" and isinstance(inside, dict):
        inside[draw.choice(NAMES)] = inside.pop(key)
    elif way == "add" and isinstance(inside, dict):
        inside[draw.choice(NAMES)] = inside[key]
    elif way == "add":
        inside.extend([inside[key]] * draw.choice((1, 40)))
    else:
        inside[key] = draw.choice(VALUES)
    _cut(content)


def _cut(content: Any) -> None:
    """orjson writes no whole numbers beyond 64 bits."""
    for inside, key in _places(content):
        if isinstance(inside[key], int) and not -(2**63) <= inside[key] < 2**64:
            inside[key] = 2**63


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in list(items):
        yield content, key
        yield from _places(value)


def _damaged(data: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(data) + 1)
    return draw.choice((data[:place], data + b"x", data[:place] + b"\0" + data[place + 1 :], b"", data * 2))


def _change(shared: Path, step: str, change: Callable[[Any], object]) -> None:
    content = listed(shared, step)
    change(content)
    relist(shared, step, content)


def _rename(shared: Path, step: str, name: str) -> None:
    manifest, content = manifest_of(shared, step), listed(shared, step)
    for files in (manifest["files"], content["files"]):
        files[name] = files.pop("inner/file")
    relist(shared, step, content)
    remanifest(shared, step, recorded.sealed(manifest) + b"\n")


def _path_as_digest(shared: Path, step: str, victim: Path) -> None:
    up = os.path.relpath(victim, shared / "pieces" / "..")
    _change(shared, step, lambda content: content["files"].update(large=[f"../{up}", str(victim)]))


def _swap(path: Path, victim: Path, make: Callable[[Path, Path], None]) -> None:
    path.unlink(missing_ok=True)
    make(path, victim)


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _pipe(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path, victim: Path) -> None:
    path.mkdir()


def _endless(path: Path, victim: Path) -> None:
    path.symlink_to("/dev/zero")


def _vast(path: Path, victim: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)  # of zeros that take no room
