"""What indexes will take on disk, from what methods say of a text and a token, and from the sizes of texts.

The sizes are those of the corpus in the store; before that, what the collection's source prints.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.plan.graph import Step
from harness.running.preparation import Prepared
from harness.steps import Index
from harness.store.artifacts import Store
from harness.types import Card, Official

CHARACTERS = {"zh": 1.5, "ja": 1.5}  # of a token
USUAL_CHARACTERS = 4.0
USUAL_TOKENS = 100.0  # of a passage of which nothing is known
SPECIAL = 3  # tokens that a model adds to a text


class Lengths(NamedTuple):
    """The texts of an index."""

    texts: float
    tokens: float  # of a text, without special ones
    source: str  # where the numbers are from


class IndexDisk(NamedTuple):
    """What an index will take on disk, about."""

    step: Step
    lengths: Lengths
    bytes: float


def indexes(prepared: Prepared, store: Store) -> Iterator[IndexDisk]:
    """The indexes to be made whose methods say what they take, as far as the number of texts is known."""
    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    cards = {
        collection.parts.corpus.step: collection.card
        for collection in planned.collections.values()
        if collection.parts is not None
    }
    for step in planned.steps.values():
        if step.id not in ancestors or step.index_bytes is None or not isinstance(step.record, Index):
            continue
        texts, each = step.record.texts, step.index_bytes
        lengths = _lengths(store, texts.corpus.step, cards.get(texts.corpus.step), texts.unit == "document")
        if lengths is not None and (each.text or each.token) and not store.has(step.id):
            tokens = lengths.tokens + SPECIAL
            read = tokens if each.most is None else min(tokens, each.most)
            yield IndexDisk(step, lengths, lengths.texts * (each.text + each.token * read))


def _lengths(store: Store, corpus: str, card: Card | None, documents: bool) -> Lengths | None:
    language = None if card is None else card.language
    characters = CHARACTERS.get(language or "", USUAL_CHARACTERS)
    if store.has(corpus):
        facts = store.read(corpus, trust=True).facts
        texts = facts["documents"] if documents else facts["candidates"]
        passages = facts["documents"] if documents else facts["passages"]
        tokens = facts["characters"] / max(passages, 1) / characters
        return Lengths(texts, tokens, f"measured, with {characters:g} characters a token")
    return None if card is None else printed(card.official, documents)


def printed(officials: tuple[Official, ...], documents: bool) -> Lengths | None:
    """The sizes that a collection's source prints; None if it prints no number of texts."""
    counts = {name: float(value) for official in officials for name, value in official.counts.items()}
    per_document = counts.get("passages_per_document.mean")
    of_documents, passages = counts.get("documents"), counts.get("passages")
    if passages is None and of_documents is not None and per_document is not None:
        passages = of_documents * per_document
    words = counts.get("passage_words.mean")
    tokens, source = (USUAL_TOKENS, "assumed") if words is None else (words, "as its source prints")
    if documents:
        if of_documents is None or passages is None:
            return None
        return Lengths(of_documents, tokens * passages / of_documents, source)
    return None if passages is None else Lengths(passages, tokens, source)


def lines(listed: list[IndexDisk], store: Path) -> Iterator[str]:
    """Lines of the dry run. The store's folder need not be there yet."""
    folder = store.absolute()
    free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    for item in listed:
        texts, tokens, source = item.lengths
        yield (
            f"  disk  about {size(item.bytes)}  {item.step.label}: {texts:,.0f} texts of {tokens:.0f} tokens "
            f"({source})"
        )
    if listed:
        total = sum(item.bytes for item in listed)
        yield f"  disk  about {size(total)} for these indexes; {size(free)} are free where the store is"


def size(count: float) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9)):
        if count >= scale:
            return f"{count / scale:,.1f} {unit}"
    return f"{count / 1e6:,.1f} MB"
