"""What a maker promises: the parts that its record names, which fit each other and are reproducible."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.maker_input import MakerInput, Parts
from harness.collection.queries import read_judgements, read_queries, write_judgements, write_queries
from harness.contracts import Source
from harness.testing.subject import Subject, able, build, require, resolved
from harness.types import Document, Floats, Hits, Judgement, Made, Passage, Query

PARTS = ("corpus", "queries", "judgements")
TOPICS = ("passport", "driving licence", "bicycle", "garden", "river", "school")
FACTS = ("lasts ten years", "costs eighty pounds", "needs a photograph", "is sent by post")
CHINESE = ("护照有效期是十年。", "申请护照需要八十元。", "照片必须是近期的。")


def documents() -> Iterator[Document]:
    """Short and long passages in two scripts; one passage occurs twice, and one is not a candidate."""
    for number, topic in enumerate(TOPICS):
        passages = [
            Passage(
                f"d{number}-{place}", f"A {topic} {fact}. " * (1 + 9 * (place == 2)), place != 1 or number > 0
            )
            for place, fact in enumerate(FACTS)
        ]
        yield Document(f"d{number}", f"About the {topic}", tuple(passages))
    texts = [*CHINESE, "".join(CHINESE) * 20]
    yield Document("zh", "护照", tuple(Passage(f"zh-{place}", text) for place, text in enumerate(texts)))
    yield Document("one", "", (Passage("one-0", "A garden needs a photograph."),))
    yield Document("again", "", (Passage("again-0", "A garden needs a photograph."),))


def queries() -> list[Query]:
    listed = [
        Query(
            f"q{number}",
            f"how long does a {topic} last?",
            (),
            (),
            ("ten years", f"a {topic} lasts ten years"),
        )
        for number, topic in enumerate(TOPICS)
    ]
    return [
        *listed,
        Query("again", "How long does a passport last", (), (), ("ten years",)),
        Query("zh", "护照有效期多久？", (), (), ("十年",)),
        Query("alone", "what is the weather on the moon?"),
    ]


def judgements() -> Iterator[Judgement]:
    for number in range(len(TOPICS)):
        yield Judgement(f"q{number}", f"d{number}-0", 2)
        yield Judgement(f"q{number}", f"d{number}-2", 0)
    yield Judgement("again", "d0-0", 1)
    yield Judgement("zh", "zh-0", 1)
    yield Judgement("zh", "no-such-passage", 1)


def given(subject: Subject, folder: Path, *, judged: bool = True) -> MakerInput:
    """The sample dataset as the input of a maker, with runs, splits and vectors if its record reads them."""
    parts = _parts(folder / "given", judged)
    reads = subject.record.reads
    read: dict[str, Any] = {
        f"read_{part}": parts[f"read_{part}"] if part in reads else None for part in PARTS
    }
    values = resolved(subject)
    other = Parts(language="en", query_language=None, split="other", **parts)
    working = folder / "working"
    working.mkdir()
    return MakerInput(
        language="en", query_language=None, split="test", **read, dataset="made", folder=working,
        runs={name: _hits(parts, name) for name in _names(subject, values, "systems")},
        others=dict.fromkeys(_names(subject, values, "splits"), other),
        encode=encoded,
        score=scored,
    )  # fmt: skip


def _parts(folder: Path, judged: bool) -> dict[str, Any]:
    class _Source:
        def documents(self) -> Iterator[Document]:
            return documents()

    for part in PARTS:
        (folder / part).mkdir(parents=True)
    corpus.write(cast("Source", _Source()), folder / "corpus", _unwatched)
    write_queries(queries(), folder / "queries")
    write_judgements(judgements() if judged else iter(()), folder / "judgements")
    return {
        "read_corpus": Corpus(folder / "corpus"),
        "read_queries": read_queries(folder / "queries"),
        "read_judgements": read_judgements(folder / "judgements"),
    }


def _unwatched(done: int, total: int | None, note: str = "") -> None:
    """Does nothing, because nobody watches the progress."""


def _names(subject: Subject, values: Any, kind: str) -> list[str]:
    values_given = [getattr(values, name) for name in getattr(subject.record, kind)]
    names = [name for value in values_given for name in (value if isinstance(value, tuple) else (value,))]
    return [name for name in dict.fromkeys(names) if name is not None]


def _hits(parts: dict[str, Any], name: str) -> Hits:
    """Hits of every query: all candidates, cut at 10, in an order that depends on the system's name and the
    query. The last row is short."""
    read: Corpus = parts["read_corpus"]
    candidates = np.flatnonzero(read.candidate).astype(np.int64)
    rows, depth = len(parts["read_queries"].ids), min(10, len(candidates))
    salt = int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)
    passages = np.stack([np.random.default_rng([salt, row]).permutation(candidates) for row in range(rows)])
    passages = passages[:, :depth]
    passages[-1, depth // 2 :] = -1
    scores = np.tile(np.arange(depth, 0, -1, dtype=np.float32) / depth, (rows, 1))
    scores[-1, depth // 2 :] = -np.inf
    return Hits(passages, scores.astype(np.float32))


def scored(firsts: Sequence[str], seconds: Sequence[str]) -> Floats:
    """The share of words that two texts have in common, as a re-ranker's probability."""
    pairs = [({*one.split()}, {*other.split()}) for one, other in zip(firsts, seconds, strict=True)]
    return np.array([len(one & other) / max(1, len(one | other)) for one, other in pairs], np.float32)


