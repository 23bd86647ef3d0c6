"""The step that indexes texts."""

from __future__ import annotations

from typing import Annotated

from harness.steps import results
from harness.steps.record import IF_GIVEN, ByMethod, Ref
from harness.steps.sizes import Amount, Counts, Sizes
from harness.steps.texts import Texts


class Index(ByMethod[results.Index], frozen=True, kw_only=True, tag="index"):
    is_cuttable = True
    counts_as = "index"

    texts: Texts
    source: Annotated[Ref[results.Index] | None, IF_GIVEN] = None  # the fuller index that it is made from

    def amount(self, sizes: Sizes) -> Amount | None:
        texts = self.texts.count(sizes)
        return None if texts is None else (texts,)

    def counted(self, counts: Counts, sizes: Sizes) -> Amount | None:
        return (float(counts.facts["texts"]),)
