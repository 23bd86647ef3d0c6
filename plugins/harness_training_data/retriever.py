"""The retriever `run` finds for each query what a file lists for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from harness.plugin import JSON, Floats, HarnessError, Hits, Ints, Texts, Unit
from harness.toolkit.commands import lines_of
from harness.toolkit.index import files
from harness_training_data import RunParams
from harness_training_data.listed import Known, Listed, digest, listed, titled

ARRAYS = ("bounds", "passages", "scores", "ids", "texts")
FORMAT = files.Format("run", 1)
NAMED = 3  # of the unknown passages
QUOTED = re.compile(r'"([^"\s]+)"(?!\s*:)')  # a passage in DuReader's form


class Run:
    def __init__(self, params: RunParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON]:
        """Write what the file lists, with the positions of the corpus. Return facts to report."""
        path = self._params.file
        files.begin(folder)
        read = listed(path, self._params.form)
        position = _positions(read.passages, texts)
        unknown = np.flatnonzero(position < 0)
        if len(unknown) and self._params.unknown == "refuse":
            _refuse(path, read, unknown, texts.unit)
        if len(position) and len(unknown) == len(position):
            what = f"none of its {len(position):,} passages is in the collection"
            raise HarnessError(f"{path}: {what}; check that both have the same ids or texts")
        query, at, score = _known(read, position)
        count = len(read.queries.ids)
        bounds = np.searchsorted(query, np.arange(count + 1)).astype(np.int64)
        arrays = (bounds, at, score, read.queries.ids, read.queries.texts)
        for name, values in zip(ARRAYS, arrays, strict=True):
            np.save(folder / f"{name}.npy", np.asarray(values))
        files.finish(folder, FORMAT, [f"{name}.npy" for name in ARRAYS])
        facts: dict[str, JSON] = {
            "form": read.form,
            "scores": "of the file" if read.scored else "1 / place in the file",
            "queries_of_the_file": count,
            "passages_of_the_file": len(position),
            "passages_that_the_collection_lacks": len(unknown),
        }
        return {**facts, "positives_left_out": read.positives} if read.positives else facts

    def open(self, texts: Texts, folder: Path) -> Search:
        files.read_facts(folder, FORMAT)
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS]
        return Search(self._params.file, _Lists(*arrays), texts.unit)


def _positions(passages: Known, texts: Texts) -> Ints:
    """int64[n]: the position of each passage of the file; -1 for one that is no candidate of the corpus. It
    is found by id, else by title and text, else by text. Of equal texts, the first is taken."""
    by_id, by_text, by_plain = (
        {key: number for number, key in enumerate(keys.tolist()) if key} for keys in passages
    )
    best = np.full((3, len(passages.ids)), -1, np.int64)
    for batch in texts.batches():
        named = texts.ids(batch.positions) if by_id else ()
        for position, id in zip(batch.positions.tolist(), named, strict=False):
            _place(best[0], by_id, digest(id), position)
        if not by_text:
            continue
        for position, text, title in zip(batch.positions.tolist(), batch.texts, batch.titles, strict=True):
            plain = digest(text)
            _place(best[1], by_text, plain, position)
            _place(best[2], by_plain, plain, position)
            if title:
                _place(best[1], by_text, digest(titled(title, text)), position)
    by_any: Ints = np.where(best[0] >= 0, best[0], np.where(best[1] >= 0, best[1], best[2]))
    return by_any


def _place(best: Ints, numbers: Mapping[int, int], key: int, position: int) -> None:
    number = numbers.get(key)
    if number is not None and best[number] < 0:
        best[number] = position


def _known(read: Listed, position: Ints) -> tuple[Ints, Ints, Floats]:
    """The query, position and score of each entry whose passage is known, once for each query."""
    at = position[read.passage]
    kept = np.flatnonzero(at >= 0)
    _, first = np.unique(np.stack([read.query[kept], at[kept]]), axis=1, return_index=True)
    kept = kept[np.sort(first)]  # two texts of the file may be one passage
    return read.query[kept], at[kept], read.score[kept]


def _refuse(path: Path, read: Listed, unknown: Ints, unit: Unit) -> NoReturn:
    if not read.names:
        what = f"{len(unknown):,} of its {len(read.passages.ids):,} passages are not in the collection"
        raise HarnessError(f"{path}: {what}; remove them, or say unknown: skip")
    missing = {read.names[number] for number in unknown.tolist()}
    lines = [f"'{name}' (line {number})" for number, name in _first_lines(path, missing)]
    more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
    first = lines[0].partition("(line ")[2].rstrip(")")
    what = f"the collection has no {unit} {', '.join(lines)}{more} as a candidate"
    raise HarnessError(f"{path}:{first}: {what}; remove the lines, or say unknown: skip")


def _first_lines(path: Path, names: set[str]) -> Iterator[tuple[int, str]]:
    """The first line of each of the first few of these ids in the file."""
    left = set(names)
    for number, line in lines_of(path):
        columns = line.split()
        in_line = columns[2:3] if len(columns) == 6 else columns[1:2]  # of a form with columns
        for word in (*in_line, *QUOTED.findall(line)):
            if word in left:
                yield number, word
                left.remove(word)
                if len(names) - len(left) == NAMED:
                    return


class _Lists(NamedTuple):
    bounds: Ints  # int64[Q + 1]: query q of the file has passages[bounds[q]:bounds[q + 1]]
    passages: Ints  # int64[n]: positions, best first
    scores: Floats  # float32[n]
    ids: Ints  # int64[Q]: the digests of the queries' ids; 0: the file has no id
    texts: Ints  # int64[Q]: the digests of the queries' texts; 0: the file has no text


class Search:
    """An open run. It answers queries by id, or by text if the file has texts."""

    def __init__(self, path: Path, lists: _Lists, unit: Unit) -> None:
        self._path, self._lists, self._unit = path, lists, unit
        self._of_id, self._of_text = (
            {key: number for number, key in enumerate(keys.tolist()) if key} for keys in lists[3:]
        )
        self._asked = self._unanswered = 0
        self._used: set[int] = set()

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        return self._found([self._of_text.get(digest(text), -1) for text in queries], k, within)

    def search_ids(
        self, ids: Sequence[str], texts: Sequence[str], k: int, within: Ints | None = None
    ) -> Hits:
        rows = [
            self._of_id.get(digest(id), self._of_text.get(digest(text), -1))
            for id, text in zip(ids, texts, strict=True)
        ]
        self._asked += len(rows)
        self._unanswered += rows.count(-1)
        self._used.update(row for row in rows if row >= 0)
        return self._found(rows, k, within)

    def report(self) -> Mapping[str, JSON]:
        """Facts on the queries. Raises HarnessError if the file has none of them."""
        if self._asked and self._asked == self._unanswered:
            what = f"has none of the {self._asked:,} queries of this split"
            raise HarnessError(
                f"{self._path}: {what}; give the run of this split, as in file: '{{split}}.run'"
            )
        unused = len(self._lists.ids) - len(self._used)
        return {"queries_without_results": self._unanswered, "queries_of_the_file_left_out": unused}

    def _found(self, rows: Sequence[int], k: int, within: Ints | None) -> Hits:
        lists = self._lists
        passages = np.full((len(rows), k), -1, np.int64)
        scores = np.full((len(rows), k), -np.inf, np.float32)
        for at, row in enumerate(rows):
            if row < 0:
                continue
            here = slice(int(lists.bounds[row]), int(lists.bounds[row + 1]))
            of_query, of_score = lists.passages[here], lists.scores[here]
            if within is not None:
                inside = np.isin(of_query, within[at])
                of_query, of_score = of_query[inside], of_score[inside]
            count = min(k, len(of_query))
            passages[at, :count], scores[at, :count] = of_query[:count], of_score[:count]
        return Hits(passages, scores, self._unit)
