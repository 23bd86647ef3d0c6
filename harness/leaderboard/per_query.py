"""The values of each query that a leaderboard's rows cite: read, and checked against their digest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from harness.errors import HarnessError
from harness.leaderboard.board_file import Leaderboard
from harness.problems import shown_path
from harness.store import disk
from harness.types import JSON

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

PARTS = (" numerator", " denominator")  # the two columns of a measure whose mean is a ratio of sums


class PerQuery(NamedTuple):
    """One row's file: its queries in order, and every column of it by its heading."""

    queries: pa.StringArray
    columns: dict[str, Values]  # float64[Q] each

    def values(self, label: str) -> Values | None:
        """float64[Q]: the measure for each query, of a ratio of sums each query's own ratio (NaN where
        nothing is counted); None if the row was not scored by it."""
        if label in self.columns:
            return self.columns[label]
        numerator, denominator = (self.columns.get(label + part) for part in PARTS)
        if numerator is None or denominator is None:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(numerator / denominator)


def cited(board: Leaderboard, row: JSON, file: str) -> Path | None:
    """Where a file that a row cites lies, if it is here. Raises HarnessError for one that was changed,
    or that lies elsewhere than below the leaderboard."""
    found = row["files"].get(file)
    if found is None:
        return None
    path: Path = board.folder / str(found["path"])
    if not path.resolve().is_relative_to(board.folder.resolve()):
        where = f"{row['dataset']} / {row['system']}"
        raise HarnessError(f"{where}: cites '{found['path']}', outside of its folder; mend the leaderboard")
    if not path.is_file():
        return None
    if disk.sha256(path) != found["sha256"]:
        what = "is not the file that the leaderboard cites (its SHA-256 differs)"
        raise HarnessError(f"{shown_path(path)}: {what}; run the suite again")
    return path


def read(board: Leaderboard, row: JSON) -> PerQuery | None:
    """The per-query values of a row, None if they are not kept here."""
    path = cited(board, row, "per_query")
    return None if path is None else parse(path)


def parse(path: Path) -> PerQuery:
    """Such a file: tabs, a heading, one line a query."""
    where = shown_path(path)
    try:
        with path.open("rb") as file:
            heads = file.readline().decode().rstrip("\n").split("\t")
        types = {head: pa.float64() for head in heads[1:]} | {"query": pa.string()}
        table = pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise HarnessError(f"{where}: cannot be read ({error}); run the suite again") from None
    if heads[:1] != ["query"]:
        raise HarnessError(f"{where}: has no column 'query'; run the suite again")
    columns = {head: table.column(head).to_numpy() for head in heads[1:]}
    return PerQuery(table.column("query").combine_chunks(), columns)
