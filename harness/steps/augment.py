"""The step that computes what a stage of context adds to each passage."""

from __future__ import annotations

from harness.steps.record import ByMethod, Ref
from harness.steps.results import Additions, Corpus
from harness.steps.sizes import Amount, Counts, Sizes


class Augment(ByMethod[Additions], frozen=True, kw_only=True, tag="augment"):
    is_cuttable = True
    counts_as = "augment"

    corpus: Ref[Corpus]
    language: str | None

    def amount(self, sizes: Sizes) -> Amount | None:
        corpus = sizes.corpora.get(self.corpus.step)
        return None if corpus is None else (float(corpus.passages),)

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return (float(counts.facts["reported"]["passages"]),)
