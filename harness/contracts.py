"""The contracts of plugins: the methods that the harness calls on the results of records' `build`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.types import (
    JSON,
    Addition,
    Asked,
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
    WholeDocument,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from harness.collection.maker_input import MakerInput
    from harness.findings import Finding
    from harness.scoring.analysis_input import AnalysisInput
    from harness.types import Floats, Ints


class Source(Protocol):
    """A dataset. `card` and `inputs` are called while planning and must be cheap; the other methods
    stream."""

    def card(self) -> Card: ...

    def inputs(self, part: Part) -> Inputs:
        """The files and parameters that this part is made from. Parameters that do not change the part are
        left out."""

    def documents(self) -> Iterable[Document]: ...

    def queries(self) -> Iterable[Query]: ...

    def judgements(self) -> Iterable[Judgement]: ...


@runtime_checkable
class ColumnarSource(Source, Protocol):
    """A dataset that yields its passages as Arrow batches, for speed, of the schema
    `harness.collection.corpus.ROWS`. The harness then never calls `documents`."""

    def rows(self) -> Iterable[pa.RecordBatch]: ...

    def locate(self, row: int) -> str:
        """The place that a row (counted from 0) came from, as `file:line`, for messages."""


@runtime_checkable
class Traced(Source, Protocol):
    """A dataset that can name the place of a judgement in its files, for messages."""

    def locate_judgement(self, query: str, passage: str) -> str:
        """The place of a judgement, as `file:line`."""


@runtime_checkable
class Fetching(Source, Protocol):
    """A dataset whose files anyone may download."""

    def fetch(self) -> Iterable[Path]:
        """Download the missing files to where the dataset reads them, and yield the path of each finished
        file."""


class Texts(Protocol):
    """A corpus as one system reads it: only candidates, with their context, by passage or by document."""

    @property
    def language(self) -> str | None: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def size(self) -> int:
        """The number of positions, candidates or not. Every position is below this number."""

    def __len__(self) -> int:
        """The number of texts that `batches` yields."""

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """The texts of all candidates in order of position, streamed. `start` and `stop` count texts, so that
        shards are fixed ranges."""

    def take(self, positions: Ints) -> list[str]:
        """The texts at `positions`, in the order of `positions`."""

    def document_of(self, positions: Ints) -> Ints:
        """The number of the document of each position, ascending with the positions. If the unit is
        documents, each position is a document of its own."""

    def documents(self, start: int = 0, stop: int | None = None) -> Iterator[WholeDocument]:
        """The documents `start` to `stop` - 1 in reading order, streamed, with all their passages."""

    def borders(self, size: int) -> Ints:
        """int64[n + 1]: ascending numbers of texts, counted as in `batches`, from 0 to the number of all
        texts, that cut the corpus into parts of about `size` texts. Each part begins with a document."""

    def ids(self, positions: Ints) -> list[str]:
        """The collection's ids of the passages or documents at `positions`."""

    def progress(self, done: int) -> None:
        """Report that `done` texts are done. A method calls this if it reads far ahead of its work; for other
        methods, the harness shows how many texts they have read."""


class Augmenter(Protocol):
    """A context-augmenter. It gives one addition for each document, in order. Each stage of a chain reads the
    documents without the additions of other stages; the additions are composed in the order of the stages."""

    def augment(self, documents: Iterable[Document]) -> Iterable[Addition]: ...


@runtime_checkable
class Matching(Protocol):
    """A context-augmenter that reads a file made for some corpus, and so must check that the file fits this
    one."""

    def match(self, documents: Iterable[str], passages: Iterable[str]) -> Mapping[str, JSON]:
        """Check the file by the ids of the whole corpus, which are streamed. The harness calls this once,
        before any document is augmented. The returned facts are shown with the row. It may raise
        HarnessError."""


class Searcher(Protocol):
    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        """The k best hits of each query, in any order. `within` (int64[Q, n], -1 fills) names positions to
        score exactly instead of the whole corpus. The hits' positions are those of the texts, of passages or
        of documents; the harness sets the unit."""


