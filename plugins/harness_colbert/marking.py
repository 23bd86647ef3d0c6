"""Turns texts into token ids as ColBERT does: with markers after [CLS], and queries filled with [MASK]."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import HarnessError
from harness.toolkit.neural import model_folder, tokens
from harness.toolkit.neural.tokens import Lost, Tokeniser, Tokens
from harness_colbert.settings import FolderSettings


class Marks(NamedTuple):
    """The tokenisers and markers of a checkpoint."""

    queries: Tokeniser  # [CLS] [Q] text [SEP]
    passages: Tokeniser  # [CLS] [D] text [SEP]
    mask: int  # the id of [MASK]
    skipped: NDArray[np.int32]  # ids that get no vector in passages: punctuation, and written-out padding
    attend: bool  # whether the other tokens of a query attend to [MASK]
    expand: bool = True  # whether a query is filled with [MASK]
    m3: bool = False  # BGE-M3: a query is marked as a passage is, and the first token has no vector


def load(folder: Path, settings_file: FolderSettings, trust_remote_code: bool = False) -> Marks:
    tokeniser = tokens.load(folder, trust_remote_code)
    if settings_file.m3:
        return Marks(tokeniser, tokeniser, tokeniser.padding, np.empty(0, np.int32), False, False, m3=True)
    before = tokeniser.single.before

    def marked(marker: str) -> Tokeniser:
        number = _id(tokeniser.backend, marker, folder)
        return tokeniser._replace(single=tokeniser.single._replace(before=(*before, number)))

    skipped = set() if settings_file.pylate else {tokeniser.padding}
    if settings_file.pylate:
        unknown = tokeniser.backend.token_to_id(_special_token(folder, "unk_token", "[UNK]"))
        known = [tokeniser.backend.token_to_id(word) for word in settings_file.skipped]
        skipped |= {number if number is not None else unknown for number in known} - {None}
    elif settings_file.mask_punctuation:
        encoded = (
            tokeniser.backend.encode(mark, add_special_tokens=False).ids for mark in string.punctuation
        )
        skipped |= {ids[0] for ids in encoded if ids}
    return Marks(
        marked(settings_file.query_token_id),
        marked(settings_file.doc_token_id),
        _id(tokeniser.backend, _special_token(folder, "mask_token", "[MASK]"), folder),
        np.array(sorted(skipped), np.int32),
        settings_file.attend_to_mask_tokens,
        settings_file.expand,
    )


def queries(
    marks: Marks, texts: Sequence[str], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Lost]:
    """Ids and attention, each int64[n, length], and what was cut off. A shorter query is filled with [MASK]
    (Khattab and Zaharia 2020, section 3.2). Its tokens attend to [MASK] only if `attend` is true."""
    token_ids, lost = tokens.tokenise(marks.queries, texts, length)
    ids, attention, _ = tokens.padded(token_ids, marks.mask, length)
    ids[ids == marks.queries.padding] = marks.mask  # as in ColBERT, if a query spells out the padding token
    if marks.attend:
        attention[:] = 1
    return ids, attention, lost


def kept(marks: Marks, batch: Tokens) -> NDArray[np.bool_]:
    """bool[T]: whether each token of the passages has a vector."""
    keep = ~np.isin(batch.ids, marks.skipped)
    if marks.m3:
        keep[batch.bounds[:-1]] = False
    return keep


def _id(backend: Any, token: str, folder: Path) -> int:
    number = backend.token_to_id(token)
    if number is None:
        raise HarnessError(
            f"model: the vocabulary in {folder} has no '{token}'; name a checkpoint of ColBERT"
        )
    return int(number)


def _special_token(folder: Path, name: str, usual: str) -> str:
    token = (model_folder.read(folder / "tokenizer_config.json") or {}).get(name)
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else usual
