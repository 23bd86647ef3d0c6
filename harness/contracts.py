"""What a record's `build` returns: the methods that the harness calls on each kind of plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.types import (
    JSON,
    Addition,
    Batch,
    Card,
    Document,
    Examples,
    Hits,
    IndexPart,
    Inputs,
    Judgement,
    Made,
    Part,
    Query,
    Rewritten,
    Structure,
    TermStatistics,
    Training,
    Unit,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from harness.collection.maker_input import MakerInput
    from harness.findings import Finding
    from harness.scoring.analysis_input import AnalysisInput
    from harness.types import Floats, Ints


class Source(Protocol):
    """A dataset. `card` and `inputs` are cheap and are called while planning; the rest streams."""

    def card(self) -> Card: ...

    def inputs(self, part: Part) -> Inputs:
        """What this part is made from; parameters that do not change it stay out."""
        ...

    def documents(self) -> Iterable[Document]: ...

    def queries(self) -> Iterable[Query]: ...

    def judgements(self) -> Iterable[Judgement]: ...


@runtime_checkable
class ColumnarSource(Source, Protocol):
    """A dataset that hands its passages over as Arrow batches, for speed (`harness.collection.corpus.ROWS` is
    their schema); the harness then never asks for `documents`."""

    def rows(self) -> Iterable[pa.RecordBatch]: ...

    def locate(self, row: int) -> str:
        """Where that row (counted from 0) came from, as `file:line`, for a message about it."""
        ...


@runtime_checkable
class Traced(Source, Protocol):
    """A dataset that can say where a judgement stands, for messages about one."""

    def locate_judgement(self, query: str, passage: str) -> str:
        """`file:line` of a judgement that it yields."""
        ...


@runtime_checkable
class Fetching(Source, Protocol):
    """A dataset whose files anyone may download."""

    def fetch(self) -> Iterable[Path]:
        """Download what is not here to where it is read from, and yield each file as it is whole."""
        ...


class Texts(Protocol):
    """A corpus as one system sees it: context composed, only candidates, by passage or document."""

    @property
    def language(self) -> str | None: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def size(self) -> int:
        """How many positions there are, candidates or not: the upper bound of every position."""
        ...

    def __len__(self) -> int:
        """How many texts `batches` yields."""
        ...

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """All texts of candidates in order of position, streamed; `start` and `stop` count texts, so
        that shards are fixed ranges."""
        ...

    def take(self, positions: Ints) -> list[str]:
        """The texts at these positions, in their order."""
        ...

    def ids(self, positions: Ints) -> list[str]:
        """The collection's own ids of the texts at these positions."""
        ...

    def progress(self, done: int) -> None:
        """Tell that so many texts are done. A method that reads far ahead of its work calls it; of the
        others the harness shows how much they have read."""
        ...


class Augmenter(Protocol):
    """A context-augmenter: one addition for each document, in order. Stages of a chain each see the
    document as it was read, and are composed in the order written."""

    def augment(self, documents: Iterable[Document]) -> Iterable[Addition]: ...


@runtime_checkable
class Matching(Protocol):
    """A context-augmenter that reads a file made for a corpus, and so has to say whether it fits."""

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> Mapping[str, JSON]:
        """Called once before any document is augmented, with the ids of the whole corpus, streamed. It may
        raise a HarnessError; what it returns is shown with the row."""
        ...


class Searcher(Protocol):
    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best for each query, best first. `within` (int64[Q, n], -1 fills) names the positions
        to score exactly instead of the whole corpus. The hits count what the texts count: passages, or
        documents; the harness sets their unit."""
        ...


@runtime_checkable
class TermSearcher(Searcher, Protocol):
    """A searcher of terms, as a retriever has that takes queries in the form `terms`."""

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """The index's terms of each text, as often as they occur."""
        ...

    def statistics(self, terms: Sequence[str]) -> TermStatistics: ...

    def search_terms(
        self, queries: Sequence[Mapping[str, float]], k: int, within: Ints | None = None
    ) -> Hits:
        """As `search`, for queries of weighted terms. What the index does not have counts nothing."""
        ...


