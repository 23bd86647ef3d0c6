"""The retriever `vectors`: exact search of precomputed vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.hookspecs import hookimpl
from harness.records import Retriever, param

if TYPE_CHECKING:
    from harness_vectors.retriever import Vectors


@dataclass(frozen=True)
class VectorsParams:
    """Vectors are in a `.npy` with a file of ids, in Pyserini's `.jsonl`, or in Pyserini's folder with a flat
    faiss index and `docid`."""

    passages: Path = param(help="vectors of the passages, or of documents where the unit is document")
    queries: Path = param(help="vectors of the queries")
    passage_ids: Path | None = param(None, "for .npy: one id a line, in the order of the vectors")
    query_ids: Path | None = param(None, "for .npy: one id a line, in the order of the vectors")
    query_texts: Path | None = param(
        None, "the queries' texts by id, as JSON lines or id, tab, text; Pyserini's .jsonl has them"
    )
    similarity: Literal["dot", "cosine"] = param("dot", "how vectors are compared")
    missing: Literal["refuse", "skip"] = param(
        "refuse", "a passage or query without a vector: refuse it, or never find it and find nothing for it"
    )

    def __post_init__(self) -> None:
        for name, ids in (("passages", "passage_ids"), ("queries", "query_ids")):
            plain = getattr(self, name).suffix == ".npy"
            if plain and getattr(self, ids) is None:
                raise ValueError(f"'{name}' is a .npy file, which has no ids; give them as '{ids}'")
            if not plain and getattr(self, ids) is not None:
                raise ValueError(f"'{name}' has ids of its own; leave '{ids}' out")
        if self.query_texts is None and ".jsonl" not in self.queries.suffixes:
            raise ValueError("'queries' has no texts to know a query by; give them as 'query_texts'")


def missing_files(params: VectorsParams) -> Sequence[str]:
    paths = (params.passages, params.passage_ids, params.queries, params.query_ids, params.query_texts)
    return [f"the file {path} (there is none)" for path in paths if path is not None and not path.exists()]


def build(params: VectorsParams) -> Vectors:
    from harness_vectors.retriever import Vectors

    return Vectors(params)


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="vectors",
        summary="Vectors that were made elsewhere, searched exactly: .npy with ids, or Pyserini's forms",
        build=build,
        params=VectorsParams,
        libraries=("numba",),
        missing_files=missing_files,
        search_only=("queries", "query_ids", "query_texts"),
    )