def encoded(texts: Sequence[str], queries: bool) -> Floats:
    """float32[n, 64]: vectors of texts, from counts of their pairs of characters."""
    rows = np.zeros((len(texts), 64), np.float32)
    for row, text in enumerate(texts):
        for pair in pairwise(text):
            rows[row, hash_of("".join(pair)) % 64] += 1
    return rows


def hash_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def made(subject: Subject, folder: Path, *, judged: bool = True) -> dict[str, list[Any] | None]:
    """The parts that the maker makes of the sample dataset, each read to its end in the promised order."""
    folder.mkdir(parents=True, exist_ok=True)
    with able("make a collection" if judged else "make a collection without judgements"):
        result = build(subject).make(given(subject, folder, judged=judged))
        require(isinstance(result, Made), f"`make` returns a {type(result).__name__}, not a Made")
        return {part: _listed(value) for part, value in zip(PARTS, result, strict=True)}


def _listed(value: Iterable[Any] | None) -> list[Any] | None:
    return None if value is None else list(value)


def fingerprint(subject: Subject, folder: Path) -> str:
    return hashlib.sha256(ascii(made(subject, folder)).encode()).hexdigest()


def names_what_it_reads_and_changes(subject: Subject, _: Path) -> None:
    record = subject.record
    unknown = {*record.changes, *record.reads} - set(PARTS)
    require(not unknown, f"its record names {', '.join(sorted(unknown))}, which is no part of a collection")
    fields = set(record.params.__dataclass_fields__)
    named = {*record.systems, *record.splits, *filter(None, (record.encoder, record.scorer))}
    require(
        named <= fields, f"its record names parameters that it lacks: {', '.join(sorted(named - fields))}"
    )


def makes_the_parts_that_it_names(subject: Subject, folder: Path) -> None:
    changed = {part for part, value in made(subject, folder).items() if value is not None}
    expected = set(subject.record.changes)
    require(changed == expected, f"it returns {_list(changed)}, and its record changes {_list(expected)}")
    files = (folder / "working" / "kept").is_dir()
    require(expected or files, "it changes no part, and leaves no file in `data.folder / 'kept'` either")


def makes_parts_that_fit_each_other(subject: Subject, folder: Path) -> None:
    """Ids must be unique, documents must have passages, and every judgement must be of an existing query."""
    result = made(subject, folder)
    read = result["corpus"]
    if read is not None:
        ids = [passage.id for document in read for passage in document.passages]
        require(ids, "it leaves no passage")
        require(len(set(ids)) == len(ids), "it gives two passages one id")
        require(all(document.passages for document in read), "it leaves a document without passages")
    query_ids = [query.id for query in result["queries"] or queries()]
    require(len(set(query_ids)) == len(query_ids), "it gives two queries one id")
    pairs = [(item.query, item.passage) for item in result["judgements"] or ()]
    require(len(set(pairs)) == len(pairs), "it judges a query and a passage twice")
    lost = sorted({query for query, _ in pairs} - set(query_ids))
    require(not lost, f"it judges the query '{lost[0] if lost else ''}', which it does not ask")


def makes_the_same_again(subject: Subject, folder: Path) -> None:
    first, again = made(subject, folder / "first"), made(subject, folder / "again")
    require(first == again, "it makes something else the second time")


def works_without_judgements(subject: Subject, folder: Path) -> None:
    """The maker must work if a person supplies only documents and queries."""
    made(subject, folder, judged=False)


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
