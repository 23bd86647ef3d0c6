"""The texts that a method reads, and a retriever that is ready to search them."""

from __future__ import annotations

from msgspec import Struct

from harness.steps.record import Method, Ref
from harness.steps.results import Additions, Corpus, Index, Rewritten
from harness.steps.sizes import Sizes
from harness.types import Unit


class Texts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The texts of a corpus with a chain of stages of context."""

    corpus: Ref[Corpus]
    stages: tuple[Ref[Additions], ...] = ()
    unit: Unit = "passage"
    language: str | None = None

    def count(self, sizes: Sizes) -> float | None:
        """How many texts can be retrieved, or None if that is not known."""
        corpus = sizes.corpora.get(self.corpus.step)
        if corpus is None:
            return None
        return float(corpus.documents if self.unit == "document" else corpus.candidates)


class IndexedRetriever(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A retriever with its index, as the steps that search with it have it."""

    method: Method
    texts: Texts
    index: Ref[Index]
    rewritten: Ref[Rewritten] | None = None  # the queries; None: those of the dataset


class Encoder(Struct, frozen=True, forbid_unknown_fields=True):
    """A retriever that gives the vectors of texts, or a re-ranker that scores pairs of texts."""

    method: Method