@runtime_checkable
class VectorSearcher(Searcher, Protocol):
    """A searcher of vectors, as a retriever has that takes queries in the form `vectors`."""

    def encode(self, queries: Sequence[str]) -> Floats:
        """float32[Q, d]: the vectors that `search` would search with."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """float32[n, d]: the vectors that passages with these texts would have."""
        ...

    def vectors(self, positions: Ints) -> Floats:
        """float32[n, d]: those of the index; zeros for a position that it does not have."""
        ...

    def search_vectors(self, queries: Floats, k: int, within: Ints | None = None) -> Hits: ...


class Writer(Protocol):
    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        """What to search for instead of each query, in the form that the record `gives`. `feedback` are the
        hits of the queries, best first: as many as the suite's depth, if the record asks for some. Each query
        is rewritten by itself."""
        ...


class Rewriter(Protocol):
    """A way to rewrite queries. It never sees judgements. `index` is called only if its record says so."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None: ...

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Writer:
        """`searcher` is the retriever's: a TermSearcher or VectorSearcher for a rewriter that gives terms or
        vectors, None for others."""
        ...


class Indexer(Protocol):
    """A retriever. It never sees judgements, nor the dataset's name."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None:
        """Write an index into `folder`; what a killed run left there may be used or overwritten. What it
        returns is shown with the row: facts that depend on the inputs alone, such as texts cut short."""
        ...

    def open(self, texts: Texts, folder: Path) -> Searcher: ...


@runtime_checkable
class Divisible(Indexer, Protocol):
    """A retriever whose index several workers can make, each a range of texts. The files that `join` leaves
    are those that `index` leaves, byte for byte."""

    @property
    def block(self) -> int:
        """How many texts cannot be cut apart: every range begins at a multiple of it."""
        ...

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        """Write into `folder` what `join` needs of the texts `start` to `stop` - 1, as `Texts.batches` counts
        them. What a killed run left there may be used or overwritten."""
        ...

    def join(self, texts: Texts, parts: Sequence[IndexPart], folder: Path) -> Mapping[str, JSON] | None:
        """Write the index into `folder`, which is empty, from the parts of all texts, in order. Returns what
        `index` returns."""
        ...


class Scorer(Protocol):
    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        """float32[Q, n] for the candidates int64[Q, n]; whatever stands at a -1 is not read."""
        ...


class Judge(Protocol):
    """A re-ranker. `index` is called only if its record says `indexed`."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None: ...

    def open(self, texts: Texts, folder: Path | None) -> Scorer: ...


@runtime_checkable
class Reporting(Protocol):
    """A searcher or scorer that has something to tell at the end of its step, as `index` does: the recall of
    an approximate search, say. A scorer tells counts, such as pairs cut short: a step that goes on after a
    killed run adds up what each part of it told."""

    def report(self) -> Mapping[str, JSON]: ...


@runtime_checkable
class Counting(Protocol):
    """A searcher that reports. If `counts` is true, its report holds nothing but counts over queries, such as
    queries cut short: then several workers may search, and what they report adds up."""

    @property
    def counts(self) -> bool: ...

    def report(self) -> Mapping[str, JSON]: ...


class Fuser(Protocol):
    """A combiner of the hits of several systems over the same queries and corpus."""

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        """At most `depth` passages a query, from inputs that are each sorted best first."""
        ...


class Trainer(Protocol):
    """Makes models. It never sees what the suite scores."""

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON] | None:
        """Train one segment and leave each part's model in `folder / part`. What a killed run left in
        `folder` may be used; the files end as the same bytes, killed or not. Unless the segment is the last,
        `folder` also holds what the next one needs. What is returned is shown with the row."""
        ...


class Maker(Protocol):
    """A stage of making a collection: it is a pure function of what it is given."""

    def make(self, given: MakerInput) -> Made:
        """The parts that its record names in `changes`. What it drops, and why, goes into `given.tally`.
        Every judgement must be of a query that is still asked."""
        ...


@runtime_checkable
class Encoding(Protocol):
    """A retriever that can say how it sees a text: makers and analyses compare texts by it."""

    def encode(self, texts: Sequence[str], queries: bool) -> Floats:
        """float32[n, d], of the texts as queries or as passages; similarity is the cosine of two rows."""
        ...


class Analyst(Protocol):
    """An analysis of finished runs."""

    def analyse(self, data: AnalysisInput) -> Iterable[Finding]:
        """Its findings on one dataset: each a small table, and how to draw it."""
        ...


class Rescore(Protocol):
    """Has the retriever of one of a combiner's inputs score further positions."""

    def __call__(self, number: int, positions: Ints, first: int = 0) -> Hits:
        """The positions (int64[q, n], -1 fills) of the queries `first` to `first` + q - 1, scored by the
        retriever of that input, best first, without what a query excludes."""
        ...


class DeepFuser(Protocol):
    """A combiner whose record names inputs in `within`: it may have them score further positions."""

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure, rescore: Rescore) -> Hits: ...
