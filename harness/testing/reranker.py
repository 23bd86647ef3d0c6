"""What a re-ranker promises: a score depends only on the query, the text and the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.testing import hit_checks, interruption
from harness.testing.subject import Subject, able, index_if_indexed, require
from harness.testing.texts import QUERIES, SCRIPTS, MemoryTexts, sample, sentences, texts
from harness.types import Floats, Ints

CANDIDATES = 12


def corpus_of(_: Subject) -> MemoryTexts:
    return sample()


def candidates_of(corpus: MemoryTexts, queries: int) -> Ints:
    """int64[Q, 12]: different positions for each query, unsorted."""
    chance = np.random.default_rng(3)
    return np.stack([chance.permutation(corpus.size)[:CANDIDATES] for _ in range(queries)]).astype(np.int64)


def opened(subject: Subject, corpus: MemoryTexts, folder: Path) -> Any:
    folder.mkdir(exist_ok=True)
    method = index_if_indexed(subject, corpus, folder)
    return method.open(corpus, folder if subject.record.indexed else None)


def scored(scorer: Any, queries: Sequence[str], candidates: Ints) -> Floats:
    """The scores, with 0 where a candidate is -1. Raises `Broken` if their type or shape is wrong."""
    before = candidates.copy()
    scores = scorer.score(list(queries), candidates)
    require(isinstance(scores, np.ndarray), f"its scores are a {type(scores).__name__}, not an array")
    form = f"{scores.dtype}{list(scores.shape)}"
    wanted = f"float32{list(candidates.shape)}"
    require(form == wanted, f"its scores are {form}; they must be {wanted}")
    require((candidates == before).all(), "it changes the candidates that it is given")
    filled = candidates >= 0
    require(np.isfinite(scores[filled]).all(), "a score is not finite")
    return np.where(filled, scores, np.float32(0))


def fingerprint(subject: Subject, folder: Path) -> str:
    corpus = sample()
    scores = scored(opened(subject, corpus, folder), QUERIES, candidates_of(corpus, len(QUERIES)))
    return scores.tobytes().hex()


def gives_the_same_for_two_indexes(subject: Subject, folder: Path) -> None:
    first, second = (fingerprint(subject, folder / name) for name in ("first", "second"))
    require(first == second, "two indexes of one corpus give different scores")


def gives_the_same_for_two_calls(subject: Subject, folder: Path) -> None:
    corpus = sample()
    scorer, candidates = opened(subject, corpus, folder), candidates_of(corpus, len(QUERIES))
    first, second = (scored(scorer, QUERIES, candidates) for _ in range(2))
    require((first == second).all(), "scoring twice gives different scores")


def scores_do_not_depend_on_the_order(subject: Subject, folder: Path) -> None:
    if subject.record.together:
        return
    corpus = sample()
    scorer, candidates = opened(subject, corpus, folder), candidates_of(corpus, len(QUERIES))
    order = np.random.default_rng(4).permutation(CANDIDATES)
    straight, mixed = scored(scorer, QUERIES, candidates), scored(scorer, QUERIES, candidates[:, order])
    good = hit_checks.same_scores(straight[:, order], mixed, subject.tolerance)
    require(good, "the score of a text depends on its place among the candidates")


def scores_do_not_depend_on_other_candidates(subject: Subject, folder: Path) -> None:
    if subject.record.together:
        return
    corpus = sample()
    scorer, candidates = opened(subject, corpus, folder), candidates_of(corpus, len(QUERIES))
    together = scored(scorer, QUERIES, candidates)
    for column in (0, 5):
        alone = scored(scorer, QUERIES, candidates[:, column : column + 1])
        good = hit_checks.same_scores(alone, together[:, column : column + 1], subject.tolerance)
        require(good, "the score of a text depends on the other candidates")


def scores_do_not_depend_on_other_queries(subject: Subject, folder: Path) -> None:
    corpus = sample()
    scorer, candidates = opened(subject, corpus, folder), candidates_of(corpus, len(QUERIES))
    together = scored(scorer, QUERIES, candidates)
    for row, query in enumerate(QUERIES):
        alone = scored(scorer, [query], candidates[row : row + 1])
        good = hit_checks.same_scores(alone, together[row : row + 1], subject.tolerance)
        require(good, f"the scores for '{query}' depend on the other queries")


def ignores_padding(subject: Subject, folder: Path) -> None:
    """Short or empty rows must not change the scores of other rows. Unless the method orders candidates
    together, a short row keeps its own scores too."""
    corpus = sample()
    scorer, candidates = opened(subject, corpus, folder), candidates_of(corpus, len(QUERIES))
    together = scored(scorer, QUERIES, candidates)
    short = candidates.copy()
    short[0], short[1, 4:] = -1, -1
    with able("score rows that are short or empty"):
        scores = scored(scorer, QUERIES, short)
    filled = short >= 0
    if subject.record.together:
        filled[:2] = False
    good = hit_checks.same_scores(scores[filled], together[filled], subject.tolerance)
    require(good, "the -1 that pad a short row change its other scores")


def scores_equal_texts_equally(subject: Subject, folder: Path) -> None:
    if subject.record.together:
        return
    corpus = texts(["a castle of stone", *sentences(10), "a castle of stone"])
    [scores] = scored(opened(subject, corpus, folder), ["castle of stone"], np.array([[0, 5, 11]]))
    good = hit_checks.same_scores(scores[:1], scores[2:], subject.tolerance)
    require(good, "it scores the same text differently")


def takes_an_empty_corpus(subject: Subject, folder: Path) -> None:
    with able("open an empty corpus and score nothing"):
        scored(opened(subject, texts([]), folder), QUERIES, np.full((len(QUERIES), 3), -1))


def takes_no_queries_and_no_candidates(subject: Subject, folder: Path) -> None:
    scorer = opened(subject, sample(), folder)
    with able("score without a query"):
        scored(scorer, [], np.empty((0, 5), np.int64))
    with able("score without a candidate"):
        scored(scorer, QUERIES, np.empty((len(QUERIES), 0), np.int64))


def takes_one_text(subject: Subject, folder: Path) -> None:
    with able("score the only text of a corpus"):
        scored(opened(subject, texts(["the old castle"]), folder), ["castle"], np.array([[0]]))


def takes_any_script(subject: Subject, folder: Path) -> None:
    every = np.tile(np.arange(len(SCRIPTS)), (len(SCRIPTS), 1))
    with able("score texts of other scripts"):
        scored(opened(subject, texts(SCRIPTS), folder), SCRIPTS, every)


def takes_empty_queries_and_texts(subject: Subject, folder: Path) -> None:
    queries = ["", " ", "...", "castle", "wordthatnotexthas"]
    every = ["", "the castle", " ", "!?", *sentences(3)]
    with able("score empty queries and texts"):
        candidates = np.tile(np.arange(len(every)), (len(queries), 1))
        scored(opened(subject, texts(every), folder / "some"), queries, candidates)
    with able("score where all texts are empty"):
        scored(opened(subject, texts(["", " "]), folder / "all"), queries, candidates[:, :2])


def finishes_an_index_that_was_interrupted(subject: Subject, folder: Path) -> None:
    if not subject.record.indexed:
        return
    resumed = folder / "resumed"
    interruption.leave_parts(lambda corpus: index_if_indexed(subject, corpus, resumed), sample(), resumed)
    expected = fingerprint(subject, folder / "whole")
    for state in ("an interrupted one", "a finished one"):
        with able(f"index again over {state}"):
            resumed_scores = fingerprint(subject, resumed)
        require(resumed_scores == expected, f"an index over what {state} left gives other scores")
