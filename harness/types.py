"""The data that the harness and its plugins exchange: tuples without behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:  # importing numpy would slow down `harness list`
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
else:

    def __getattr__(name: str) -> object:
        """`Ints` or `Floats`, for modules that import these names and numpy anyway."""
        if name not in ("Ints", "Floats"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import numpy as np
        from numpy.typing import NDArray

        return NDArray[np.int64 if name == "Ints" else np.float32]


JSON: TypeAlias = Any
ANSWER_PATTERN = "regex:"  # how an answer begins that is a regular expression
Unit: TypeAlias = Literal["passage", "document"]
# What a column ranks: passages, documents by their best passage (MaxP), or documents by their first passage
# (FirstP).
ColumnUnit: TypeAlias = Literal["passage", "document", "first"]
Part: TypeAlias = Literal["corpus", "queries", "judgements"]
PARTS: tuple[Part, ...] = ("corpus", "queries", "judgements")
Form: TypeAlias = Literal["text", "terms", "vectors", "ids"]  # the form of a query


class Passage(NamedTuple):
    """A text that is retrieved. A passage that is no candidate only serves as context for others."""

    id: str
    text: str
    candidate: bool = True


class Document(NamedTuple):
    """A document: its title, which may be empty, and its passages in reading order."""

    id: str
    title: str
    passages: tuple[Passage, ...]


class Query(NamedTuple):
    """A query of the chosen split. `slices` names the slices that the query belongs to. `exclude` holds the
    ids of passages that the harness removes before ranking, fusion and re-ranking."""

    id: str
    text: str
    slices: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """The grade of a passage for a query. A grade of 0 or less is not relevant. `labels` names groups that
    this pair belongs to, as `slices` does for a query."""

    query: str
    passage: str
    grade: int
    labels: tuple[str, ...] = ()


class Inputs(NamedTuple):
    """Everything that one part of a dataset is made from. `params` enter the part's key as they are; `files`
    enter it by their contents, in this order."""

    params: Mapping[str, JSON]
    files: tuple[Path, ...] = ()


class Made(NamedTuple):
    """The result of a maker: the parts that its record names in `changes`. The parts are read once each, in
    the order of these fields, so that a later part may use data that an earlier part produced while it was
    read."""

    documents: Iterable[Document] | None = None
    queries: Iterable[Query] | None = None
    judgements: Iterable[Judgement] | None = None


class Official(NamedTuple):
    """Counts that a source prints about a collection, by the names of `harness.collection.cards`."""

    source: str  # "Xie et al. 2023, table 3"
    counts: Mapping[str, int | float]
    comparable: bool = True  # False: counted in another unit, so shown beside our number but not compared


class Card(NamedTuple):
    """The description that a dataset gives of itself. Languages are ISO 639-1 codes, or None if not given."""

    language: str | None
    split: str
    query_language: str | None = None  # None: the passages' language
    licence: str = ""
    citation: str = ""
    url: str = ""
    notes: tuple[str, ...] = ()  # facts that a reader must know, such as how queries were chosen
    official: tuple[Official, ...] = ()  # official counts of this split of the whole collection
    flags: tuple[str, ...] = ()  # warnings that every row of the dataset has, such as a machine's judgements


class Facts(NamedTuple):
    """Facts that are known while a suite is planned. A record's `resolve` replaces parameters that are `auto`
    by means of them."""

    language: str | None
    query_language: str | None
    unit: Unit


class Edit(NamedTuple):
    """An edit of a passage: the characters `start:end` of its own text become `text`. If start == end, `text`
    is inserted."""

    start: int
    end: int
    text: str


class Addition(NamedTuple):
    """The context that one stage adds to one document."""

    prefix: str = ""  # goes before every passage, and once before the whole document
    prefixes: tuple[str, ...] = ()  # one prefix per passage, or empty
    edits: tuple[tuple[Edit, ...], ...] = ()  # the edits of each passage in order, or empty
    counts: Mapping[str, int] = {}  # of what the row reports, summed over all documents


class Batch(NamedTuple):
    """Some texts of a corpus as a system reads them. Positions are numbers of passages, or of documents if
    the unit is documents."""

    positions: Ints  # int64[n], ascending
    texts: list[str]  # the composed text: context, then the passage
    titles: list[str]  # the document's title of each text, for methods that keep fields apart


class WholeDocument(NamedTuple):
    """A document as a system reads it: all its passages in reading order, candidates or not."""

    number: int  # as `Texts.document_of` gives it
    title: str
    prefixes: tuple[str, ...]  # what each context stage puts before the whole document, such as its title
    positions: Ints  # int64[n]: of its passages
    candidates: NDArray[np.bool_]  # bool[n]
    texts: list[str]  # the passages with the context of their own, without `prefixes`


class IndexPart(NamedTuple):
    """A range of a corpus' texts that a worker has indexed, and the folder with the worker's files."""

    start: int  # a number of a text, counted as in `Texts.batches`
    stop: int
    folder: Path


class Hits(NamedTuple):
    """The hits of Q queries: at most k positions with scores for each query. A short row is filled with
    -1."""

    passages: Ints  # int64[Q, k]
    scores: Floats  # float32[Q, k]
    unit: Unit = "passage"


class Rewritten(NamedTuple):
    """The rewritten queries in one of three forms. The field of this form has an entry for each query; the
    others are None."""

    texts: list[str] | None = None
    terms: list[dict[str, float]] | None = None  # the retriever's own terms, each with a weight above 0
    vectors: Floats | None = None  # float32[Q, d]
    ids: list[str] | None = None  # the dataset's ids, beside the texts of queries that are not rewritten


class TermStatistics(NamedTuple):
    """The statistics of n terms in an index. A term that the index lacks occurs 0 times."""

    texts: Ints  # int64[n]: the number of texts that have the term
    occurrences: NDArray[np.float64]  # float64[n]: the number of occurrences of the term
    all_texts: int  # the number of texts of the index
    all_occurrences: float  # the number of occurrences of all terms of the index


class Structure(NamedTuple):
    """The structure of a corpus: how passages make up documents. A combiner knows no more of a corpus."""

    document_of: NDArray[np.int32]  # int32[N]: the document of each passage
    first: Ints  # int64[D + 1]: document d has the passages first[d] to first[d + 1] - 1
    candidate: NDArray[np.bool_]  # bool[N]


class Asked(NamedTuple):
    """The queries of a combiner's hits, as one that learns from queries sees them."""

    texts: Sequence[str]
    # float64[n] for each query: ln(1 + texts of the index / texts with the term) of each of its n terms, by
    # the first input whose retriever has terms; None if no input's has
    idf: Sequence[NDArray[np.float64]] | None


