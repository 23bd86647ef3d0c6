"""Reads vectors from files: .npy with a file of ids, Pyserini's JSON lines, Pyserini's flat faiss index."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from harness.plugin import HarnessError
from harness.toolkit.files.json_lines import Keys, Records
from harness.toolkit.files.paths import bare
from harness.toolkit.files.reading import chunks, lines, lines_of, opened, refuse, text_of
from harness_vectors.ids import Ids, gathered

PICKLE = b"\x80"
CONVERT = (
    "python -c \"import pickle, numpy; v, ids = pickle.load(open('{name}', 'rb')); "
    "numpy.save('{stem}.npy', v); open('{stem}.ids', 'w').writelines(f'{{id}}\\n' for id in ids)\""
)
KEYS = Keys(("id", "vector"), {"id": ("str",), "vector": ("list",), "contents": ("str",)})


class _Line(msgspec.Struct, gc=False):
    id: str
    vector: list[float]
    contents: str = ""


class Embeddings(NamedTuple):
    ids: Ids
    rows: NDArray[Any]  # float16 or float32 [n, d]
    texts: Sequence[str] | None  # None if the file has no texts, or if they are not wanted


def read(path: Path, ids: Path | None = None, texts: bool = False) -> Embeddings:
    """All vectors of a file, mapped into memory if its format allows, and their texts if these are wanted.
    Raises HarnessError for a damaged file and for any pickle. In lines, the error names the line."""
    if path.is_dir():
        embeddings = _faiss(path)
    elif path.suffix == ".npy":
        assert ids is not None  # VectorsParams has checked it
        embeddings = Embeddings(_ids(ids), _array(path), None)
    elif bare(path).suffix == ".jsonl":
        embeddings = _json_lines(path, texts)
    else:
        with opened(path) as file:
            pickled = file.read(1) == PICKLE
        if pickled:
            raise _refused_pickle(path)
        raise HarnessError(f"{path}: is no form of vectors; give .npy, .jsonl or a folder with docid")
    if len(embeddings.ids) != len(embeddings.rows):
        counts = f"{len(embeddings.rows)} vectors and {len(embeddings.ids)} ids"
        raise HarnessError(f"{path}: there are {counts}; give one id for each vector")
    return embeddings


def _array(path: Path) -> NDArray[Any]:
    with opened(path) as file:
        if file.read(1) == PICKLE:
            raise _refused_pickle(path)
    try:
        rows: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        what = "holds Python objects" if "object" in str(error).lower() else "is damaged or cut"
        raise HarnessError(f"{path}: {what}; save the vectors again with numpy.save") from None
    if rows.ndim != 2 or rows.dtype not in (np.float16, np.float32):
        what = f"expected float16 or float32 [n, d], got {rows.dtype} {list(rows.shape)}"
        raise HarnessError(f"{path}: {what}; save it as that")
    return rows


def _ids(path: Path) -> Ids:
    def batches() -> Iterator[list[str]]:
        for first, chunk in chunks(path):
            yield [text_of(path, number, line).strip() for number, line in lines_of(first, chunk)]

    return _different(gathered(batches()), path, lambda: (number for number, _ in lines(path)))


def _different(ids: Ids, path: Path, numbers: Callable[[], Iterator[int]]) -> Ids:
    """`ids` unchanged. Refuses an id that two lines have; `numbers` gives the number of each row's line."""
    repeated = ids.repeated()
    if repeated is not None:
        before, after = (next(islice(numbers(), row, None)) for row in repeated)
        refuse(path, after, f"the id '{ids.at(repeated[1])}' is already at line {before}; keep one")
    return ids


def _json_lines(path: Path, texts: bool) -> Embeddings:
    """The vectors that Pyserini's `encode` writes without --to-faiss, in lines of
    `{"id": ..., "contents": ..., "vector": [...]}`."""
    blocks: list[NDArray[np.float32]] = []
    contents: list[str] = []

    def batches() -> Iterator[list[str]]:
        width = None
        for numbers, batch in _records(path).with_lines():
            for number, line in zip(numbers, batch, strict=True):
                width = len(line.vector) if width is None else width
                if len(line.vector) != width:
                    what = f"the vector has {len(line.vector)} numbers, others have {width}"
                    refuse(path, number, f"{what}; correct the line")
            if batch:
                blocks.append(np.array([line.vector for line in batch], np.float32))
            if texts:
                contents.extend(line.contents for line in batch)
            yield [line.id for line in batch]

    ids = _different(gathered(batches()), path, lambda: (number for number, _ in _records(path).numbered()))
    if not blocks:
        raise HarnessError(f"{path}: has no vectors; encode the texts again")
    return Embeddings(ids, np.concatenate(blocks), contents if texts and all(contents) else None)


def _records(path: Path) -> Records[_Line]:
    return Records(path, (_Line,), KEYS)


def _faiss(folder: Path) -> Embeddings:
    """The vectors that Pyserini's `encode --to-faiss` writes: `index`, a flat index by inner product, and
    `docid`, the ids."""
    try:
        faiss = importlib.import_module("faiss")
    except ImportError:
        what = "is read with faiss, which is not here; pip install 'passage-harness[faiss]'"
        raise HarnessError(f"{folder}: {what}") from None
    ids = _ids(folder / "docid")
    path = folder / "index"
    with opened(path):
        pass  # reports a missing file in the same way as the other formats
    try:
        owner = faiss.read_index(str(path))  # kept, because the cast index does not keep it alive
    except RuntimeError as error:
        why = str(error).splitlines()[0]
        raise HarnessError(f"{path}: faiss cannot read it ({why}); encode again") from None
    index = faiss.downcast_index(owner)
    if not isinstance(index, faiss.IndexFlat):
        what = f"an index of type {type(index).__name__} holds no exact vectors"
        raise HarnessError(f"{path}: {what}; give the flat one that Pyserini's encode writes")
    return Embeddings(ids, index.reconstruct_n(0, index.ntotal), None)


def _refused_pickle(path: Path) -> HarnessError:
    convert = CONVERT.format(name=path.name, stem=path.stem)
    what = "is a pickle, which can run any code and is never loaded"
    return HarnessError(f"{path}: {what}; if you trust it, convert it once: {convert}")
