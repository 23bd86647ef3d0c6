"""Opens Lucene indexes: those of the harness, and foreign indexes after a check against the corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from harness.plugin import HarnessError, Texts
from harness_lucene import handles
from harness_lucene.runtime import Java
from harness_lucene.writing import CONTENTS, LUCENE, directory

ID = "id"  # the field in which Anserini keeps a document's id
IDS = 100_000  # ids read in one call
SHOWN = 3  # ids shown in a message


@runtime_checkable
class Ids(Protocol):
    """A corpus that finds positions by id, as the harness's corpus does. `Texts` lacks these methods."""

    def positions(self, ids: list[str]) -> NDArray[np.int64]: ...

    def document_positions(self, ids: list[str]) -> NDArray[np.int64]: ...


def parts(java: Java, folder: Path) -> Any:
    """The parts that `writing.write` made in `folder`, opened as one index."""
    readers = [
        java(f"{LUCENE}.index.DirectoryReader").open(directory(java, part))
        for part in sorted(folder.glob("part-*"))
    ]
    return java(f"{LUCENE}.index.MultiReader")(*readers)


def foreign(java: Java, folder: Path, where: str, vectors: bool) -> Any:
    """A reader of an index that the harness did not make. Raises HarnessError if the index cannot be used."""
    from jnius import JavaException

    if not folder.is_dir():
        raise HarnessError(f"{where}: {folder} is no folder; name the folder of a Lucene index")
    try:
        reader = java(f"{LUCENE}.index.DirectoryReader").open(directory(java, folder))
    except JavaException as error:
        raise HarnessError(
            f"{where}: {folder} is no index that can be read ({reason(error)}); {NEW}"
        ) from error
    for field in (CONTENTS, ID):
        if not has_field(reader, field):
            raise HarnessError(
                f"{where}: {folder} has no field '{field}'; index with Anserini, or leave it out"
            )
    if vectors and not has_vectors(reader):
        text = f"{where}: {folder} keeps no document vectors, which rm3 needs"
        raise HarnessError(f"{text}; index with -storeDocvectors, or leave it out")
    return reader


NEW = "copy it anew, or index with the Anserini of the extra 'lucene'"


def check(reader: Any, folder: Path, where: str) -> None:
    """Read every file of an index and compare its checksum. Raises HarnessError if one differs."""
    from jnius import JavaException

    try:
        for leaf in reader.leaves().toArray():
            leaf.reader().checkIntegrity()
    except JavaException as error:
        raise HarnessError(f"{where}: {folder} is damaged ({reason(error)}); {NEW}") from error


def reason(error: Any) -> str:
    """The class and message of a Java exception in one line."""
    kind = str(error.classname or "").rpartition(".")[2]
    return f"{kind}: {error.innermessage}".splitlines()[0][:200]


def has_field(reader: Any, name: str) -> bool:
    return any(leaf.reader().getFieldInfos().fieldInfo(name) is not None for leaf in leaves(reader))


def has_vectors(reader: Any) -> bool:
    infos = [leaf.reader().getFieldInfos().fieldInfo(CONTENTS) for leaf in leaves(reader)]
    return all(info is not None and info.hasVectors() for info in infos)


def leaves(reader: Any) -> list[Any]:
    return list(reader.leaves().toArray())


def positions(java: Java, reader: Any, texts: Texts, folder: Path, where: str) -> NDArray[np.int64]:
    """int64[n]: the corpus position of each document of an index. The index must have the same texts as the
    corpus, but may lack empty texts, because Anserini leaves them out."""
    corpus = getattr(texts, "corpus", None)
    if not isinstance(corpus, Ids):
        raise HarnessError(f"{where}: this corpus has no ids to find in an index; leave '{where}' out")
    find = corpus.positions if texts.unit == "passage" else corpus.document_positions
    ids = read_ids(java, reader)
    if len(ids) < reader.maxDoc():
        raise HarnessError(f"{where}: {folder} has deleted documents; merge it into one segment")
    numbers = find(ids)
    strange = np.flatnonzero(numbers < 0)
    if len(strange):
        named = ", ".join(repr(ids[i]) for i in strange[:SHOWN].tolist())
        raise HarnessError(
            f"{where}: {folder} is of another corpus: {len(strange)} of its {len(ids)} ids are not those of a"
            f" {texts.unit} here, such as {named}; name an index of this corpus"
        )
    number, times = np.unique(numbers, return_counts=True)
    if len(number) < len(numbers):
        twice = ids[int(np.flatnonzero(numbers == number[np.argmax(times)])[0])]
        raise HarnessError(
            f"{where}: {folder} has the id {twice!r} {times.max()} times; index each text once"
        )
    compare(texts, number, folder, where)
    return numbers


def compare(texts: Texts, positions: NDArray[np.int64], folder: Path, where: str) -> None:
    """Refuse an index whose texts, at these positions, are not exactly the candidates of the corpus. Empty
    candidates may be missing."""
    candidates = np.concatenate([np.zeros(0, np.int64), *(batch.positions for batch in texts.batches())])
    more = np.setdiff1d(positions, candidates)
    if len(more):
        text = f"{where}: {folder} has {len(more)} texts that are no candidates here"
        raise HarnessError(f"{text}; index candidates alone")
    lacking = np.setdiff1d(candidates, positions)
    full = sum(
        bool(text.strip())
        for start in range(0, len(lacking), IDS)
        for text in texts.take(lacking[start : start + IDS])
    )
    if full:
        text = f"{where}: {folder} lacks {full} of the {len(candidates)} texts of this corpus"
        raise HarnessError(f"{text}; index the whole corpus")


def read_ids(java: Java, reader: Any) -> list[str]:
    """The id of each document of an index, in Lucene's order. If the index has deleted documents, the list is
    empty, and the caller refuses the index."""
    stored = f"{LUCENE}.index.StoredFields"
    document = f"{LUCENE}.document.Document"
    load = handles.method(java, stored, "document", document, "int", "java.util.Set")
    value = handles.method(java, document, "get", "java.lang.String", "java.lang.String")
    load = handles.bind(java, load, 0, reader.storedFields())
    load = handles.bind(java, load, 1, java("java.util.Collections").singleton(ID))
    read = handles.then(java, load, handles.bind(java, value, 1, ID))
    function = handles.function(java, "IntFunction", read)
    numbers = java("java.util.stream.IntStream")
    ids: list[str] = []
    if reader.hasDeletions():
        return ids
    for start in range(0, reader.maxDoc(), IDS):
        stop = min(start + IDS, reader.maxDoc())
        ids += numbers.range(start, stop).mapToObj(function).toArray()
    return ids
