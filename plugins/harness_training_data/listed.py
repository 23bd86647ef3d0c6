"""What a file lists for each query: a run, or the negatives of training data, as arrays of one form."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import orjson

from harness.plugin import Floats, Ints
from harness.toolkit.commands import lines_of
from harness.toolkit.files import runs
from harness_training_data import TRAINING
from harness_training_data.reading import Text, read

KEYS = {"anchor", "query", "positive_passages"}  # one of them is in each object of training data


class Known(NamedTuple):
    """Queries or passages as a file knows them. 0 stands for what it does not say."""

    ids: Ints  # int64[n]: the digest of each id
    texts: Ints  # int64[n]: the digest of each text, after its title if there is one
    plain: Ints  # int64[n]: the digest of each text without its title; 0 if it has no title


class Listed(NamedTuple):
    """The passages of each query of a file, best first."""

    form: str
    scored: bool  # False: the scores are 1 / place
    queries: Known
    passages: Known
    names: tuple[str, ...]  # the ids of the passages; empty if the file may lack ids
    query: Ints  # int64[m], ascending
    passage: Ints  # int64[m]
    score: Floats  # float32[m]
    positives: int  # of training data: the positives, which are not listed


def digest(text: str) -> int:
    """64 bits of a text, in which all white space counts as one blank. Never 0."""
    plain = " ".join(text.split()).encode()
    return int.from_bytes(blake2b(plain, digest_size=8).digest(), "little", signed=True) or 1


def titled(title: str, text: str) -> str:
    return f"{title} {text}" if title else text


def listed(path: Path, form: str) -> Listed:
    """What the file lists. `form` is a form of runs, `training-` before a form of training data, or `auto`.
    Raises HarnessError, with the line, for a damaged file."""
    if form == "auto":
        form = TRAINING if _is_training_data(path) else ""
    if form.startswith(TRAINING):
        return _of_training_data(path, form.removeprefix(TRAINING) or None)
    return _of_run(path, form or None)


def _is_training_data(path: Path) -> bool:
    """Whether the first line is one of training data rather than of a run."""
    first = next((line.rstrip("\r\n") for _, line in lines_of(path) if line.strip()), "")
    if first.startswith("["):
        return True
    if first.startswith("{"):
        try:
            row = orjson.loads(first)
        except orjson.JSONDecodeError:  # the first line of a longer object, as DuReader writes it
            return False
        return isinstance(row, dict) and not KEYS.isdisjoint(row)
    columns = first.split("\t")
    if len(columns) == 6:  # of a run: query, Q0, passage, rank, score, tag
        return not (_is_number(columns[3]) and _is_number(columns[4]))
    if len(columns) == 4:  # of a run: query, passage, rank, score
        return columns[:2] != ["qid", "pid"] and not (_is_number(columns[2]) and _is_number(columns[3]))
    return len(columns) == 3 and any(len(column.split()) > 1 for column in columns)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _of_run(path: Path, form: str | None) -> Listed:
    read = runs.read_run(path, form)
    run = read.run
    rank_of_id = np.argsort(np.argsort(np.array([name.encode() for name in run.passage_ids])))
    query, column = np.nonzero(run.hits.passages >= 0)
    passage, score = run.hits.passages[query, column], run.hits.scores[query, column]
    order = np.lexsort((-rank_of_id[passage], -score, query))  # ties by descending id, as the harness ranks
    unknown = np.zeros(0, np.int64)
    return Listed(
        read.form, not read.by_rank, Known(_digests(run.query_ids), unknown, unknown),
        Known(_digests(run.passage_ids), unknown, unknown), run.passage_ids, query[order], passage[order],
        score[order], 0,
    )  # fmt: skip


def _of_training_data(path: Path, form: str | None) -> Listed:
    """The negatives of each query, in the order of the file. A query may be in several places."""
    queries, passages = _Numbers(), _Numbers()
    of_query: list[dict[int, None]] = []
    positives = 0
    for example in read(path, form):
        number = queries.of(example.query)
        if number == len(of_query):
            of_query.append({})
        of_query[number].update(dict.fromkeys(map(passages.of, example.negatives)))
        positives += len(example.positives)
    lengths = np.array([len(negatives) for negatives in of_query], np.int64)
    place = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    passage = np.fromiter((one for negatives in of_query for one in negatives), np.int64, int(lengths.sum()))
    return Listed(
        f"training data, {form or 'by its first line'}", False, queries.known(), passages.known(), (),
        np.repeat(np.arange(len(of_query)), lengths), passage, (1 / (1 + place)).astype(np.float32),
        positives,
    )  # fmt: skip


class _Numbers:
    """Numbers for the queries or passages of a file, in the order in which they come."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}
        self._ids, self._texts, self._plain = array("q"), array("q"), array("q")

    def of(self, text: Text) -> int:
        id = digest(text.id) if text.id else 0
        whole = digest(titled(text.title, text.text)) if text.text else 0
        number = self._number.setdefault(id or whole, len(self._ids))
        if number == len(self._ids):
            self._ids.append(id)
            self._texts.append(whole)
            self._plain.append(digest(text.text) if text.text and text.title else 0)
        return number

    def known(self) -> Known:
        return Known(*(np.array(column, np.int64) for column in (self._ids, self._texts, self._plain)))


def _digests(names: tuple[str, ...]) -> Ints:
    return cast("Ints", np.fromiter(map(digest, names), np.int64, len(names)))
