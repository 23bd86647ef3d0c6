"""What steps leave in the store, as the types that references name: `Ref[Hits]`. They hold no data."""

from __future__ import annotations


class Corpus:
    """Passages in columns."""


class Queries:
    """The queries of a split."""


class Judgements:
    """The graded judgements of a split."""


class Changed:
    """The parts of a collection that a stage has changed."""


class Additions:
    """What one stage of context adds to each passage."""


class Index:
    """A method's own files."""


class Rewritten:
    """Rewritten queries."""


class Hits:
    """A ranking for each query."""


class Choice:
    """The values that are best on a split, or for each fold."""


class Labels:
    """Which hits contain an answer."""


class Lists:
    """The positives and negatives of each training query."""


class Weights:
    """A checkpoint of a model."""


class Best:
    """The checkpoint that is best on a split."""


class Findings:
    """What an analysis found."""
