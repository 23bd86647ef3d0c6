"""Builds Lucene indexes of a corpus: parts of a fixed size, several at once, every text in its place."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import Texts
from harness.types import Batch
from harness_lucene import handles
from harness_lucene.runtime import Java

PART = 250_000  # texts in one Lucene index; the results of a search do not depend on it
TEXTS = 2048  # handed to Java in one call,
CHARACTERS = 8_000_000  # or fewer, if they are long
BUFFER_MB = 256.0  # of postings that a writer keeps in memory
WRITERS = 4  # at once, at most, so that their buffers fit into the heap

CONTENTS, TITLE = "contents", "title"  # the fields; Anserini's feedback reads the first by its name
LUCENE, LIST, OBJECT = "org.apache.lucene", "java.util.List", "java.lang.Object"


def write(
    texts: Texts, folder: Path, java: Java, analyser: Callable[[], Any], titles: bool, vectors: bool
) -> None:
    """Index all texts into `folder/part-*`, in their order, and remember their positions. `vectors` keeps
    each text's terms, for feedback."""
    shutil.rmtree(folder, ignore_errors=True)  # what a killed run left
    folder.mkdir(parents=True)
    starts = list(range(0, max(len(texts), 1), PART))  # an empty corpus has an empty index
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for start in starts:
        waiting.put(start)
    found: dict[int, list[np.ndarray[Any, Any]]] = {}
    failures: list[BaseException] = []

    def work() -> None:
        from jnius import detach

        try:
            while not failures:
                start = waiting.get_nowait()
                part = Part(java, folder / f"part-{start // PART:06}", analyser(), titles, vectors)
                found[start] = part.write(texts, start, lambda: bool(failures))
        except queue.Empty:
            pass
        except BaseException as error:
            failures.append(error)
        finally:
            detach()  # a thread that ends while Java knows it would end the process

    threads = [threading.Thread(target=work) for _ in range(min(len(starts), WRITERS, cores()))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    every = [item for start in starts for item in found[start]]
    np.save(folder / "positions.npy", np.concatenate([*every, np.zeros(0, np.int64)]), allow_pickle=False)


class Part:
    """A writer of one Lucene index."""

    def __init__(self, java: Java, folder: Path, analyser: Any, titles: bool, vectors: bool) -> None:
        self._java, self._titles = java, titles
        self._document = documents(java, titles, vectors)
        config = java(f"{LUCENE}.index.IndexWriterConfig")(analyser)
        config.setRAMBufferSizeMB(BUFFER_MB)
        config.setUseCompoundFile(False)
        # Lucene numbers texts as they come, and its own policies for merging would move them
        config.setMergePolicy(java(f"{LUCENE}.index.NoMergePolicy").INSTANCE)
        self._directory = directory(java, folder)
        self._writer = java(f"{LUCENE}.index.IndexWriter")(self._directory, config)

    def write(self, texts: Texts, start: int, stop: Callable[[], bool]) -> list[np.ndarray[Any, Any]]:
        """Index the texts of this part; the result is their positions."""
        found = []
        try:
            for batch in texts.batches(TEXTS, start, min(start + PART, len(texts))):
                if stop():
                    break
                found.append(batch.positions)
                for some in portions(batch):
                    self._add(some)
            self._writer.commit()
        finally:
            self._writer.rollback()  # closes; what is committed stays
            self._directory.close()
        return found

    def _add(self, batch: Batch) -> None:
        arrays = self._java("java.util.Arrays")
        if not self._titles:
            made = arrays.stream(batch.texts).map(self._document)
        else:
            columns = [arrays.stream(column).toList() for column in (batch.texts, batch.titles)]
            rows = self._java("java.util.stream.IntStream").range(0, len(batch.texts))
            made = rows.mapToObj(zipped(self._java, self._document, columns))
        self._writer.addDocuments(made.toList())


def portions(batch: Batch) -> Iterator[Batch]:
    """The batch in pieces of a bounded number of characters, each of at least one text."""
    first, size = 0, 0
    for i, text in enumerate(batch.texts):
        if i > first and size + len(text) > CHARACTERS:
            yield Batch(batch.positions[first:i], batch.texts[first:i], batch.titles[first:i])
            first, size = i, 0
        size += len(text)
    yield Batch(batch.positions[first:], batch.texts[first:], batch.titles[first:])


def documents(java: Java, titles: bool, vectors: bool) -> Any:
    """A function of a text that makes Lucene's document of it; with titles a handle of text and title."""
    contents = field(java, CONTENTS, vectors)
    if not titles:
        single = handles.static(java, "java.util.Collections", "singletonList", LIST, OBJECT)
        return handles.function(java, "Function", handles.then(java, contents, single))
    pair = handles.static(java, LIST, "of", LIST, OBJECT, OBJECT)
    return handles.fed(java, pair, contents, field(java, TITLE, False))


def field(java: Java, name: str, vectors: bool) -> Any:
    """A handle that makes the field of that name of a text, indexed with its frequencies and length, and
    with a list of its terms if asked."""
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
    """A function of i that gives the handle item i of each list."""
    get = handles.method(java, LIST, "get", OBJECT, "int")
    both = handles.fed(java, handle, *(handles.bind(java, get, 0, column) for column in columns))
    return handles.function(java, "IntFunction", handles.shared(java, both, len(columns), LIST, "int"))


def directory(java: Java, folder: Path) -> Any:
    """The folder as Lucene sees it, without a lock: the store has one."""
    path = java("java.io.File")(str(folder)).toPath()
    return java(f"{LUCENE}.store.MMapDirectory")(path, java(f"{LUCENE}.store.NoLockFactory").INSTANCE)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
