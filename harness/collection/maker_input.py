"""The input of a stage that makes a collection: the collection so far, runs on it and other collections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harness.collection.corpus import Corpus
from harness.collection.queries import Judgements, Queries
from harness.collection.tally import Tally
from harness.errors import ContractError
from harness.types import Document, Floats, Hits, Judgement, Query

T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """The parts of a collection as columns. Reading a part raises ContractError if the maker's record does
    not name the part in `reads`."""

    language: str | None
    query_language: str | None  # None: the passages' language
    split: str
    read_corpus: Corpus | None
    read_queries: Queries | None
    read_judgements: Judgements | None

    @property
    def corpus(self) -> Corpus:
        return _checked_present(self.read_corpus, "corpus")

    @property
    def queries(self) -> Queries:
        return _checked_present(self.read_queries, "queries")

    @property
    def judgements(self) -> Judgements:
        return _checked_present(self.read_judgements, "judgements")

    def documents(self) -> Iterator[Document]:
        """All documents of the corpus in order, streamed."""
        return self.corpus.documents_in(0, self.corpus.documents)

    def asked(self) -> list[Query]:
        """The queries as tuples, in order."""
        rows = zip(*self.queries, strict=True)
        return [Query(id, text, *(tuple(item) for item in lists)) for id, text, *lists in rows]

    def judged(self) -> Iterator[Judgement]:
        """The judgements as tuples, in order."""
        stored = self.judgements
        labels = stored.labels or [()] * len(stored.grade)
        rows = zip(stored.query, stored.passage, stored.grade, labels, strict=True)
        for query, passage, grade, named in rows:
            yield Judgement(stored.query_ids[query], stored.passage_ids[passage], int(grade), tuple(named))


@dataclass(frozen=True)
class MakerInput(Parts):
    """The input of a maker's `make`."""

    dataset: str  # the made dataset's name
    folder: Path  # for working files; the files in `folder / "kept"` stay with the stage
    licence: str = ""
    citation: str = ""
    url: str = ""
    tally: Tally = field(default_factory=Tally)
    runs: Mapping[str, Hits] = field(default_factory=dict)  # system -> its hits, row q is query q
    others: Mapping[str, Parts] = field(default_factory=dict)  # by the names in the parameters
    encode: Callable[[Sequence[str], bool], Floats] | None = None  # works as `contracts.Encoding.encode`
    # the scores of pairs of a text and another text, by a re-ranker: float32[n]
    score: Callable[[Sequence[str], Sequence[str]], Floats] | None = None
    progress: Callable[..., None] = lambda done, total, note="": None


def _checked_present(part: T | None, name: str) -> T:
    if part is None:
        raise ContractError(f"it reads the {name}, which its record does not name in `reads`")
    return part
