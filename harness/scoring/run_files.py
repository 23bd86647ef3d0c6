"""TREC run files: writes rankings, with the same bytes each time, and reads run files of any origin."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv

from harness.collection.lines import check_words, lines_of
from harness.errors import HarnessError
from harness.types import Floats, Hits, Ints

COLUMNS = 6
NAMES = ("query", "iteration", "passage", "rank", "score", "tag")
CODED = pa.dictionary(pa.int32(), pa.string())
TYPES = {name: pa.float64() if name == "score" else CODED for name in NAMES}
TOGETHER = 1 << 17  # hits whose ids are read at once; so each page of the corpus is read once for many hits
TOO_LARGE = 2.0**128 - 2.0**103  # numbers from here on round to an infinite float32


class Run(NamedTuple):
    """A run as its file has it, not yet ordered by score. Positions in `hits` are places in `passage_ids`."""

    query_ids: tuple[str, ...]  # in order of first appearance
    passage_ids: tuple[str, ...]  # in order of first appearance
    hits: Hits
    tag: str


def write_run(
    path: Path, query_ids: Sequence[str], ids_of: Callable[[Ints], Sequence[str]], hits: Hits, tag: str
) -> None:
    """Write a ranking as TREC lines, gzipped if the file's name ends in `.gz`. Ranks start at 1. A score is
    written with the fewest digits that read back as the same float32."""
    check_words([*query_ids, tag], "query id or tag")
    filled = hits.passages >= 0
    rows = max(1, TOGETHER // max(1, hits.passages.shape[1]))
    with _sink(path) as out:
        for start in range(0, len(query_ids), rows):
            kept = filled[start : start + rows]
            names = ids_of(hits.passages[start : start + rows][kept])
            check_words(names, "passage id")
            scores = np.ascontiguousarray(hits.scores[start : start + rows][kept])
            texts = orjson.dumps(scores, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].decode().split(",")
            ends = np.cumsum(kept.sum(axis=1)).tolist()
            for query, begin, end in zip(query_ids[start : start + rows], [0, *ends[:-1]], ends, strict=True):
                lines = [
                    f"{query} Q0 {name} {rank} {score} {tag}\n"
                    for rank, (name, score) in enumerate(
                        zip(names[begin:end], texts[begin:end], strict=True), 1
                    )
                ]
                out.write("".join(lines).encode())


def tag_of(system: str) -> str:
    """A system's name as the tag in its run, without white space."""
    return "_".join(system.split())


def read_run(path: Path) -> Run:
    """The run in a TREC file, which may be gzipped. Its ranks are ignored; `ranking.canonical` orders the
    hits by score."""
    return _by_columns(path) or _by_lines(path)


def _by_columns(path: Path) -> Run | None:
    """The run in a file whose columns are separated by single blanks or tabs, as in nearly all files. None
    for any other file, and for a file with an error; `_by_lines` then reads it and reports the line."""
    try:
        table = pyarrow.csv.read_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(column_names=NAMES),
            parse_options=pyarrow.csv.ParseOptions(delimiter=_separator(path), quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(column_types=TYPES, strings_can_be_null=False),
        )
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None
    codes = {name: table[name].combine_chunks() for name in NAMES if name != "score"}
    words = {name: codes[name].dictionary.to_pylist() for name in codes}
    scores = table["score"]
    whole = all(len(" ".join(texts).split()) == len(texts) and all(texts) for texts in words.values())
    if not whole or scores.null_count or not table.num_rows:
        return None
    values = scores.to_numpy()
    row, passage = (codes[name].indices.to_numpy().astype(np.int64) for name in ("query", "passage"))
    pairs = np.sort(row * len(words["passage"]) + passage)
    if not (np.abs(values) < TOO_LARGE).all() or (pairs[1:] == pairs[:-1]).any():
        return None
    if words["query"][0].startswith("#"):
        return None
    hits = rows_of(row, passage, values.astype(np.float32), len(words["query"]))
    return Run(tuple(words["query"]), tuple(words["passage"]), hits, words["tag"][0])


def _separator(path: Path) -> str:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return "\t" if b"\t" in file.readline() else " "


def _by_lines(path: Path) -> Run:
    queries: dict[str, int] = {}
    passages: dict[str, int] = {}
    lines: dict[tuple[int, int], int] = {}  # (query, passage) -> line, in order of the file
    values: list[float] = []
    tag = ""
    for number, line in lines_of(path):
        words = line.split()
        if not words or (not values and line.startswith("#")):  # a header, such as that of ir_metadata
            continue
        score = _score(words, path, number)
        pair = (queries.setdefault(words[0], len(queries)), passages.setdefault(words[2], len(passages)))
        before = lines.setdefault(pair, number)
        if before != number:
            what = f"the passage '{words[2]}' of the query '{words[0]}' stands in line {before} already"
            raise HarnessError(f"{path}:{number}: {what}; remove one of the two")
        values.append(score)
        tag = tag or words[5]
    if not values:
        raise HarnessError(
            f"{path}: the run is empty; give a file with lines of `query Q0 passage rank score tag`"
        )
    pairs = np.array(list(lines), np.int64)  # int64[n, 2]
    hits = rows_of(pairs[:, 0], pairs[:, 1], np.array(values, np.float32), len(queries))
    return Run(tuple(queries), tuple(passages), hits, tag)


def rows_of(row: Ints, passage: Ints, score: Floats, queries: int) -> Hits:
    """The hits with one row per query, from pairs of a row and a passage, in the order of the file."""
    order = np.argsort(row, kind="stable")
    counts = np.bincount(row, minlength=queries)
    column = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (queries, int(counts.max()))
    passages, scores = np.full(shape, -1, np.int64), np.full(shape, -np.inf, np.float32)
    passages[row[order], column] = passage[order]
    scores[row[order], column] = score[order]
    return Hits(passages, scores)


def _score(words: Sequence[str], path: Path, number: int) -> float:
    if len(words) != COLUMNS:
        what = f"expected `query Q0 passage rank score tag`, got {len(words)} columns"
        raise HarnessError(f"{path}:{number}: {what}; mend or remove the line")
    score = finite(words[4])
    if score is None:
        raise HarnessError(f"{path}:{number}: the score '{words[4]}' is no finite number; correct the line")
    return score


def finite(word: str) -> float | None:
    """The word as a number that a float32 can hold, or None for any other word."""
    try:
        score = float(word)
    except ValueError:
        return None
    return score if abs(score) < TOO_LARGE else None  # NaN is refused too


@contextmanager
def _sink(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    with path.open("wb") as file:
        if path.suffix != ".gz":
            yield file
            return
        # the header holds neither name nor time, so that the same run gives the same bytes
        with gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=file, mtime=0) as packed:
            yield packed
