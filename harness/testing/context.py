"""What a context-augmenter promises: one addition for each document, made from that document alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.testing.subject import Subject, able, build, require
from harness.testing.texts import SCRIPTS, sentences
from harness.types import Addition, Document, Edit, Passage

AHEAD = 5000  # documents that a stage may read before it returns its first addition


def documents() -> list[Document]:
    """Documents with and without title, with one, many and empty passages, in several scripts."""
    plain = [_document(f"d{i}", f"Castle number {i}", sentences(1 + i % 4, seed=i)) for i in range(6)]
    return [
        *plain,
        _document("untitled", "", sentences(2)),
        _document("punctuation", "...", sentences(2)),
        _document("empty passages", "A title", ["", " ", "the castle", ""]),
        _document("one word", "Word", ["word"]),
        _document("long", "The long one", sentences(200, seed=9)),
        *(_document(f"script {i}", text, [text, text]) for i, text in enumerate(SCRIPTS)),
        _document("context", "Not candidates", sentences(3), candidate=False),
        _document("d0 again", "Castle number 0", sentences(1)),
    ]


def _document(id: str, title: str, passages: Sequence[str], candidate: bool = True) -> Document:
    return Document(
        id, title, tuple(Passage(f"{id}#{i}", text, candidate) for i, text in enumerate(passages))
    )


def added(subject: Subject, inputs: Iterable[Document]) -> list[Addition]:
    return list(build(subject).augment(iter(inputs)))


def fingerprint(subject: Subject, _: Path) -> str:
    return repr(added(subject, documents()))


def adds_once_to_each_document(subject: Subject, _: Path) -> None:
    inputs = documents()
    with able("augment documents of every shape"):
        additions = added(subject, inputs)
    require(
        len(additions) == len(inputs), f"it returns {len(additions)} additions for {len(inputs)} documents"
    )
    for document, addition in zip(inputs, additions, strict=True):
        where = f"for the document '{document.id}'"
        require(isinstance(addition, Addition), f"{where} it returns a {type(addition).__name__}")
        require(isinstance(addition.prefix, str), f"{where} the prefix is not a string")
        count = len(document.passages)
        for name, parts in (("prefixes", addition.prefixes), ("edits", addition.edits)):
            good = isinstance(parts, tuple) and len(parts) in (0, count)
            require(good, f"{where} there are {len(parts)} {name} for {count} passages, neither all nor none")
        require(all(isinstance(text, str) for text in addition.prefixes), f"{where} a prefix is not a string")


def edits_within_each_passage(subject: Subject, _: Path) -> None:
    inputs = documents()
    for document, addition in zip(inputs, added(subject, inputs), strict=True):
        for passage, edits in zip(document.passages, addition.edits, strict=bool(addition.edits)):
            _check(passage, edits)


def _check(passage: Passage, edits: Sequence[Edit]) -> None:
    size, last = len(passage.text), 0
    for edit in edits:
        where = f"the edit {edit.start}:{edit.end} of the passage '{passage.id}'"
        require(isinstance(edit, Edit) and isinstance(edit.text, str), f"{where} is not an Edit")
        require(0 <= edit.start <= edit.end <= size, f"{where} is not within its {size} characters")
        require(edit.start >= last, f"{where} overlaps the one before it, or is out of order")
        last = edit.end


def adds_the_same_twice(subject: Subject, folder: Path) -> None:
    first, second = fingerprint(subject, folder), fingerprint(subject, folder)
    require(first == second, "the same documents get different additions the second time")


def adds_to_documents_independently(subject: Subject, _: Path) -> None:
    inputs = documents()
    for document, addition in zip(inputs, added(subject, inputs), strict=True):
        alone = added(subject, [document])
        require(alone == [addition], f"what it adds to '{document.id}' depends on the other documents")


def takes_no_documents(subject: Subject, _: Path) -> None:
    with able("augment no documents"):
        require(added(subject, []) == [], "it returns additions for no documents")


def streams(subject: Subject, _: Path) -> None:
    """A stage must not read all documents first, because a corpus may not fit into memory."""
    first = documents()[0]

    def endless() -> Iterator[Document]:
        for _number in range(AHEAD):
            yield first
        require(False, f"it reads {AHEAD} documents before it returns the first addition")

    next(iter(build(subject).augment(endless())))
