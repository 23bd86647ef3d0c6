"""Reads runs in the forms of other tools. The content of a file shows its form."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from harness.collection.lines import lines_of
from harness.errors import HarnessError
from harness.scoring import ranking, run_files
from harness.scoring.run_files import Run
from harness.types import Floats, Ints

# form -> its columns; the form `dureader` is one JSON object of query id -> passage ids, best first
COLUMNS: dict[str, tuple[str, ...]] = {
    "trec": ("query", "Q0", "passage", "rank", "score", "tag"),
    "rocketqa": ("query", "passage", "rank", "score"),  # T2Ranking has the same form
    "msmarco": ("query", "passage", "rank"),
    "tevatron": ("query", "passage", "score"),
}
FORMS = (*COLUMNS, "dureader")
CODED = pa.dictionary(pa.int32(), pa.string())
TYPES = {"query": CODED, "passage": CODED, "rank": pa.int64(), "score": pa.float64()}
RANK = re.compile(r"[0-9]{1,18}")
HEADER = (b"qid", b"pid")  # T2Ranking's runs of the training queries begin with a line of names
PICKLE, JSON_START = b"\x80", b"{"


class ForeignRun(NamedTuple):
    run: Run
    form: str
    by_rank: bool  # the order comes from the file's ranks; the run's scores are then 1 / rank


def read_run(path: Path, form: str | None = None) -> ForeignRun:
    """Reads a run in `form`, or in the form that its content shows. Raises HarnessError for a damaged file,
    with the line, and for a file that may have either of two forms."""
    form = form or _form_of(path)
    if form == "trec":
        return ForeignRun(run_files.read_run(path), form, by_rank=False)
    if form == "dureader":
        return _lists(path)
    table = _table(path, form)
    if table is None:
        _explain(path, form)
    return _ranked(path, table, form)


def _form_of(path: Path) -> str:
    first = _first_line(path)
    if first.startswith(PICKLE):
        problem = "is a pickle, which can run any code and is never loaded"
        raise HarnessError(f"{path}: {problem}; let Tevatron write text: search with --save_text")
    if first.lstrip().startswith(JSON_START):
        return "dureader"
    width = 6 if first.startswith(b"#") else len(first.split())  # run_files skips TREC's comments
    if width == 4 and first.split()[1] in (b"0", b"Q0"):
        raise HarnessError(f"{path}:1: looks like judgements, not a run; give them as --qrels")
    if width != 3:
        named = [form for form, columns in COLUMNS.items() if len(columns) == width]
        if not named:
            known = ", ".join(f"{' '.join(columns)} ({form})" for form, columns in COLUMNS.items())
            raise HarnessError(f"{path}:1: {width} columns are no form of runs; known are: {known}")
        return named[0]
    ranks = _table(path, "msmarco")
    if _is_header(first):
        return "msmarco" if first.split()[2] in (b"index", b"rank") else "tevatron"
    if ranks is None:
        return "tevatron"
    row, rank = _codes(ranks, "query"), ranks["rank"].to_numpy()
    order = np.lexsort((rank, row))
    if rank.min() < 2 and (rank[order] == _places(row[order]) + rank.min()).all():
        return "msmarco"
    problem = "the third column may hold ranks or scores: whole numbers that do not count from 1 or 0"
    raise HarnessError(f"{path}: {problem}; say which with --run-form msmarco (ranks) or tevatron (scores)")


def _is_header(first: bytes) -> bool:
    return tuple(first.split()[:2]) == HEADER


def _first_line(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no such file; check the path") from None
    except IsADirectoryError:
        raise HarnessError(f"{path}: is a folder; name the runs in it") from None
    except (EOFError, zlib.error, OSError) as error:
        raise HarnessError(f"{path}: {error}; check the file") from None
    if not first:
        raise HarnessError(f"{path}: the run is empty; give a file in one of the forms: {', '.join(FORMS)}")
    return first


def _table(path: Path, form: str) -> pa.Table | None:
    """The columns of the file. None for a damaged file, whose problem `_explain` then reports."""
    names, first = COLUMNS[form], _first_line(path)
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=int(_is_header(first))),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="\t" if b"\t" in first else " ", quote_char=False
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: TYPES[name] for name in names}, strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None
    words = [word for name in ("query", "passage") for word in _words(table, name)]
    if not table.num_rows or any(table[name].null_count for name in names):
        return None
    if len(" ".join(words).split()) != len(words) or not all(words):
        return None
    if "score" in names and not (np.abs(table["score"].to_numpy()) < run_files.TOO_LARGE).all():
        return None
    if "rank" in names and table["rank"].to_numpy().min() < 0:
        return None
    return table


def _ranked(path: Path, table: pa.Table, form: str) -> ForeignRun:
    queries, passages = _words(table, "query"), _words(table, "passage")
    row, passage = _codes(table, "query"), _codes(table, "passage")
    pairs = np.sort(row * len(passages) + passage)
    if (pairs[1:] == pairs[:-1]).any():
        _explain(path, form)
    if form == "tevatron":
        hits = run_files.rows_of(row, passage, table["score"].to_numpy().astype(np.float32), len(queries))
        return ForeignRun(Run(queries, passages, hits, ""), form, by_rank=False)
    rank = table["rank"].to_numpy()
    order = np.lexsort((rank, row))
    row, passage, rank = row[order], passage[order], rank[order]
    same = row[1:] == row[:-1]
    if (same & (rank[1:] == rank[:-1])).any():
        _explain(path, form)
    scores = _reciprocal(row)
    by_rank = True
    if form == "rocketqa":
        written = table["score"].to_numpy()[order]
        if (same & (written[1:] > written[:-1])).any():
            _explain(path, form)
        rounded = written.astype(np.float32)
        ids = ranking.ranks_of(passages)[passage]
        # the harness breaks ties by descending id; if the file breaks them otherwise, its ranks are used
        by_rank = bool((same & (rounded[1:] == rounded[:-1]) & (ids[1:] > ids[:-1])).any())
        scores = scores if by_rank else rounded
    hits = run_files.rows_of(row, passage, scores, len(queries))
    return ForeignRun(Run(queries, passages, hits, ""), form, by_rank)


def _lists(path: Path) -> ForeignRun:
    """Reads a run in DuReader's form, `{query: [passage, ...]}`."""
    text = "".join(line for _, line in lines_of(path))

    def refuse(query: str, problem: str) -> NoReturn:
        line = text[: text.find(json.dumps(query, ensure_ascii=False))].count("\n") + 1
        raise HarnessError(f"{path}:{line}: query '{query}' {problem}; mend the file")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        seen: dict[str, object] = {}
        for key, value in pairs:
            if key in seen:
                refuse(key, "is there twice")
            seen[key] = value
        return seen

    try:
        lists = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise HarnessError(f"{path}:{error.lineno}: {error.msg}; copy the file again") from None
    if not isinstance(lists, dict) or not lists:
        raise HarnessError(f"{path}:1: expected an object of query id -> passage ids; give DuReader's form")
    passages: dict[str, int] = {}
    rows, positions = [], []
    for number, (query, ranked) in enumerate(lists.items()):
        if not isinstance(ranked, list) or not ranked or not all(isinstance(id, str) for id in ranked):
            refuse(query, "has no list of passage ids")
        if len(set(ranked)) != len(ranked):
            refuse(query, "has a passage twice")
        for word in (query, *ranked):
            if len(word.split()) != 1:
                refuse(query, f"has the id {word!r}, which is empty or holds white space")
        rows += [number] * len(ranked)
        positions += [passages.setdefault(id, len(passages)) for id in ranked]
    row = np.array(rows, np.int64)
    scores = _reciprocal(row)
    hits = run_files.rows_of(row, np.array(positions, np.int64), scores, len(lists))
    return ForeignRun(Run(tuple(lists), tuple(passages), hits, ""), "dureader", by_rank=True)