class Pool(NamedTuple):
    """The passages of each query that a trainer may draw from, best first."""

    bounds: Ints  # int64[Q + 1]: query q has passages[bounds[q]:bounds[q + 1]]
    passages: Ints  # int64[n]: positions
    scores: Floats  # float32[n]: the passages' scores in the run; NaN: the run does not have the passage

    def of(self, query: int) -> tuple[Ints, Floats]:
        here = slice(int(self.bounds[query]), int(self.bounds[query + 1]))
        return self.passages[here], self.scores[here]


class Examples(NamedTuple):
    """The training data of a trainer: queries of training splits with judged positives and mined negatives.
    The negatives of a query contain none of its judged positives, and no passage with the text of one."""

    queries: list[str]
    positives: Pool
    negatives: Pool
    take: int  # the largest number of negatives of a query in one epoch
    draw: Literal["sample", "stride"]  # how negatives are drawn
    texts_at: Callable[[Ints], list[str]]  # positions -> texts
    undenoised: Pool | None = None  # the negatives before any was removed by its score
    share: float = 0.0  # the share of the negatives that are drawn from `undenoised`
    judged: Pool | None = None  # with `apart`: the positives without those by score
    apart: bool = False  # whether an epoch also has lists of `judged` positives and `undenoised` negatives
    titles_at: Callable[[Ints], list[str]] | None = None  # positions -> titles; "" if there is none


class TrainingSize(NamedTuple):
    """What the number of steps of a training depends on, beside its parameters."""

    queries: int  # the queries that have a positive
    positives: int
    take: int  # the largest number of negatives of a list
    apart: bool  # whether undenoised lists stand beside the others


class Training(NamedTuple):
    """The segment of a training that is to be done. It continues from the files of the segment before it."""

    seed: int
    segment: int = 0
    segments: int = 1
    before: Path | None = None  # the folder of the segment before
    progress: Callable[[int, int, str], None] = lambda done, total, note: None
    measured: Callable[[Mapping[str, float]], None] = lambda numbers: None  # shown with the step's cost