@runtime_checkable
class Streaming(Searcher, Protocol):
    """A searcher that keeps no index and reads all texts in each search. A step gives it all queries at once
    and does not measure its latency."""

    def search_all(self, queries: Sequence[str], k: int, folder: Path) -> Hits:
        """The hits of `search`. If the step is killed, the next run calls this with the same arguments and
        with what is in `folder`. The harness removes the folder afterwards."""


@runtime_checkable
class TermSearcher(Searcher, Protocol):
    """The searcher of a retriever that takes queries in the form `terms`."""

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """The terms of each text, as the index makes them, repeated as often as they occur."""

    def statistics(self, terms: Sequence[str]) -> TermStatistics: ...

    def search_terms(
        self, queries: Sequence[Mapping[str, float]], k: int, within: Ints | None = None
    ) -> Hits:
        """The hits of `search`, for queries of weighted terms. Terms that the index lacks are ignored."""


@runtime_checkable
class VectorSearcher(Searcher, Protocol):
    """The searcher of a retriever that takes queries in the form `vectors`."""

    def encode(self, queries: Sequence[str]) -> Floats:
        """The vectors with which `search` searches for these queries: float32[Q, d]."""

    def encode_passages(self, texts: Sequence[str]) -> Floats:
        """The vectors that passages with these texts would have in the index: float32[n, d]."""

    def vectors(self, positions: Ints) -> Floats:
        """The index's vectors at `positions`: float32[n, d]. A position that the index lacks has a vector of
        zeros."""

    def search_vectors(self, queries: Floats, k: int, within: Ints | None = None) -> Hits: ...


@runtime_checkable
class IdSearcher(Searcher, Protocol):
    """The searcher of a retriever that takes queries in the form `ids`."""

    def search_ids(
        self, ids: Sequence[str], texts: Sequence[str], k: int, within: Ints | None = None
    ) -> Hits:
        """The hits of queries, given by the dataset's ids and texts. No rewriter has changed the queries."""


class Writer(Protocol):
    def rewrite(self, queries: Sequence[str], feedback: Hits | None) -> Rewritten:
        """The rewritten queries, in the form that the record's `gives` names. `feedback` are the hits of the
        queries, best first and as deep as the suite, or None if the record asks for no hits. Each query is
        rewritten by itself."""


class Rewriter(Protocol):
    """A rewriter of queries. It never sees judgements. `index` is called only if its record says
    `indexed`."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None: ...

    def open(self, texts: Texts, folder: Path | None, searcher: Searcher | None) -> Writer:
        """The writer that rewrites queries. `searcher` is the retriever's TermSearcher or VectorSearcher if
        the rewriter gives terms or vectors, else None."""


class Indexer(Protocol):
    """A retriever. It never sees judgements or the dataset's name."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None:
        """Write an index into `folder`. Files that a killed run left there may be used or overwritten. The
        returned facts are shown with the row; they depend on the inputs alone, such as the number of texts
        cut short."""

    def open(self, texts: Texts, folder: Path) -> Searcher: ...


@runtime_checkable
class Divisible(Indexer, Protocol):
    """A retriever whose index several workers can make, each worker for a range of texts. `join` writes the
    same files as `index`, byte for byte."""

    @property
    def block(self) -> int:
        """The number of texts that must stay together. Every range begins at a multiple of this number."""

    def index_part(self, texts: Texts, folder: Path, start: int, stop: int) -> None:
        """Write the files for `join` of the texts `start` to `stop` - 1 into `folder`. Texts are counted as
        in `Texts.batches`. Files that a killed run left there may be used or overwritten."""

    def join(self, texts: Texts, parts: Sequence[IndexPart], folder: Path) -> Mapping[str, JSON] | None:
        """Write the index into the empty `folder`, from the parts of all texts, in order. Returns the same
        facts as `index`."""


@runtime_checkable
class ReadsDocuments(Protocol):
    """A retriever that may read documents whole. If it does and is `Divisible`, its parts are cut where
    documents begin, by `Texts.borders(block)`, and not at every `block` texts."""

    @property
    def whole_documents(self) -> bool: ...


