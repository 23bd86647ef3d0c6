"""The context-augmenter `keyphrases-from-file`: precomputed keyphrases, such as DAPR's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.plugin import JSON, Addition, Document, HarnessError
from harness.toolkit.files.by_id import ById, by_id
from harness.toolkit.files.paths import bare
from harness.toolkit.files.reading import lines, opened, refuse, text_of
from harness_keyphrases import FromFile

AHEAD = 1024  # documents looked up at once
# Keys of a document's id and of its keyphrases: the first that a file has is read.
IDS = ("doc_id", "_id", "id")
PHRASES = ("keyphrases", "doc_summary", "title")  # DAPR's code and hub write the last two


class Precomputed:
    """The augmenter `keyphrases-from-file`. It reads the file on first use and keeps it in memory."""

    def __init__(self, params: FromFile) -> None:
        self._params = params
        self._read: ById | None = None

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> dict[str, JSON]:
        """The counts of documents that only the collection or only the file has. Such a file is refused if
        the parameters `missing` and `unknown` say so, and always if it has none of the collection's
        documents."""
        ids = self._contents().ids
        here = pa.array(documents, pa.string())
        absent = here.filter(pc.invert(pc.is_in(here, value_set=ids)))
        strange = ids.filter(pc.invert(pc.is_in(ids, value_set=here)))
        file = self._params.file
        if len(here) and len(absent) == len(here):
            text = f"{file}: it has none of the collection's documents ('{here[0]}', ...)"
            raise HarnessError(f"{text}; name the file that was made for this collection")
        if len(absent) and self._params.missing == "refuse":
            text = f"{file}: the document '{absent[0]}' is missing, one of {len(absent):,}"
            raise HarnessError(f"{text}; complete the file, or choose missing: skip")
        if len(strange) and self._params.unknown == "refuse":
            text = f"{file}: the collection has no document '{strange[0]}', one of {len(strange):,}"
            raise HarnessError(f"{text}; shorten the file, or choose unknown: skip")
        return {"documents_missing_in_file": len(absent), "documents_unknown_in_file": len(strange)}

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        waiting: list[str] = []
        for document in documents:
            waiting.append(document.id)
            if len(waiting) == AHEAD:
                yield from self._looked_up(waiting)
                waiting.clear()
        yield from self._looked_up(waiting)

    def _looked_up(self, wanted: Sequence[str]) -> list[Addition]:
        read = self._contents()
        rows = read.rows_of(wanted)
        if self._params.missing == "refuse" and (rows < 0).any():
            first = wanted[int(np.argmax(rows < 0))]
            text = f"{self._params.file}: the document '{first}' is missing"
            raise HarnessError(f"{text}; complete the file, or choose missing: skip")
        phrases = read.texts.take(pa.array(np.maximum(rows, 0))).to_pylist()
        return [Addition(phrases[i] if row >= 0 else "") for i, row in enumerate(rows.tolist())]

    def _contents(self) -> ById:
        if self._read is None:
            self._read = contents(self._params.file)
        return self._read


def contents(path: Path) -> ById:
    """The documents of the file `path`, with their keyphrases as prefixes. A list of keyphrases is joined
    by "; "."""
    ids: list[str] = []
    phrases: list[str] = []
    seen: dict[str, int] = {}
    for number, id, value in _parquet(path) if path.suffix == ".parquet" else _lines(path):
        if not isinstance(id, str) or not id:
            refuse(path, number, "the document's id must be a text; write it in quotes")
        if id in seen:
            refuse(path, number, f"the document '{id}' stands in line {seen[id]} too; remove one of them")
        seen[id] = number
        ids.append(id)
        phrases.append(_joined(path, number, value))
    if not ids:
        refuse(path, 1, "there is no document in it; copy the file again")
    return by_id(ids, phrases)


def _joined(path: Path, number: int, value: JSON) -> str:
    parts = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        refuse(path, number, "the keyphrases must be a text or a list of texts; correct the line")
    return "; ".join(part.strip() for part in parts if part.strip())


def _lines(path: Path) -> Iterator[tuple[int, Any, Any]]:
    json = bare(path).suffix == ".jsonl"
    if not json and bare(path).suffix != ".tsv":
        kinds = ".jsonl, .tsv (both also with .gz or .zst) or .parquet"
        raise HarnessError(f"{path}: the name does not say what kind of file it is; let it end in {kinds}")
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, line in lines(path):
        text = text_of(path, number, line)
        if json:
            try:
                row = decoder.decode(text)
            except (msgspec.MsgspecError, RecursionError) as error:
                refuse(path, number, f"this is no JSON object ({error}); write one object a line")
            yield number, row[_key(path, number, row, IDS)], row[_key(path, number, row, PHRASES)]
        else:
            id, tab, value = text.partition("\t")
            if not tab:
                refuse(path, number, "there is no tab; write id <tab> keyphrases")
            yield number, id, value


def _parquet(path: Path) -> Iterator[tuple[int, Any, Any]]:
    number = 1
    with opened(path) as file:
        try:
            table = pq.ParquetFile(file)
            names = table.schema_arrow.names
            wanted = [_key(path, 1, names, IDS), _key(path, 1, names, PHRASES)]
            for batch in table.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    yield number, row[wanted[0]], row[wanted[1]]
                    number += 1
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # an error of the system, not of the data
            refuse(path, number, "this is no whole Parquet file; copy it again")


def _key(path: Path, number: int, row: Iterable[str], names: Sequence[str]) -> str:
    present = set(row)
    key = next((name for name in names if name in present), None)
    if key is None:
        refuse(path, number, f"there is none of {', '.join(names)}; write one of them")
    return key
