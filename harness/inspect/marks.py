"""Splits a composed text into pieces, each with the stage of context that added it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from harness.collection.composed_texts import View, kept
from harness.types import Addition, Edit, Ints


class Piece(NamedTuple):
    text: str
    stage: int | None  # the number of the stage that added it; None for the passage's own text

    @property
    def added(self) -> bool:
        return self.stage is not None


class _Block(NamedTuple):
    """A part of a text. A separator joins it to the next block; after a prefix, the separator belongs to the
    stage of the prefix."""

    pieces: list[Piece]
    stage: int | None


def split(view: View, positions: Ints) -> list[tuple[Piece, ...]]:
    """The texts that `view.take` returns, each split into pieces: a piece is a part of the passage itself or
    an addition of one context stage."""
    if view.unit == "document":
        return [_document(view, int(document)) for document in positions]
    documents = view.corpus.document_of[positions].astype(np.int64)
    ranks = positions - view.corpus.first[documents]
    additions_by_stage = [stage.take(documents) for stage in view.stages]
    return [
        composed(text, [additions[i] for additions in additions_by_stage], int(ranks[i]))
        for i, text in enumerate(view.corpus.texts(positions))
    ]


def composed(text: str, additions: Sequence[Addition], rank: int) -> tuple[Piece, ...]:
    """The text that `harness.collection.composed_texts.compose` returns, split into pieces."""
    prefixes: list[_Block] = []
    edits: list[tuple[int, Edit]] = []
    for stage, addition in enumerate(additions):
        stage_prefixes = [addition.prefix, *addition.prefixes[rank : rank + 1]]
        prefixes += [_Block([Piece(prefix, stage)], stage) for prefix in stage_prefixes]
        edits += [(stage, edit) for edit in (addition.edits[rank] if addition.edits else ())]
    return _joined([*prefixes, _Block(_edited(text, edits), None)], " ")


def only(pieces: Iterable[Piece], stage: int) -> tuple[Piece, ...]:
    """The pieces with only the additions of this stage marked."""
    return _merged(piece if piece.stage == stage else Piece(piece.text, None) for piece in pieces)


def text_of(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _document(view: View, document: int) -> tuple[Piece, ...]:
    first, end = int(view.corpus.first[document]), int(view.corpus.first[document + 1])
    additions = [stage.take(np.array([document], np.int64))[0] for stage in view.stages]
    inner = [addition._replace(prefix="") for addition in additions]
    blocks = [_Block([Piece(item.prefix, stage)], stage) for stage, item in enumerate(additions)]
    for rank, text in enumerate(view.corpus.texts(np.arange(first, end))):
        blocks.append(_Block(list(composed(text, inner, rank)), None))
    return _joined(blocks, "\n")


def _edited(text: str, edits: Sequence[tuple[int, Edit]]) -> list[Piece]:
    pieces, at = [], 0
    for i in kept([edit for _, edit in edits]):
        stage, edit = edits[i]
        pieces.append(Piece(text[at : edit.start], None))
        old, new = text[edit.start : edit.end], edit.text
        # an edit may repeat the old text and add to it; only the addition is new
        if new.startswith(old):
            pieces += [Piece(old, None), Piece(new[len(old) :], stage)]
        elif new.endswith(old):
            pieces += [Piece(new[: len(new) - len(old)], stage), Piece(old, None)]
        else:
            pieces.append(Piece(new, stage))
        at = edit.end
    return [*pieces, Piece(text[at:], None)]


def _joined(blocks: Iterable[_Block], separator: str) -> tuple[Piece, ...]:
    """The pieces of all blocks that hold text, with the separator between blocks."""
    pieces: list[Piece] = []
    before: _Block | None = None
    for block in blocks:
        if not text_of(block.pieces):
            continue
        if before is not None:
            pieces.append(Piece(separator, before.stage))
        pieces += block.pieces
        before = block
    return _merged(pieces)


def _merged(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The pieces without empty ones, with neighbours of the same stage merged."""
    merged: list[Piece] = []
    for piece in pieces:
        if merged and piece.text and merged[-1].stage == piece.stage:
            merged[-1] = Piece(merged[-1].text + piece.text, piece.stage)
        elif piece.text:
            merged.append(piece)
    return tuple(merged)
