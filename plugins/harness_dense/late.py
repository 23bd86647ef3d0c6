"""Late chunking: a document is read once, and each passage's vector is the mean of its own tokens' states.

The scheme is that of Günther et al. 2024 (arXiv 2409.04701), as their code has it: the prompt and the title
stand once before the document and count to its first passage, as does the first special token; the last one
counts to the last passage. A document that is longer than the window is read in windows of its tokens that
overlap. A passage is pooled from one window, the one in which it is most central.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.plugin import Floats, HeldTexts, Ints, Texts, WholeDocument
from harness.toolkit.neural.encoding.loop import READ, SHARD, Encoding, encode_shards
from harness.toolkit.neural.encoding.parts import Write
from harness.toolkit.neural.encoding.passes import workers
from harness.toolkit.neural.tokens import Lost, Tokens, joined
from harness_dense import pooling
from harness_dense.towers import Tower


class Sums(NamedTuple):
    """What one window adds to the passages whose tokens it has."""

    passages: Ints  # int64[m]: the passages, numbered within their shard
    tokens: Ints  # int64[m]: how many tokens of each are pooled from this window
    states: Floats  # float32[m, d]: the sum of these tokens' states


@dataclass(frozen=True)
class Windows:
    """A `Forward` that sums the states of each passage's tokens in each window."""

    network: pooling.Network

    def __call__(self, batch: Tokens) -> list[Sums]:
        assert batch.parts is not None
        states, rows = self.network(batch), []
        for start, end in pairwise(batch.bounds.tolist()):
            passages = batch.parts[start:end].astype(np.int64)
            begins = np.flatnonzero(np.diff(passages, prepend=-2))
            counts = np.diff(np.append(begins, end - start))
            kept = passages[begins] >= 0
            sums = np.add.reduceat(states[start:end], begins, axis=0)
            rows.append(Sums(passages[begins][kept], counts[kept], sums[kept]))
        return rows


def encode(
    texts: Texts, folder: Path, tower: Tower, write: Write, budget: int, part: range | None
) -> Encoding:
    """Encode all candidates, or those of `part`, and hand them to `write` in shards of whole documents."""
    forwards = [Windows(forward.network) for forward in tower.forwards]
    read = functools.partial(_read, texts, tower)
    return encode_shards(
        texts,
        folder,
        read,
        texts.borders(SHARD),
        forwards,
        lambda shard: write(shard._replace(rows=_pooled(tower, shard.rows, len(shard.positions)))),
        budget=budget,
        part=part,
    )


def encoded(tower: Tower, texts: Sequence[str], budget: int) -> Floats:
    """float32[n, d]: the vectors of texts, each of which is the only passage of a document."""
    tokens = windows(tower, HeldTexts(texts, None).documents())
    with workers([Windows(forward.network) for forward in tower.forwards], budget) as run:
        return np.stack(_pooled(tower, run(tokens, lambda count: None).rows, len(texts)))


def _pooled(tower: Tower, rows: Sequence[Sums], texts: int) -> list[Floats]:
    """The vectors of n passages from the sums of their shard's windows, in order. A passage
    without a token has the mean 0."""
    if not rows:
        return list(np.zeros((texts, tower.dimension), np.float32))
    states = np.zeros((texts, rows[0].states.shape[1]), np.float32)
    tokens = np.zeros(texts, np.int64)
    for row in rows:  # a window has at most one sum for each passage
        states[row.passages] += row.states
        tokens[row.passages] += row.tokens
    states /= np.maximum(tokens, 1)[:, None]
    return list(tower.forwards[0].finished(states))


def _read(texts: Texts, tower: Tower, first: int, stop: int) -> tuple[Ints, Tokens, Lost]:
    """The positions of a shard's candidates, and the windows of their documents."""
    positions, parts, several = [], [], list[WholeDocument]()
    count = read = 0
    for document in _documents(texts, first, stop):
        positions.append(document.positions[document.candidates])
        several.append(document)
        read += len(document.texts)
        if read >= READ:
            parts.append(windows(tower, several, count))
            several, read, count = [], 0, sum(map(len, positions))
    parts.append(windows(tower, several, count))
    return np.concatenate(positions), joined(parts), Lost()