@runtime_checkable
class Deriving(Indexer, Protocol):
    """A retriever that makes an index of another one (`derived_from` of its record) instead of the texts."""

    def derive(self, texts: Texts, source: Path, folder: Path) -> Mapping[str, JSON] | None:
        """Write an index into `folder` from the finished one in `source`. Otherwise as `index`."""


class Scorer(Protocol):
    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        """The scores (float32[Q, n]) of the candidates (int64[Q, n]) of each query. Scores of the fill -1 are
        not read."""


class Judge(Protocol):
    """A re-ranker. `index` is called only if its record says `indexed`."""

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None: ...

    def open(self, texts: Texts, folder: Path | None) -> Scorer: ...


@runtime_checkable
class Reporting(Protocol):
    """A searcher or scorer that reports facts at the end of its step, such as the recall of an approximate
    search. A scorer reports counts, such as the number of pairs cut short, because a step that continues a
    killed run adds up the reports of both runs."""

    def report(self) -> Mapping[str, JSON]: ...


@runtime_checkable
class Counting(Protocol):
    """A searcher that reports. If `counts` is true, its report holds only counts over queries, such as the
    number of queries cut short. Several workers may then search, and their reports are added up."""

    @property
    def counts(self) -> bool: ...

    def report(self) -> Mapping[str, JSON]: ...


class Fuser(Protocol):
    """A combiner of the hits of several systems over the same queries and corpus."""

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure) -> Hits:
        """The combined hits, with at most `depth` hits per query. Each input is sorted best first."""


@runtime_checkable
class LearningFuser(Fuser, Protocol):
    """A combiner that learns a value of a parameter for each query. Its record names the parameter in
    `learns`. Each query is handled by itself."""

    def features(self, inputs: Sequence[Hits], structure: Structure, asked: Asked) -> NDArray[np.float64]:
        """What can be seen of each query without judgements: float64[Q, F]."""

    def learn(
        self, features: NDArray[np.float64], values: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> Mapping[str, JSON]:
        """A model, from the score of each query (float64[Q, V]) with each value (float64[V], ascending)."""

    def predict(self, features: NDArray[np.float64], model: Mapping[str, JSON]) -> NDArray[np.float64]:
        """The value for each query: float64[Q]. The harness takes the nearest one of `values`."""


class Trainer(Protocol):
    """A trainer of models. It never sees the splits that the suite scores."""

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON] | None:
        """Train one segment and write each part's model into `folder / part`. Files that a killed run left in
        `folder` may be used; the final files have the same bytes with and without a kill. Unless the segment
        is the last, `folder` also holds the files that the next segment needs. The returned facts are shown
        with the row."""


class Maker(Protocol):
    """A maker: one stage of making a collection. Its result depends on its input alone."""

    def make(self, data: MakerInput) -> Made:
        """The parts that the maker's record names in `changes`. Dropped items are counted in `data.tally`,
        with the reason. Every judgement must be of a query of the made collection."""


@runtime_checkable
class Encoding(Protocol):
    """A retriever that can encode texts as vectors, by which makers and analyses compare texts."""

    def encode(self, texts: Sequence[str], queries: bool) -> Floats:
        """The vectors of the texts (float32[n, d]), as queries if `queries`, else as passages. The similarity
        of two texts is the cosine of their vectors."""


class Analyst(Protocol):
    """An analysis of finished runs."""

    def analyse(self, data: AnalysisInput) -> Iterable[Finding]:
        """The findings of the analysis on one dataset."""


class Rescore(Protocol):
    """A function that has the retriever of one of a combiner's inputs score further positions."""

    def __call__(self, number: int, positions: Ints, first: int = 0) -> Hits:
        """The hits at `positions` (int64[q, n], -1 fills) for the queries `first` to `first` + q - 1, scored
        by the retriever of the input `number`, best first. Passages that a query excludes are left out."""


class DeepFuser(Protocol):
    """A combiner whose record names inputs in `within`. It may have these inputs score further positions."""

    def combine(self, inputs: Sequence[Hits], depth: int, structure: Structure, rescore: Rescore) -> Hits: ...
