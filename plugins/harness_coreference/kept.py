"""Keeps the rows of a file by id in a temporary database on disk, whatever their order and number."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from harness.plugin import JSON, HarnessError

_SOME = 500  # ids looked up at a time


class Row(NamedTuple):
    id: str
    line: int
    file: str
    value: str


class Kept:
    """Rows by id. They do not fill the memory: SQLite keeps them in a file that is removed with the
    object."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = sqlite3.connect("")
        weakref.finalize(self, self._rows.close)
        self._rows.execute("CREATE TABLE kept (id TEXT PRIMARY KEY, line, file, value, asked) WITHOUT ROWID")
        self.size = 0
        for row in rows:
            try:
                self._rows.execute("INSERT INTO kept VALUES (?, ?, ?, ?, 0)", row)
            except sqlite3.IntegrityError:
                raise HarnessError(
                    f"{row.file}:{row.line}: the id '{row.id}' stands a second time; leave one of them"
                ) from None
            self.size += 1
        self._rows.commit()

    def get(self, id: str) -> Row | None:
        row = self._rows.execute("SELECT id, line, file, value FROM kept WHERE id = ?", (id,)).fetchone()
        return Row(*row) if row else None

    def lacking(self, ids: Iterable[str]) -> Iterator[str]:
        """Yields the ids without a row, in order, and marks the rows of all other ids as used."""
        ids = iter(ids)
        while some := list(islice(ids, _SOME)):
            marks = ",".join("?" * len(some))
            rows = self._rows.execute(f"SELECT id FROM kept WHERE id IN ({marks})", some)
            present = {id for (id,) in rows}
            self._rows.execute(f"UPDATE kept SET asked = 1 WHERE id IN ({marks})", some)
            yield from (id for id in some if id not in present)

    def unasked(self) -> tuple[int, Row | None]:
        """The number of rows that `lacking` was never asked for, and the first of them by file and line."""
        (count,) = self._rows.execute("SELECT count(*) FROM kept WHERE NOT asked").fetchone()
        query = "SELECT id, line, file, value FROM kept WHERE NOT asked ORDER BY file, line LIMIT 1"
        row = self._rows.execute(query).fetchone()
        return count, Row(*row) if row else None


def absent(path: Path, what: str, id: str) -> HarnessError:
    return HarnessError(
        f"{path}: there is nothing for the {what} '{id}' of the corpus; "
        f"add it, or leave such {what}s as they are with missing: skip"
    )


def matched(
    kept: Kept, ids: Iterable[str], what: str, path: Path, missing: str, unknown: str
) -> dict[str, JSON]:
    """Counts, as facts: the ids in the file, the corpus' ids that the file lacks, and the file's ids that the
    corpus lacks. With `refuse` for `missing` or `unknown`, the first such id raises HarnessError. A file
    without any id of the corpus is always refused."""
    lacking = 0
    for id in kept.lacking(ids):
        if missing == "refuse":
            raise absent(path, what, id)
        lacking += 1
    unasked, first = kept.unasked()
    if first is not None and unasked == kept.size:
        raise HarnessError(f"{path}: it has no {what} of the corpus; check that it was made for this corpus")
    if first is not None and unknown == "refuse":
        raise HarnessError(
            f"{first.file}:{first.line}: the corpus has no {what} '{first.id}'; "
            "take the file of this corpus, or read past such rows with unknown: skip"
        )
    return {
        f"{what}s_in_file": kept.size,
        f"{what}s_not_in_file": lacking,
        f"{what}s_not_in_corpus": unasked,
    }
