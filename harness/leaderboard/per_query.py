"""Reads and writes the file of values for each query, which every scored row cites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from harness.errors import HarnessError
from harness.leaderboard import cited_files
from harness.leaderboard.board_file import Leaderboard
from harness.leaderboard.model import Row
from harness.problems import shown_path
from harness.scoring import score

Values = NDArray[np.float64]
PARTS = (" numerator", " denominator")  # the two columns of a measure whose mean is a ratio of sums


class PerQuery(NamedTuple):
    """The per-query file of one row: its queries in order, and its columns by heading."""

    queries: pa.StringArray
    columns: dict[str, Values]  # float64[Q] each

    def values(self, label: str) -> Values | None:
        """float64[Q]: the value of the measure for each query; None if the row was not scored by it. If the
        mean is a ratio of sums, a query's value is its own ratio, and NaN where its denominator is 0."""
        if label in self.columns:
            return self.columns[label]
        numerator, denominator = (self.columns.get(label + part) for part in PARTS)
        if numerator is None or denominator is None:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(numerator / denominator)


def read(board: Leaderboard, row: Row) -> PerQuery | None:
    """The per-query values of a row, or None if the file is not kept here."""
    path = cited_files.intact(board, row, "per_query")
    return None if path is None else parse(path)


def parse(path: Path) -> PerQuery:
    """Reads a per-query file: tab-separated, a heading line, then one line for each query."""
    where = shown_path(path)
    try:
        with path.open("rb") as file:
            headings = file.readline().decode().rstrip("\r\n").split("\t")
        types = {heading: pa.float64() for heading in headings[1:]} | {"query": pa.string()}
        table = pyarrow.csv.read_csv(
            path,
            parse_options=pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise HarnessError(f"{where}: cannot be read ({error}); run the suite again") from None
    if headings[0] != "query" or table.column_names != headings or len(set(headings)) < len(headings):
        problem = "its first line is not 'query' and the measures, each once, between tabs"
        raise HarnessError(f"{where}:1: {problem}; run the suite again")
    columns = {heading: table.column(heading).to_numpy() for heading in headings[1:]}
    return PerQuery(table.column("query").combine_chunks(), columns)


def encoded(queries: Sequence[str], columns: Sequence[score.Scored]) -> bytes:
    """The bytes of a per-query file: one line for each query, one column for each measure. A measure whose
    mean is a ratio of sums has two columns, numerator and denominator."""
    headings, values = ["query"], []
    for column in columns:
        if column.average == "ratio":
            headings += [column.column.label + part for part in PARTS]
            values += [column.numerator, column.denominator]
        else:
            headings.append(column.column.label)
            values.append(column.values)
    table = [value.tolist() for value in values]
    lines = ["\t".join(headings)]
    lines += ["\t".join([query, *(repr(column[i]) for column in table)]) for i, query in enumerate(queries)]
    return ("\n".join(lines) + "\n").encode()