def _documents(texts: Texts, first: int, stop: int) -> Iterator[WholeDocument]:
    """The documents that have a candidate among the texts `first` to `stop` - 1."""
    here = next(texts.batches(1, first, first + 1)).positions
    for document in texts.documents(int(texts.document_of(here)[0])):
        if document.candidates.any():
            yield document
            first += int(document.candidates.sum())
        if first >= stop:
            return


def windows(tower: Tower, documents: Iterable[WholeDocument], count: int = 0) -> Tokens:
    """The windows of documents. `parts` are the numbers of the candidates, counted on from `count`. A window
    from which no candidate is pooled is left out."""
    assert tower.late is not None
    window, overlap = tower.late.window, tower.late.overlap
    assert isinstance(window, int)  # both are resolved
    assert isinstance(overlap, int)
    written = [(_text(tower, document), document.candidates) for document in documents]
    encodings = tower.tokeniser.backend.encode_batch(
        [text for (text, _), _ in written], add_special_tokens=False
    )
    template = tower.tokeniser.single
    ids, parts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for encoding, ((_, starts), candidates) in zip(encodings, written, strict=True):
        tokens = np.array([*template.before, *encoding.ids, *template.after], np.int32)
        ends = np.maximum.accumulate(np.array([end for _, end in encoding.offsets], np.int64))
        # a token is of the passage in which it ends, so that a space before a word is of the word's passage
        borders = np.searchsorted(ends, starts, "right") + len(template.before)
        spans = np.concatenate([[0], borders[1:], [len(tokens)]])
        numbers = np.where(candidates, count - 1 + np.cumsum(candidates), -1).astype(np.int32)
        count += int(candidates.sum())
        passage = np.repeat(numbers, np.diff(spans))
        begins = np.arange(0, max(1, len(tokens) - overlap), window - overlap)
        stops = np.minimum(begins + window, len(tokens))
        chosen = _central(begins, stops, spans)
        for number, (begin, end) in enumerate(zip(begins.tolist(), stops.tolist(), strict=True)):
            pooled = np.where(chosen[begin:end] == number, passage[begin:end], -1)
            if (pooled >= 0).any():
                ids.append(tokens[begin:end])
                parts.append(pooled)
    bounds = np.cumsum([len(part) for part in ids], dtype=np.int64)
    return Tokens(np.concatenate(ids), bounds, None, np.concatenate(parts))


def _text(tower: Tower, document: WholeDocument) -> tuple[str, Ints]:
    """The text of a document, and the characters at which its passages begin: the prompt, the prefixes, then
    the passages, separated by newlines. An empty passage begins where the next one begins."""
    pieces = [tower.prompt + "".join(f"{prefix} " for prefix in document.prefixes)]
    pieces += [f"{text}\n" if text else "" for text in document.texts]
    if tower.lower:
        pieces = [piece.lower() for piece in pieces]
    return "".join(pieces).removesuffix("\n"), np.cumsum([len(piece) for piece in pieces[:-1]])


def _central(begins: Ints, stops: Ints, spans: Ints) -> Ints:
    """int64[T]: the window from which each token is pooled. Windows are begins[w] to stops[w] - 1, passages
    spans[i] to spans[i + 1] - 1. A passage is pooled from the window that holds it whole with the most tokens
    on its shorter side; a border of the document is no side. A passage that no window holds whole is pooled
    token by token."""
    if len(begins) == 1:
        return np.zeros(spans[-1], np.int64)

    def best(starts: Ints, ends: Ints) -> Ints:
        """int64[n]: the window of each range of tokens; -1 if no window holds it."""
        low, high = np.searchsorted(stops, ends), np.searchsorted(begins, starts, "right") - 1
        middle = (starts + ends - stops[0]) // (2 * begins[1])  # it, or the next one, if that holds the range
        tried = np.stack([low, middle, middle + 1, high]).clip(low, high)
        left = np.where(tried == 0, spans[-1], starts - begins[tried])
        right = np.where(tried == len(begins) - 1, spans[-1], stops[tried] - ends)
        found = np.take_along_axis(tried, np.minimum(left, right).argmax(axis=0)[None], 0)[0]
        return np.where(low <= high, found, -1)

    chosen = np.repeat(best(spans[:-1], spans[1:]), np.diff(spans))
    loose = np.flatnonzero(chosen < 0)
    chosen[loose] = best(loose, loose + 1)
    return chosen
