"""The retriever of both records. It builds an index or checks an existing one, and opens it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness.plugin import Texts
from harness_lucene import LuceneBM25, LuceneQL, languages, prebuilt, reading, runtime, writing
from harness_lucene.searching import Numbered, Search

OWN = "lucene"  # the folder of an index that the harness built
POSITIONS = "positions.npy"


class Lucene:
    """A retriever by BM25 or query likelihood, depending on the type of its parameters."""

    def __init__(self, params: LuceneBM25 | LuceneQL) -> None:
        self._params = params
        self._vectors = isinstance(params, LuceneBM25) and params.rm3
        self._where = "prebuilt" if params.prebuilt is not None else "index"

    def index(self, texts: Texts, folder: Path) -> None:
        java = runtime.java()
        index_folder = self._named_index(java)
        if index_folder is None:
            analyser = languages.resolve(self._params.analyser, texts.language)
            titles = self._params.title_weight > 0
            make = lambda: languages.analyser(java, analyser)  # noqa: E731 - one for each writer
            writing.write(texts, folder / OWN, java, make, titles, self._vectors)
            return
        reader = reading.foreign(java, index_folder, self._where, self._vectors)
        reading.check(reader, index_folder, self._where)
        numbers = reading.positions(java, reader, texts, index_folder, self._where)
        np.save(folder / POSITIONS, numbers, allow_pickle=False)

    def open(self, texts: Texts, folder: Path) -> Search:
        java = runtime.java()
        index_folder = self._named_index(java)
        if index_folder is None:
            reader, numbers = reading.parts(java, folder / OWN), np.load(folder / OWN / POSITIONS)
        else:
            reader = reading.foreign(java, index_folder, self._where, self._vectors)
            numbers = np.load(folder / POSITIONS)
        name = languages.resolve(self._params.analyser, texts.language)
        return Search(
            java, reader, languages.analyser(java, name), self._params, Numbered(numbers, texts.unit)
        )

    def _named_index(self, java: Any) -> Path | None:
        """The folder of the index that the suite names, or None if it names none."""
        if self._params.prebuilt is not None:
            return prebuilt.folder(java, self._params.prebuilt)
        return self._params.index
