"""The data that crosses the boundary between the harness and its plugins: tuples, no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:  # `harness list` must not pay for numpy
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]

JSON: TypeAlias = Any
Unit: TypeAlias = Literal["passage", "document"]
# What a column ranks: passages, documents by their best passage (MaxP), documents by their first (FirstP).
ColumnUnit: TypeAlias = Literal["passage", "document", "first"]
Part: TypeAlias = Literal["corpus", "queries", "judgements"]
Form: TypeAlias = Literal["text", "terms", "vectors"]  # of a query


class Passage(NamedTuple):
    """What is retrieved. A passage that is no candidate is context for others, never an answer."""

    id: str
    text: str
    candidate: bool = True


class Document(NamedTuple):
    """A title (perhaps empty) and the passages in reading order."""

    id: str
    title: str
    passages: tuple[Passage, ...]


class Query(NamedTuple):
    """A question of the chosen split. `slices` name the groups it is also reported in; `exclude` are
    passage ids that the harness removes before ranking, fusion and re-ranking."""

    id: str
    text: str
    slices: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """How relevant a passage is to a query: 0 or less is not. `labels` name the groups of this pair, as
    `slices` of a query name those of the query."""

    query: str
    passage: str
    grade: int
    labels: tuple[str, ...] = ()


class Inputs(NamedTuple):
    """All that one part of a dataset is made from. `params` enter the part's key as they are, `files`
    by their contents, in this order."""

    params: Mapping[str, JSON]
    files: tuple[Path, ...] = ()


class Made(NamedTuple):
    """What a maker hands over: the parts that its record says it changes. They are read in this order, each
    once, so that a later one may use what an earlier one left behind while it was read."""

    documents: Iterable[Document] | None = None
    queries: Iterable[Query] | None = None
    judgements: Iterable[Judgement] | None = None


class Official(NamedTuple):
    """Counts that a source prints about a collection, by the names of `harness.collection.cards`."""

    source: str  # "Xie et al. 2023, table 3"
    counts: Mapping[str, int | float]
    comparable: bool = True  # False: counted in another unit, so shown beside ours and not held against it


class Card(NamedTuple):
    """What a dataset says of itself. Languages are ISO 639-1 codes, None where it does not say."""

    language: str | None
    split: str
    query_language: str | None = None  # None: the passages' language
    licence: str = ""
    citation: str = ""
    url: str = ""
    notes: tuple[str, ...] = ()  # what a reader must know, such as how queries were chosen
    official: tuple[Official, ...] = ()  # of this split of the whole collection


class Facts(NamedTuple):
    """What is known when a suite is planned, for parameters that are `auto`."""

    language: str | None
    query_language: str | None
    unit: Unit


class Edit(NamedTuple):
    """Characters `start:end` of a passage's own text become `text` (start == end inserts)."""

    start: int
    end: int
    text: str


class Addition(NamedTuple):
    """What one stage of context adds to one document."""

    prefix: str = ""  # goes before every passage, and once before the whole document
    prefixes: tuple[str, ...] = ()  # one a passage, or none at all
    edits: tuple[tuple[Edit, ...], ...] = ()  # those of each passage in order, or none at all


class Batch(NamedTuple):
    """Some texts of a corpus as a system sees them. Positions count passages, or documents where
    that is the unit."""

    positions: Ints  # int64[n], ascending
    texts: list[str]  # the composed text: context, then the passage
    titles: list[str]  # the document's title, for methods that keep fields apart


class IndexPart(NamedTuple):
    """A range of a corpus' texts that a worker has indexed, and the folder with what it wrote."""

    start: int  # counts texts, as `Texts.batches` does
    stop: int
    folder: Path


class Hits(NamedTuple):
    """What was found for Q queries: at most k positions each, -1 fills a short row."""

    passages: Ints  # int64[Q, k]
    scores: Floats  # float32[Q, k]
    unit: Unit = "passage"


class Rewritten(NamedTuple):
    """What a rewriter made of queries: one of these has an entry for each query, the others are None."""

    texts: list[str] | None = None
    terms: list[dict[str, float]] | None = None  # the retriever's own terms, each with a weight above 0
    vectors: Floats | None = None  # float32[Q, d]


class TermStatistics(NamedTuple):
    """What an index knows of some terms; one that it does not have occurs 0 times."""

    texts: Ints  # int64[n]: how many texts have the term
    occurrences: NDArray[np.float64]  # float64[n]
    all_texts: int  # of the index
    all_occurrences: float


class Structure(NamedTuple):
    """How passages make up documents: all that a combiner may know of a corpus."""

    document_of: NDArray[np.int32]  # int32[N]: the document of each passage
    first: Ints  # int64[D + 1]: document d has the passages first[d] to first[d + 1] - 1
    candidate: NDArray[np.bool_]  # bool[N]


class Pool(NamedTuple):
    """The passages of each query that a trainer may draw from, best first."""

    bounds: Ints  # int64[Q + 1]: those of query q are passages[bounds[q]:bounds[q + 1]]
    passages: Ints  # int64[n]: positions
    scores: Floats  # float32[n]: what the run gave them, NaN where it did not find them

    def of(self, query: int) -> tuple[Ints, Floats]:
        here = slice(int(self.bounds[query]), int(self.bounds[query + 1]))
        return self.passages[here], self.scores[here]


class Examples(NamedTuple):
    """What a trainer learns from: queries of training splits with judged positives and mined negatives. No
    judged positive of a query, nor a passage with the same text as one, is among its negatives."""

    queries: list[str]
    positives: Pool
    negatives: Pool
    take: int  # negatives of a query in one epoch, at most
    draw: Literal["sample", "stride"]  # how they are drawn
    texts_at: Callable[[Ints], list[str]]  # the texts of positions
    undenoised: Pool | None = None  # the negatives before any was removed by its score
    share: float = 0.0  # of the negatives, which are drawn from `undenoised`


class Training(NamedTuple):
    """Which part of a training is to be done. A segment begins with what the one before it left."""

    seed: int
    segment: int = 0
    segments: int = 1
    before: Path | None = None  # the folder of the segment before
    progress: Callable[[int, int, str], None] = lambda done, total, note: None
    measured: Callable[[Mapping[str, float]], None] = lambda numbers: None  # shown with the step's cost
