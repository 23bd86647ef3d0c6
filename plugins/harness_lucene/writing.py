"""Builds Lucene indexes of a corpus in parts of a fixed size, several at once, with texts in corpus order."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Batch, Texts
from harness_lucene import handles
from harness_lucene.runtime import Java

PART = 250_000  # texts in one Lucene index; the results of a search do not depend on it
TEXTS = 2048  # texts handed to Java in one call, at most
CHARACTERS = 8_000_000  # characters handed to Java in one call, at most
BUFFER_MB = 256.0  # memory for the postings of a writer
WRITERS = 4  # writers at once, at most, so that their buffers fit into the heap

CONTENTS, TITLE = "contents", "title"  # the fields; Anserini's feedback expects the name of the first
LUCENE, LIST, OBJECT = "org.apache.lucene", "java.util.List", "java.lang.Object"
STREAM, WRITER = "java.util.stream.Stream", f"{LUCENE}.index.IndexWriter"


def write(
    texts: Texts, folder: Path, java: Java, analyser: Callable[[], Any], titles: bool, vectors: bool
) -> None:
    """Index all texts into `folder/part-*`, in their order, and save their positions. If `vectors`, the index
    stores each text's terms for feedback."""
    shutil.rmtree(folder, ignore_errors=True)  # what a killed run left
    folder.mkdir(parents=True)
    writers = min(WRITERS, cores())
    starts = range(0, max(len(texts), 1), PART)  # an empty corpus has an empty part
    numbers = [np.zeros(0, np.int64)]
    for i in range(0, len(starts), writers):
        with ExitStack() as stack:
            parts = [
                stack.enter_context(
                    Part(java, folder / f"part-{start // PART:06}", analyser(), titles, vectors)
                )
                for start in starts[i : i + writers]
            ]
            numbers += together(parts, texts, starts[i : i + writers])
    np.save(folder / "positions.npy", np.concatenate(numbers), allow_pickle=False)


def together(parts: list[Part], texts: Texts, starts: range) -> list[NDArray[np.int64]]:
    """Index several parts, a batch of each in turn, and return the positions of all texts. Java's threads
    write a batch while this thread reads the next one. Only one thread may call Java (see `runtime`)."""
    ranges = [texts.batches(TEXTS, start, min(start + PART, len(texts))) for start in starts]
    numbers: list[list[NDArray[np.int64]]] = [[] for _ in parts]
    for row in zip_longest(*ranges):
        for part, positions, batch in zip(parts, numbers, row, strict=True):
            if batch is not None:
                positions.append(batch.positions)
                part.add(batch)
    for part in parts:
        part.commit()
    for part in parts:
        part.wait()
    return [item for positions in numbers for item in positions]


