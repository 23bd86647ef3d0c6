"""The step that indexes texts."""

from __future__ import annotations

from harness.steps import results
from harness.steps.record import ByMethod
from harness.steps.sizes import Amount, Counts, Sizes
from harness.steps.texts import Texts


class Index(ByMethod[results.Index], frozen=True, kw_only=True, tag="index"):
    is_cuttable = True
    counts_as = "index"

    texts: Texts

    def amount(self, sizes: Sizes) -> Amount | None:
        texts = self.texts.count(sizes)
        return None if texts is None else (texts,)

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return (float(counts.facts["texts"]),)