def _places(row: Ints) -> Ints:
    """The place of each line within its query, from 0. `row` must be sorted."""
    first = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
    return np.arange(len(row)) - np.repeat(first, np.diff(np.r_[first, len(row)]))


def _reciprocal(row: Ints) -> Floats:
    return (np.float32(1) / (1 + _places(row)).astype(np.float32)).astype(np.float32)


def _words(table: pa.Table, name: str) -> tuple[str, ...]:
    return tuple(table[name].combine_chunks().dictionary.to_pylist())


def _codes(table: pa.Table, name: str) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = table[name].combine_chunks().indices.to_numpy().astype(np.int64)
    return codes


def _explain(path: Path, form: str) -> NoReturn:
    """Reads a damaged file line by line, and raises HarnessError for the first problem."""
    columns = COLUMNS[form]
    passages: dict[tuple[str, str], int] = {}  # query and passage -> line
    ranks: dict[tuple[str, int], int] = {}
    ranked: dict[str, list[tuple[int, float, int]]] = {}  # query -> rank, score, line
    for number, line in lines_of(path):
        words = line.split()
        if not words or (number == 1 and _is_header(line.encode())):
            continue

        def refuse(problem: str, number: int = number) -> NoReturn:
            raise HarnessError(f"{path}:{number}: {problem}; mend or remove the line")

        if len(words) != len(columns):
            refuse(f"expected `{' '.join(columns)}` ({form}), got {len(words)} columns")
        query, passage = words[:2]
        before = passages.setdefault((query, passage), number)
        if before != number:
            refuse(f"the passage '{passage}' of the query '{query}' stands in line {before} already")
        score = run_files.finite(words[columns.index("score")]) if "score" in columns else 0.0
        if score is None:
            refuse(f"the score '{words[columns.index('score')]}' is no finite number")
        if "rank" not in columns:
            continue
        if not RANK.fullmatch(words[2]):
            refuse(f"the rank must be a whole number, got '{words[2]}'")
        before = ranks.setdefault((query, int(words[2])), number)
        if before != number:
            refuse(f"the query '{query}' has the rank {words[2]} in line {before} already")
        ranked.setdefault(query, []).append((int(words[2]), score, number))
    for query, places in ranked.items():
        better = _contradiction(places)
        if better:
            problem = f"the score of query '{query}' rises at rank {better[0]}: rank and score disagree"
            raise HarnessError(f"{path}:{better[2]}: {problem}; keep one of them (cut -f1-3 keeps the ranks)")
    raise HarnessError(f"{path}: the columns do not stand between single tabs or blanks; write them so")


def _contradiction(places: Sequence[tuple[int, float, int]]) -> tuple[int, float, int] | None:
    """The first place whose score is higher than that of the place before it; None if there is none."""
    pairs = itertools.pairwise(sorted(places))
    return next((after for before, after in pairs if after[1] > before[1]), None)
