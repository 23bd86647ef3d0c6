"""A small collection as a maker is given it, from tuples."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.maker_input import MakerInput, Parts
from harness.collection.queries import read_judgements, read_queries, write_judgements, write_queries
from harness.types import Document, Judgement, Query


def parts(
    folder: Path, documents: Iterable[Document], queries: Iterable[Query], judgements: Iterable[Judgement]
) -> dict[str, Any]:
    for part in ("corpus", "queries", "judgements"):
        (folder / part).mkdir(parents=True)
    source: Any = SimpleNamespace(documents=lambda: iter(documents))
    corpus.write(source, folder / "corpus", lambda done, total, note="": None)
    write_queries(queries, folder / "queries")
    write_judgements(judgements, folder / "judgements")
    return {
        "read_corpus": Corpus(folder / "corpus"),
        "read_queries": read_queries(folder / "queries"),
        "read_judgements": read_judgements(folder / "judgements"),
    }


def collection(
    folder: Path,
    documents: Iterable[Document],
    queries: Iterable[Query],
    judgements: Iterable[Judgement],
    language: str = "en",
    **more: Any,
) -> MakerInput:
    (folder / "working").mkdir()
    return MakerInput(
        language=language, query_language=None, split="test", dataset="made", folder=folder / "working",
        **parts(folder / "given", documents, queries, judgements), **more,
    )  # fmt: skip


def other(
    folder: Path,
    documents: Iterable[Document],
    queries: Iterable[Query],
    judgements: Iterable[Judgement],
    language: str = "en",
) -> Parts:
    """Another collection that a maker looks at."""
    read = parts(folder, documents, queries, judgements)
    return Parts(language=language, query_language=None, split="other", **read)
