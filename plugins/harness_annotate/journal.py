"""The log of a judging folder: an append-only SQLite file, chained by digests."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness.plugin import HarnessError, StoreError, shown_path
from harness_annotate import events
from harness_annotate.events import AnyEvent
from harness_annotate.state import NotAllowed, State

FILE = "judging.sqlite"
START = "0" * 64  # the digest before the first event
WAIT = 120.0  # seconds to wait for another process that writes
TABLES = """
CREATE TABLE IF NOT EXISTS log (
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS never_changed BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS never_removed BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""


class Entry(NamedTuple):
    seq: int
    at: str
    body: str
    digest: str


class Journal:
    """The log with its state. Several threads and processes may share the file. A transaction sees everything
    that is committed, and nobody else writes until it ends."""

    def __init__(self, folder: Path, create: bool = False) -> None:
        self.path = folder / FILE
        self._lock = threading.RLock()
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        elif not self.path.is_file():
            raise HarnessError(f"{shown_path(folder)}: is no judging folder; begin one with --scheme")
        if not self.path.exists():
            self.path.touch(mode=0o600)  # the log holds people's names and judgements
        try:
            self._db = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")  # a commit is on disk before anyone is told of it
            self._db.executescript(TABLES)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        self._reset()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def reading(self) -> Iterator[State]:
        """The state of everything that is committed."""
        with self._lock:
            self._follow()
            yield self._state

    @contextmanager
    def writing(self) -> Iterator[tuple[State, Callable[[AnyEvent], None]]]:
        """The state, and a function that appends an event to the log and applies it. All events are committed
        at the end; after an exception, none is."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                raise _unusable(self.path, error) from None
            try:
                self._follow()
                self._appended = False
                yield self._state, self._append
                self._db.execute("COMMIT")
            except BaseException as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if self._appended:
                    self._reset()  # applied events are not in the log
                if isinstance(error, sqlite3.Error):
                    raise _unusable(self.path, error) from None
                raise

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries after that number. Raises StoreError if the file cannot be read."""
        rows = self._db.execute("SELECT seq, at, body, digest FROM log WHERE seq > ? ORDER BY seq", (after,))
        try:
            yield from map(Entry._make, rows)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None

    def last_digest(self) -> str:
        with self._lock:
            self._follow()
            return self._digest

    def _reset(self) -> None:
        self._state, self._seq, self._digest, self._appended = State(), 0, START, False

    def _follow(self) -> None:
        """Applies the entries that others have appended."""
        try:
            for entry in self.entries(self._seq):
                apply(self._state, entry, self._digest, self._seq + 1)
                self._seq, self._digest = entry.seq, entry.digest
        except NotAllowed as error:
            self._reset()
            where = shown_path(self.path)
            raise HarnessError(f"{where}: the log is damaged ({error}); restore a copy of it") from None
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None

    def _append(self, event: AnyEvent) -> None:
        at, body = now(), events.encode(event)
        self._appended = True
        self._state.apply(event, at)
        digest = chained(self._digest, at, body)
        self._db.execute("INSERT INTO log VALUES (?, ?, ?, ?)", (self._seq + 1, at, body, digest))
        self._seq, self._digest = self._seq + 1, digest


def apply(state: State, entry: Entry, before: str, seq: int) -> None:
    """Applies one entry, which must follow the entry with the digest `before`. Raises NotAllowed for an entry
    that is missing, was changed, or is not allowed at this place."""
    if entry.seq != seq:
        raise NotAllowed(f"entry {seq} is missing")
    if entry.digest != chained(before, entry.at, entry.body):
        raise NotAllowed(f"entry {entry.seq} was changed")
    try:
        state.apply(events.DECODER.decode(entry.body), entry.at)
    except (NotAllowed, msgspec.MsgspecError, TypeError, ValueError) as error:  # such as a time that is none
        raise NotAllowed(f"entry {entry.seq}: {error}") from None


def chained(before: str, at: str, body: str) -> str:
    return hashlib.sha256(f"{before}\n{at}\n{body}".encode()).hexdigest()


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _unusable(path: Path, error: sqlite3.Error) -> StoreError:
    return StoreError(f"{shown_path(path)}: cannot be used ({error}); check the disk and the file")
