"""Labels the retrieved passages that contain an answer, which are relevant in open-domain question answering.

The rule is that of DPR's scripts (Karpukhin et al. 2020), which RocketQAv2 follows on Natural Questions. Both
texts are decomposed (Unicode NFD), put into lower case and split into words: each run of letters, digits and
marks is a word, and so is every other visible character. A passage contains an answer if the answer's words
stand in the passage one after the other. An answer that begins with `regex:` is a regular expression, as
those of CuratedTREC are: the decomposed passage contains it if a part of the passage matches, whatever the
case. One that is no regular expression matches nothing, as in DPR's scripts.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged
from harness.collection.queries import Queries
from harness.errors import HarnessError
from harness.types import ANSWER_PATTERN, Hits

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
    wanted = [_wanted(answers) for answers in queries.answers]
    order = np.argsort(ranked, axis=None, kind="stable")
    flat = ranked.ravel()[order]
    order = order[flat >= 0]
    positions, starts = np.unique(flat[flat >= 0], return_index=True)
    ends = np.append(starts[1:], len(order))
    for low in range(0, len(positions), PASSAGES):
        block = slice(low, low + PASSAGES)
        texts = read.texts(positions[block])
        for text, start, end in zip(texts, starts[block].tolist(), ends[block].tolist(), strict=True):
            compared = _compared(text)
            for cell in order[start:end].tolist():
                query = cell // ranked.shape[1]
                if _contains(compared, wanted[query]):
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
    return _contains(_compared(text), _wanted(answers))


class _Wanted(NamedTuple):
    """The answers of a query."""

    spaced: list[str]  # the words of each, with spaces between and around them
    patterns: list[re.Pattern[str]]


class _Compared(NamedTuple):
    """A passage as answers are looked for in it."""

    spaced: str
    text: str  # decomposed


def _wanted(answers: Sequence[str]) -> _Wanted:
    plain = {f" {' '.join(words(answer))} " for answer in answers if not answer.startswith(ANSWER_PATTERN)}
    patterns = []
    for answer in answers:
        if answer.startswith(ANSWER_PATTERN):
            pattern = unicodedata.normalize("NFD", answer.removeprefix(ANSWER_PATTERN))
            with contextlib.suppress(re.error):
                patterns.append(re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    return _Wanted(sorted(answer for answer in plain if answer.strip()), patterns)


def _compared(text: str) -> _Compared:
    return _Compared(f" {' '.join(words(text))} ", unicodedata.normalize("NFD", text))


def _contains(text: _Compared, wanted: _Wanted) -> bool:
    found = any(answer in text.spaced for answer in wanted.spaced)
    return found or any(pattern.search(text.text) for pattern in wanted.patterns)


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
