"""The context-augmenter `keyphrases-from-file`: keyphrases made elsewhere, such as DAPR's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.errors import HarnessError
from harness.toolkit.paths import bare
from harness.toolkit.reading import lines, opened, refuse, text_of
from harness.types import JSON, Addition, Document
from harness_keyphrases import FromFile

AHEAD = 1024  # documents looked up at once
IDS = ("doc_id", "_id", "id")  # the first of these that a file has; a document's id
PHRASES = ("keyphrases", "doc_summary", "title")  # likewise; DAPR's code and hub write the last two


class Precomputed:
    """The file is read when it is first asked for, and held as two Arrow columns."""

    def __init__(self, params: FromFile) -> None:
        self._params = params
        self._read: tuple[pa.Array, pa.Array] | None = None

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> dict[str, JSON]:
        """Refuses a file that does not fit, as the suite wants it, and tells how well it does."""
        ids, _ = self._columns()
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
        ids, phrases = self._columns()
        waiting: list[str] = []
        for document in documents:
            waiting.append(document.id)
            if len(waiting) == AHEAD:
                yield from self._looked_up(waiting, ids, phrases)
                waiting.clear()
        yield from self._looked_up(waiting, ids, phrases)

    def _looked_up(self, wanted: Sequence[str], ids: pa.Array, phrases: pa.Array) -> list[Addition]:
        places = np.full(len(wanted), -1, np.int64)
        which = pc.index_in(ids, value_set=pa.array(wanted, pa.string())).fill_null(-1).to_numpy()
        rows = np.flatnonzero(which >= 0)
        places[which[rows]] = rows
        if self._params.missing == "refuse" and (places < 0).any():
            first = wanted[int(np.argmax(places < 0))]
            text = f"{self._params.file}: the document '{first}' is missing"
            raise HarnessError(f"{text}; complete the file, or choose missing: skip")
        found = phrases.take(pa.array(np.maximum(places, 0))).to_pylist() if len(phrases) else []
        return [Addition(found[i] if place >= 0 else "") for i, place in enumerate(places.tolist())]

    def _columns(self) -> tuple[pa.Array, pa.Array]:
        if self._read is None:
            self._read = columns(self._params.file)
        return self._read


def columns(path: Path) -> tuple[pa.Array, pa.Array]:
    """The ids and the keyphrases, as they stand before a passage. Lists are joined by "; "."""
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
    return pa.array(ids, pa.string()), pa.array(phrases, pa.string())


def _joined(path: Path, number: int, value: JSON) -> str:
    parts = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        refuse(path, number, "the keyphrases must be a text or a list of texts; mend the line")
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
                raise  # of the system, not of the data
            refuse(path, number, "this is no whole Parquet file; copy it again")


def _key(path: Path, number: int, row: Iterable[str], names: Sequence[str]) -> str:
    present = set(row)
    found = next((name for name in names if name in present), None)
    if found is None:
        refuse(path, number, f"there is none of {', '.join(names)}; write one of them")
    return found
