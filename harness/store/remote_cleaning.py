"""Finds and removes files of a remote store that nothing needs: pieces of no artifact, and old parts."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from harness.store.remote import FRESH_SECONDS, THREADS, Damaged, Remote

PART_SECONDS = 30 * 24 * 3600  # a part may wait this long for the others of its step


class Entry(NamedTuple):
    """A file of a remote store."""

    path: str  # relative to the store
    size: int
    changed: float  # seconds since 1970


def unneeded(remote: Remote, before: float) -> list[Entry]:
    """The files that no run needs and that were last changed before the time `before`. These are lists of
    parts that were never joined, damaged lists, files that killed runs left, and pieces that no other list
    names. No push may still rely on a piece that was last changed before `before`. This holds if `before` is
    more than FRESH_SECONDS ago, because a push writes older pieces again."""
    assert time.time() - before > FRESH_SECONDS
    before_of_parts = min(before, time.time() - PART_SECONDS)
    pieces = [entry for entry in _entries(remote, "pieces") if entry.changed < before]
    lists = _entries(remote, "steps")
    with ThreadPoolExecutor(THREADS) as pool:
        named = list(pool.map(lambda entry: _pieces_of(remote, entry), lists))
    needed: set[str] = set()
    unneeded_lists = []
    for entry, digests in zip(lists, named, strict=True):
        is_old_part = entry.path.startswith("steps/part-") and entry.changed < before_of_parts
        if is_old_part or (digests is None and entry.changed < before):
            unneeded_lists.append(entry)
        else:
            needed |= digests or set()
    return [*unneeded_lists, *(entry for entry in pieces if entry.path.rpartition("/")[2] not in needed)]


def remove(remote: Remote, entries: list[Entry], before: float, removed: Callable[[Entry], None]) -> int:
    """Remove these files, except those that were written again meanwhile. Returns the bytes freed."""
    freed = 0
    for entry in entries:
        if remote.remove_if_old(entry.path, before):
            freed += entry.size
            removed(entry)
    return freed


def _entries(remote: Remote, folder: str) -> list[Entry]:
    return [Entry(*entry) for entry in remote.entries(folder)]


def _pieces_of(remote: Remote, entry: Entry) -> set[str] | None:
    """The digests of the pieces that a list names; None if the file is no list, or is damaged."""
    name = entry.path.removeprefix("steps/")
    try:
        listed = None if name.startswith(".") else remote.listed(name.removesuffix(".json"))
    except Damaged:
        return None
    return None if listed is None else {digest for pieces in listed.files.values() for digest in pieces}