class Part:
    """A writer of one Lucene index with its own Java thread. The end of its context closes it."""

    def __init__(self, java: Java, folder: Path, analyser: Any, titles: bool, vectors: bool) -> None:
        self._java, self._titles = java, titles
        self._document = documents(java, titles, vectors)
        config = java(f"{LUCENE}.index.IndexWriterConfig")(analyser)
        config.setRAMBufferSizeMB(BUFFER_MB)
        config.setUseCompoundFile(False)
        # Lucene numbers texts in the order added, and its merge policies would reorder them
        config.setMergePolicy(java(f"{LUCENE}.index.NoMergePolicy").INSTANCE)
        self._directory = directory(java, folder)
        self._writer = java(f"{LUCENE}.index.IndexWriter")(self._directory, config)
        self._thread = java("java.util.concurrent.Executors").newSingleThreadExecutor()
        self._task: Any = None

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdownNow()
        self._writer.rollback()  # committed texts stay
        self._directory.close()

    def add(self, batch: Batch) -> None:
        """Start indexing the texts of a batch when the batch before it is indexed."""
        for some in portions(batch):
            columns = [self._java("java.util.Arrays").stream(column) for column in self._columns(some)]
            if self._titles:
                rows = self._java("java.util.stream.IntStream").range(0, len(some.texts))
                lists = [column.toList() for column in columns]
                stream = rows.mapToObj(zipped(self._java, self._document, lists))
            else:
                stream = columns[0].map(self._document)
            gather = handles.method(self._java, STREAM, "toList", LIST)
            write = handles.method(self._java, WRITER, "addDocuments", "long", "java.lang.Iterable")
            write = handles.bind(self._java, write, 0, self._writer)
            gathered = handles.shaped(self._java, gather, "java.lang.Iterable", STREAM)
            self._submit(handles.bind(self._java, handles.then(self._java, gathered, write), 0, stream))

    def commit(self) -> None:
        """Start writing the added texts to disk."""
        commit = handles.method(self._java, WRITER, "commit", "long")
        self._submit(handles.bind(self._java, commit, 0, self._writer))

    def wait(self) -> None:
        """Wait until all submitted work is done."""
        if self._task is not None:
            self._task.get()

    def _columns(self, batch: Batch) -> list[list[str]]:
        return [batch.texts, batch.titles] if self._titles else [batch.texts]

    def _submit(self, handle: Any) -> None:
        task = handles.function(self._java, "Callable", handle, "java.util.concurrent")
        self.wait()
        self._task = self._thread.submit(task)


def portions(batch: Batch) -> Iterator[Batch]:
    """The batch in pieces of at most CHARACTERS characters, or of one text that is longer."""
    first, size = 0, 0
    for i, text in enumerate(batch.texts):
        if i > first and size + len(text) > CHARACTERS:
            yield Batch(batch.positions[first:i], batch.texts[first:i], batch.titles[first:i])
            first, size = i, 0
        size += len(text)
    yield Batch(batch.positions[first:], batch.texts[first:], batch.titles[first:])


def documents(java: Java, titles: bool, vectors: bool) -> Any:
    """A Java function from a text to a Lucene document. With `titles`, it takes text and title."""
    contents = field(java, CONTENTS, vectors)
    if not titles:
        single = handles.static(java, "java.util.Collections", "singletonList", LIST, OBJECT)
        return handles.function(java, "Function", handles.then(java, contents, single))
    pair = handles.static(java, LIST, "of", LIST, OBJECT, OBJECT)
    return handles.fed(java, pair, contents, field(java, TITLE, False))


def field(java: Java, name: str, vectors: bool) -> Any:
    """A handle from a text to the field `name`. The field is indexed with term frequencies and its length,
    and stores a list of its terms if `vectors`."""
    kind = java(f"{LUCENE}.document.FieldType")()
    kind.setTokenized(True)
    kind.setIndexOptions(java(f"{LUCENE}.index.IndexOptions").DOCS_AND_FREQS)
    kind.setStoreTermVectors(vectors)
    kind.freeze()
    takes = ("java.lang.String", "java.lang.CharSequence", f"{LUCENE}.index.IndexableFieldType")
    make = handles.constructor(java, f"{LUCENE}.document.Field", *takes)
    make = handles.bind(java, handles.bind(java, make, 0, name), 1, kind)
    return handles.shaped(java, make, OBJECT, OBJECT)


def zipped(java: Java, handle: Any, columns: list[Any]) -> Any:
    """A Java function that calls the handle with item i of each list."""
    get = handles.method(java, LIST, "get", OBJECT, "int")
    both = handles.fed(java, handle, *(handles.bind(java, get, 0, column) for column in columns))
    return handles.function(java, "IntFunction", handles.shared(java, both, len(columns), LIST, "int"))


def directory(java: Java, folder: Path) -> Any:
    """The folder as a Lucene directory without a lock, because the store has a lock."""
    path = java("java.io.File")(str(folder)).toPath()
    return java(f"{LUCENE}.store.MMapDirectory")(path, java(f"{LUCENE}.store.NoLockFactory").INSTANCE)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
