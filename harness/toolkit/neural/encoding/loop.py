"""Encodes a corpus shard by shard: texts are tokenised ahead, and finished shards survive a kill."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import orjson

from harness.store import disk
from harness.toolkit.neural.encoding.parts import Forward, Shard, Write
from harness.toolkit.neural.encoding.passes import BUDGET, Run, workers
from harness.toolkit.neural.tokens import Lost, Tokens, joined

if TYPE_CHECKING:
    from harness.contracts import Texts
    from harness.types import JSON, Batch, Ints

SHARD = 1024  # texts of a shard; after a kill, fewer than this are encoded again
READ = 512  # texts read at a time
MARKS = "shards"  # the folder with a mark for each shard on disk

Prepare: TypeAlias = "Callable[[Batch], tuple[Tokens, Lost]]"
"""Texts (and their titles) -> their tokens as the model takes them, and what did not fit."""


_Shard: TypeAlias = "tuple[Ints, Tokens, Lost]"  # positions, tokens and what was cut of a shard's texts
Read: TypeAlias = "Callable[[int, int], _Shard]"
"""The numbers of a shard's first text and of the text after its last one -> the positions of the texts, the
tokens that are to go through the model, and what did not fit. With `encode`, each text has its tokens; with
`encode_shards`, the tokens may be cut otherwise, such as into windows of documents."""


class Mark(NamedTuple):
    """The record that a finished shard leaves."""

    first: int
    texts: int
    tokens: int
    texts_cut: int
    tokens_lost: int
    split: int


class Encoding(NamedTuple):
    """The counts that a row reports about the encoding of a corpus."""

    texts: int
    tokens: int  # tokens that went through the model
    lost: Lost
    split: int  # batches that were too large for the memory and were halved

    def facts(self) -> dict[str, JSON]:
        facts = {"tokens": self.tokens, "texts_cut": self.lost.texts, "tokens_lost": self.lost.tokens}
        return {**facts, **({"batches_split": self.split} if self.split else {})}


def encode(
    texts: Texts,
    folder: Path,
    prepare: Prepare,
    forwards: Sequence[Forward],
    write: Write,
    *,
    shard: int = SHARD,
    budget: int = BUDGET,
    part: range | None = None,
) -> Encoding:
    """Encodes all texts and hands them to `write`, a shard of `shard` consecutive texts at a time. See
    `encode_shards`."""
    borders = np.append(np.arange(0, len(texts), shard), len(texts))
    read = functools.partial(_tokens, texts, prepare)
    return encode_shards(texts, folder, read, borders, forwards, write, budget=budget, part=part)


def encode_shards(
    texts: Texts,
    folder: Path,
    read: Read,
    borders: Ints,
    forwards: Sequence[Forward],
    write: Write,
    *,
    budget: int = BUDGET,
    part: range | None = None,
) -> Encoding:
    """Encodes all texts and hands them to `write`, a shard of the texts between two `borders` (int64[n + 1],
    ascending, without gaps) at a time. The rows of a shard are those of its tokens.

    `forwards` has one entry for each worker: one for each GPU or each core. Batches lie within a shard, so
    the result depends neither on the workers nor on where an earlier run was killed. The earlier run's
    finished shards, marked in `folder`, are not encoded again. Memory holds the tokens of two shards and the
    rows of one. With `part`, only the shards that begin with one of these texts are encoded.
    """
    marks = folder / MARKS
    marks.mkdir(exist_ok=True)
    ranges = list(itertools.pairwise(borders.tolist()))
    done = {number: mark for number, range in enumerate(ranges) if (mark := _read(marks, number, range))}
    texts_done: float = sum(mark.texts for mark in done.values())
    texts.progress(round(texts_done))

    def more(count: float) -> None:
        nonlocal texts_done
        texts_done += count
        texts.progress(round(texts_done))

    chosen = range(len(texts)) if part is None else part
    missing = [number for number, (first, _) in enumerate(ranges) if first in chosen and number not in done]
    with workers(forwards, budget) as run:
        for number, shard in _ahead(read, [(number, *ranges[number]) for number in missing]):
            done[number] = _one(number, ranges[number][0], shard, run, write, more)
            disk.replace_file(_path(marks, number), orjson.dumps(done[number]._asdict()))
    lost = Lost(
        sum(mark.texts_cut for mark in done.values()), sum(mark.tokens_lost for mark in done.values())
    )
    tokens = sum(mark.tokens for mark in done.values())
    return Encoding(len(texts), tokens, lost, sum(mark.split for mark in done.values()))


def distrust(folder: Path, whole: Callable[[int], bool]) -> None:
    """Removes an earlier run's marks of shards that are not whole on disk, so that they are encoded again.
    `whole` says, by a shard's number, whether it is whole. Code that recreates a shared file must call
    `distrust` first, so that no kill leaves a mark without its rows."""
    marks = folder / MARKS
    if not marks.is_dir():
        return
    for path in sorted(marks.glob("[0-9]*.json")):
        if not whole(int(path.stem)):
            path.unlink()
    disk.fsync_folder(marks)


def _one(
    number: int,
    first: int,
    shard: _Shard,
    run: Run,
    write: Write,
    more: Callable[[float], None],
) -> Mark:
    positions, tokens, lost = shard
    share = len(positions) / max(1, len(tokens.bounds) - 1)  # of the texts in each row
    passed = run(tokens, lambda rows: more(rows * share))
    write(Shard(number, first, positions, passed.rows))
    return Mark(first, len(positions), len(tokens.ids), lost.texts, lost.tokens, passed.split)


def _ahead(read: Read, ranges: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, _Shard]]:
    """Yields the numbers and tokens of these shards, which are given by number, first text and end. The next
    shard is tokenised while the current one is encoded."""
    with ThreadPoolExecutor(1, thread_name_prefix="tokenise") as reader:
        coming = [reader.submit(read, *ends) for _, *ends in ranges[:1]]
        for at, (number, *_) in enumerate(ranges):
            prepared = coming.pop().result()
            if at + 1 < len(ranges):
                coming.append(reader.submit(read, *ranges[at + 1][1:]))
            yield number, prepared


def _tokens(texts: Texts, prepare: Prepare, first: int, stop: int) -> _Shard:
    """The tokens of one shard. Few texts are in memory at a time, because they may be long documents."""
    positions, parts, lost = [], [], Lost()
    for batch in texts.batches(READ, first, stop):
        token_ids, cut = prepare(batch)
        positions.append(batch.positions)
        parts.append(token_ids)
        lost = lost.plus(cut)
    return np.concatenate(positions), joined(parts), lost


def _path(marks: Path, number: int) -> Path:
    return marks / f"{number:06}.json"


def _read(marks: Path, number: int, expected: tuple[int, int]) -> Mark | None:
    """The mark of a shard; None if the shard is not finished or its mark has another range than
    `expected`."""
    try:
        mark = Mark(**orjson.loads(_path(marks, number).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return mark if (mark.first, mark.first + mark.texts) == expected else None
