"""The step that lists the examples of a training: positives and negatives of each query."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, judging
from harness.collection.queries import Queries
from harness.errors import HarnessError
from harness.execution.task import Outcome, Task
from harness.scoring import answers
from harness.steps.examples import Examples
from harness.types import Floats, Hits, Ints

POSITIVES, NEGATIVES = "positives.npz", "negatives.npz"
UNDENOISED, JUDGED = "undenoised.npz", "judged.npz"
FILLING = 1  # the purpose of random numbers; part of their seeds


def examples(step: Examples, task: Task) -> Outcome:
    """Write the judged positives of each query of a split, and the negatives from the top of a run. A
    negative is not judged positive, and does not have the text of a positive. Two queries with the same text
    have the positives of both."""
    read, queries, mined = task.corpus(step.corpus), task.queries(step.queries), step.negatives
    judged = judging(read, queries, task.judgements(step.judgements)).judged
    good = _positives(judged, queries.texts, read.passages, step.level)
    texts = View(read, [], "passage", None)
    if mined is None:
        silent = [np.full(len(positives), np.nan, np.float32) for positives in good]
        none = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * len(good)
        _write(task.folder / POSITIVES, list(zip(good, silent, strict=True)))
        _write(task.folder / NEGATIVES, none)
        return Outcome({**_counts(good, none), "duplicates_of_positives": 0}, {})
    hits = task.hits(mined.hits)
    answered = _answered(read, queries, hits, mined.depth, task) if mined.without_answer else None
    positives: list[tuple[Ints, Floats]] = []
    negatives: list[tuple[Ints, Floats]] = []
    undenoised: list[tuple[Ints, Floats]] = []
    candidates = np.flatnonzero(read.candidate)
    duplicates = trusted = filled = with_answer = 0
    for query, known in enumerate(good):
        passages, scores = _top(hits, query, mined.depth)
        if mined.positives_above is not None and len(known):
            graded = judged.passage[judged.query == query]
            sure = (scores > mined.positives_above) & ~np.isin(passages, graded)
            trusted += int(sure.sum())
            known = np.union1d(known, passages[sure])
        positives.append((known, _scores_of(known, hits, query)))
        if answered is not None:
            without = ~answered[query, : len(passages)]
            with_answer += int((~without).sum())
            passages, scores = passages[without], scores[without]
        if mined.apart:
            raw, _ = _unlike(passages, good[query], texts)
            undenoised.append((passages[raw], scores[raw]))
        unlike, same = _unlike(passages, known, texts)
        duplicates += same
        passages, scores = passages[unlike], scores[unlike]
        if not mined.apart:
            undenoised.append((passages, scores))
        within = np.ones(len(passages), np.bool_)
        if mined.below is not None:
            within &= scores < mined.below
        if mined.above is not None:
            within &= scores > mined.above
        passages, scores = passages[within], scores[within]
        if len(passages) < mined.fill and len(known):
            drawn = np.random.default_rng([FILLING, query]).permutation(candidates)[: 2 * mined.fill + 16]
            drawn = drawn[~np.isin(drawn, passages)]
            drawn = drawn[_unlike(drawn, known, texts)[0]]
            if mined.without_answer:
                known_answers = queries.answers[query]
                keeps = [not answers.has_answer(known_answers, text) for text in texts.take(drawn)]
                drawn = drawn[np.array(keeps, np.bool_)]
            drawn = drawn[: mined.fill - len(passages)]
            filled += len(drawn)
            passages = np.concatenate([passages, drawn])
            scores = np.concatenate([scores, np.full(len(drawn), np.nan, np.float32)])
        negatives.append((passages, scores))
    _write(task.folder / POSITIVES, positives)
    _write(task.folder / NEGATIVES, negatives)
    if mined.undenoised:
        _write(task.folder / UNDENOISED, undenoised)
    if mined.apart:
        _write(task.folder / JUDGED, [(known, _scores_of(known, hits, i)) for i, known in enumerate(good)])
    facts = {
        **_counts([known for known, _ in positives], negatives),
        "duplicates_of_positives": duplicates,
        "positives_by_score": trusted,
        "random_negatives": filled,
        **({"with_an_answer": with_answer} if mined.without_answer else {}),
    }
    return Outcome(facts, {})


def _answered(read: Corpus, queries: Queries, hits: Hits, depth: int, task: Task) -> NDArray[np.bool_]:
    """bool[Q, depth]: which of the first hits contain an answer of their query, in the text or the title."""
    if not any(queries.answers):
        raise HarnessError(
            "negatives: without_answer: the queries have no answers; give them, or leave it out"
        )
    labels = answers.labels(read, queries, hits, depth, lambda done: task.progress(done, None))
    answered: NDArray[np.bool_] = labels > 0
    for query, known in enumerate(queries.answers):
        cells = np.flatnonzero(labels[query] == 0)
        titles = read.titles(read.document_of[hits.passages[query, cells]])
        answered[query, cells] = [answers.has_answer(known, title) for title in titles]
    return answered


def _counts(good: Sequence[Ints], bad: Sequence[tuple[Ints, Floats]]) -> dict[str, int]:
    return {
        "queries": len(good),
        "queries_with_positives": sum(len(positives) > 0 for positives in good),
        "positives": sum(map(len, good)),
        "negatives": sum(len(passages) for passages, _ in bad),
        "queries_without_negatives": sum(len(passages) == 0 for passages, _ in bad),
    }


def _unlike(passages: Ints, known: Ints, texts: View) -> tuple[NDArray[np.bool_], int]:
    """bool[n]: which passages are neither known positives nor have the text of one; and how many passages are
    left out only because of their text."""
    known_texts = set(texts.take(known)) if len(known) else set()
    other = ~np.isin(passages, known)
    unlike = other & np.array([text not in known_texts for text in texts.take(passages)], np.bool_)
    return unlike, int((other & ~unlike).sum())


def _positives(judged: Judged, texts: Sequence[str], passages: int, level: int) -> list[Ints]:
    """int64[n] for each query: the judged positives that are in the corpus, ascending. Queries with the same
    text share theirs."""
    kept = (judged.grade >= level) & (judged.passage < passages)
    first: dict[str, int] = {}
    number_of = np.array([first.setdefault(text, number) for number, text in enumerate(texts)], np.int64)
    query, passage = number_of[judged.query[kept]], judged.passage[kept]
    order = np.lexsort((passage, query))
    lists = np.split(passage[order].astype(np.int64), np.searchsorted(query[order], np.arange(1, len(texts))))
    return [np.unique(lists[number]) for number in number_of.tolist()]


def _scores_of(positives: Ints, hits: Hits, query: int) -> Floats:
    """float32[n]: the scores that the run gave these passages for the query; NaN for a passage that the run
    did not find."""
    places = {passage: at for at, passage in enumerate(hits.passages[query].tolist())}
    scores = hits.scores[query]
    return np.array(
        [scores[places[passage]] if passage in places else np.nan for passage in positives.tolist()],
        np.float32,
    )


def _top(hits: Hits, query: int, depth: int) -> tuple[Ints, Floats]:
    passages, scores = hits.passages[query][:depth], hits.scores[query][:depth]
    return passages[passages >= 0], scores[passages >= 0]


def _write(path: Path, lists: Sequence[tuple[Ints, Floats]]) -> None:
    bounds = np.cumsum([0, *(len(passages) for passages, _ in lists)], dtype=np.int64)
    passages = np.concatenate([np.zeros(0, np.int64), *(passages for passages, _ in lists)])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in lists)])
    np.savez(path, bounds=bounds, passages=passages.astype(np.int64), scores=scores.astype(np.float32))
