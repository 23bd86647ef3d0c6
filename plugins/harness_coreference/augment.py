"""The context-augmenter `coreference`: it applies a resolver's clusters as edits of the passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.plugin import Addition, Document
from harness_coreference import PIPELINE
from harness_coreference.annotate import edits
from harness_coreference.contract import Resolver

if TYPE_CHECKING:
    from harness_coreference import CoreferenceParams


@dataclass(frozen=True)
class Coreference:
    """An augmenter that edits a document's passages. The edits depend only on the passages; the title is not
    read."""

    resolver: Resolver
    same: str

    def augment(self, documents: Iterable[Document]) -> Iterator[Addition]:
        for document in documents:
            passages = [passage.text for passage in document.passages]
            clusters = self.resolver.resolve(passages) if len(passages) > 1 else []
            yield Addition(edits=edits(passages, clusters, self.same))


def coreference(params: CoreferenceParams) -> Coreference:
    """The augmenter with the resolver that the parameters name."""
    return Coreference(_resolver(params), params.same)


def _resolver(params: CoreferenceParams) -> Resolver:
    if params.resolver == "rules":
        if params.language == "zh":
            from harness_coreference.chinese import Chinese

            return Chinese()
        from harness_coreference.english import English

        return English()
    from harness_coreference.parsed import Parsed
    from harness_coreference.windows import Windowed

    return Windowed(Parsed(str(params.pipeline or PIPELINE)), params.window)
