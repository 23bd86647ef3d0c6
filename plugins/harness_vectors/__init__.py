"""The retriever `vectors`: exact search of precomputed vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.plugin import Facts, HarnessError, Retriever, hookimpl, param


@dataclass(frozen=True)
class VectorsParams:
    """The parameters of `vectors`. Vectors are in a `.npy` with a file of ids, in Pyserini's `.jsonl`, or in
    Pyserini's folder with a flat faiss index and `docid`."""

    passages: Path = param(help="the vectors of the passages, or of the documents with unit: document")
    passage_ids: Path | None = param(
        None, "for .npy: a file with one id per line, in the order of the vectors"
    )
    queries: Path | None = param(None, "the vectors of the queries; needed only for searching")
    query_ids: Path | None = param(None, "for .npy: a file with one id per line, in the order of the vectors")
    query_texts: Path | None = param(
        None,
        'the texts of the queries: a .jsonl with lines {"_id": "q1", "text": "..."}, or a file with lines of '
        "id, tab, text; Pyserini's .jsonl of vectors has them already",
    )
    similarity: Literal["dot", "cosine"] = param("dot", "how vectors are compared")
    stored: Literal["auto", "fp32", "fp16", "int8"] = param(
        "auto", "how vectors are stored: as in the file, or in fp32, fp16 or int8"
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if a passage or query has no vector: refuse, or skip (not retrieved, or without results)"
    )

    def __post_init__(self) -> None:
        for name, ids in (("passages", "passage_ids"), ("queries", "query_ids")):
            path, names = getattr(self, name), getattr(self, ids)
            plain = path is not None and path.suffix == ".npy"
            if plain and names is None:
                raise ValueError(f"'{name}' is a .npy file, which has no ids; give them as '{ids}'")
            if not plain and names is not None:
                raise ValueError(f"'{ids}' is for a .npy file; leave it out, or give one as '{name}'")
        if self.queries is not None and self.query_texts is None and ".jsonl" not in self.queries.suffixes:
            form = 'a .jsonl with lines `{"_id": "q1", "text": "..."}`, or lines of id, tab, text'
            what = "'queries' has no texts, by which a query finds its vector"
            raise ValueError(f"{what}; give them as 'query_texts': {form}")


def resolve(params: VectorsParams, facts: Facts) -> VectorsParams:
    """`params` unchanged. Refuses parameters without vectors of queries, because a system has to search."""
    if params.queries is None:
        raise HarnessError("vectors: there are no vectors of queries; give them as 'queries'")
    return params


def missing_files(params: VectorsParams) -> Sequence[str]:
    paths = (params.passages, params.passage_ids, params.queries, params.query_ids, params.query_texts)
    return [f"the file {path} (there is none)" for path in paths if path is not None and not path.exists()]


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="vectors",
        summary="Precomputed vectors, searched exactly: .npy with ids, or Pyserini's forms",
        build="harness_vectors.retriever:Vectors",
        params=VectorsParams,
        libraries=("numba",),
        resolve=resolve,
        missing_files=missing_files,
        search_only=("queries", "query_ids", "query_texts"),
        cores="all",
        precomputed=True,
    )
