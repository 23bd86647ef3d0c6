"""Labels the retrieved passages that contain an answer, which are relevant in open-domain question answering.

The rule is that of DPR's scripts (Karpukhin et al. 2020), which RocketQAv2 follows on Natural Questions. Both
texts are decomposed (Unicode NFD), put into lower case and split into words: each run of letters, digits and
marks is a word, and so is every other visible character. A passage contains an answer if the answer's words
stand in the passage one after the other.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged
from harness.collection.queries import Queries
from harness.errors import HarnessError
from harness.types import Hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Labels = NDArray[np.int8]

PASSAGES = 8192  # texts that are held at once


def labels(
    read: Corpus,
    queries: Queries,
    hits: Hits,
    depth: int,
    progress: Callable[[int], None] = lambda done: None,
) -> Labels:
    """The label of each of the first `depth` hits (int8[Q, n]): 1 if the passage contains one of the query's
    answers, 0 if not, and -1 beyond the end of a row. Every passage is read once."""
    if not any(queries.answers):
        raise HarnessError("the queries have no answers, by which this protocol tells relevant passages")
    ranked = hits.passages[:, :depth]
    grades = np.where(ranked < 0, -1, 0).astype(np.int8)
    wanted = [sorted({" ".join(words(answer)) for answer in answers}) for answers in queries.answers]
    order = np.argsort(ranked, axis=None, kind="stable")
    flat = ranked.ravel()[order]
    order = order[flat >= 0]
    positions, starts = np.unique(flat[flat >= 0], return_index=True)
    ends = np.append(starts[1:], len(order))
    for low in range(0, len(positions), PASSAGES):
        block = slice(low, low + PASSAGES)
        texts = read.texts(positions[block])
        for text, start, end in zip(texts, starts[block].tolist(), ends[block].tolist(), strict=True):
            spaced = f" {' '.join(words(text))} "
            for cell in order[start:end].tolist():
                query = cell // ranked.shape[1]
                if any(f" {answer} " in spaced for answer in wanted[query] if answer):
                    grades.flat[cell] = 1
        progress(min(low + PASSAGES, len(positions)))
    return grades


def judged(labels: Labels, hits: Hits, queries: Queries, size: int) -> Judged:
    """The labels as judgements. Every query with answers gets a judgement and so is scored, even if it has no
    hits. `size` is the number of passages of the corpus."""
    rows, ranks = np.nonzero(labels >= 0)
    has_answers = np.array([bool(answers) for answers in queries.answers])
    kept = has_answers[rows]
    rows, ranks = rows[kept], ranks[kept]
    alone = np.setdiff1d(np.flatnonzero(has_answers), rows)
    query = np.concatenate([rows, alone]).astype(np.int32)
    passage = np.concatenate([hits.passages[rows, ranks], np.full(len(alone), size)]).astype(np.int64)
    grade = np.concatenate([labels[rows, ranks], np.zeros(len(alone))]).astype(np.int32)
    return Judged(query, passage, grade)


def words(text: str) -> list[str]:
    """The tokens of DPR's SimpleTokenizer over the decomposed text, in lower case."""
    return [word.lower() for word in _token().findall(unicodedata.normalize("NFD", text))]


def has_answer(answers: Sequence[str], text: str) -> bool:
    spaced = f" {' '.join(words(text))} "
    return any(
        f" {' '.join(answer_words)} " in spaced for answer in answers if (answer_words := words(answer))
    )


@functools.cache
def _token() -> re.Pattern[str]:
    r"""The pattern `[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]`, whose classes the standard library's `re` lacks."""
    classes: dict[str, list[tuple[int, int]]] = {"word": [], "unseen": []}
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))[0]
        kind = "word" if category in "LNM" else "unseen" if category in "ZC" else None
        if kind is None:
            continue
        ranges = classes[kind]
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    word, unseen = (
        "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in classes[kind])
        for kind in ("word", "unseen")
    )
    return re.compile(f"[{word}]+|[^{word}{unseen}]")
