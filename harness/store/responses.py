"""The answers of services and their prices in one SQLite file of the store, so nothing is asked twice."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.store import disk
from harness.types import JSON

CACHED = "cached_tokens"  # the event that counts input tokens which a service had in its cache
WAIT = 180.0  # seconds to wait while another process writes
_TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (
  id INTEGER PRIMARY KEY, account TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, money REAL NOT NULL);
CREATE INDEX IF NOT EXISTS by_account ON requests (account);
CREATE INDEX IF NOT EXISTS by_step ON requests (step);
CREATE TABLE IF NOT EXISTS events (
  step TEXT NOT NULL, event TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (step, event)) WITHOUT ROWID;
"""
_SUM = (
    "SELECT COUNT(*), SUM(state <> 'paid'), SUM(input_tokens), SUM(output_tokens), SUM(money) FROM requests"
)


class Charge(NamedTuple):
    """The cost of one request, or the most that it may cost."""

    input_tokens: int
    output_tokens: int
    money: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Spent(NamedTuple):
    """The cost of several requests. A request is unsure if its price is not known, because the run was killed
    or no whole answer came. Unsure requests count with the most that they may have cost."""

    requests: int
    unsure: int  # how many of the requests are unsure
    input_tokens: int
    output_tokens: int
    money: float

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Responses:
    """The answers of services, by the digest of each question, and a ledger of the requests. Threads and
    processes may share the file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "responses.sqlite"
        self._lock = threading.Lock()
        with disk.explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(self.path, WAIT, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA synchronous = FULL")  # paid answers outlive a stop of the machine
        self._database.executescript(_TABLES)

    def close(self) -> None:
        self._database.close()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def reserve(
        self, account: str, step: str, most: Charge, tokens: int | None, money: float | None
    ) -> int | None:
        """The number of a new request, which is entered before it is sent. None if the request may cost more
        than is left of the account's budget. `most` is the most that the request may cost; `tokens` and
        `money` are the budget of the account over all its requests, with None for no limit."""
        with self._writing() as database:
            spent = self._sum(database, "account", account)
            if tokens is not None and spent.tokens + most.tokens > tokens:
                return None
            if money is not None and spent.money + most.money > money:
                return None
            values = (account, step, *most)
            return database.execute(
                "INSERT INTO requests (account, step, state, input_tokens, output_tokens, money) "
                "VALUES (?, ?, 'sent', ?, ?, ?)", values,
            ).lastrowid  # fmt: skip

    def settle(self, request: int, charge: Charge | None, answers: Mapping[str, bytes]) -> None:
        """Keep a request's answers and its price in one transaction. With `charge` None, the price stays the
        most that the request may cost."""
        with self._writing() as database:
            if charge is not None:
                database.execute(
                    "UPDATE requests SET state = 'paid', input_tokens = ?, output_tokens = ?, money = ? "
                    "WHERE id = ?", (*charge, request),
                )  # fmt: skip
            database.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", answers.items())

    def release(self, request: int) -> None:
        """Remove a request that the service refused, and so did not charge."""
        with self._writing() as database:
            database.execute("DELETE FROM requests WHERE id = ?", (request,))

    def count(self, step: str, event: str, times: int = 1) -> None:
        """Add to the count of an event in a step, such as a kept answer, or a retry with its reason."""
        with self._writing() as database:
            database.execute(
                "INSERT INTO events VALUES (?, ?, ?) "
                "ON CONFLICT (step, event) DO UPDATE SET count = count + excluded.count",
                (step, event, times),
            )

    def spent_by(self, account: str) -> Spent:
        with self._lock:
            return self._sum(self._database, "account", account)

    def spent_in(self, step: str) -> tuple[Spent, dict[str, int]]:
        """The cost of a step's requests, and the number of times that each event happened."""
        with self._lock:
            spent = self._sum(self._database, "step", step)
            events = self._database.execute(
                "SELECT event, count FROM events WHERE step = ? ORDER BY event", (step,)
            )
            return spent, dict(events.fetchall())

    @staticmethod
    def _sum(database: sqlite3.Connection, column: str, value: str) -> Spent:
        row = database.execute(f"{_SUM} WHERE {column} = ?", (value,)).fetchone()
        return Spent(*(item or 0 for item in row))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. No other process writes while it is open."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise


def of_step(folder: Path, step: str) -> dict[str, JSON] | None:
    """The cost of a step's requests to services, in the form of a step's cost, or None if there were none."""
    if not (folder / "responses.sqlite").exists():
        return None
    responses = Responses(folder)
    spent, events = responses.spent_in(step)
    responses.close()
    if not spent.requests and not events:
        return None
    retries = {name.removeprefix("retry: "): n for name, n in events.items() if name.startswith("retry: ")}
    return {
        **spent._asdict(),
        "money": round(spent.money, 6),
        "kept": events.get("kept", 0),
        CACHED: events.get(CACHED, 0),
        "retries": retries,
    }
