"""Measures how much faster our algorithm 1 of DuReader-retrieval is than trying all spans.

The benchmark fails unless both give equal labels."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from harness_making.spans import Bags, Level, Tokens, labels


@njit
def all_spans(
    passages: Any, bounds: Any, answers: Any, ends: Any, vocabulary: int, gain: int, cost: int
) -> Any:
    """bool[passages]: the labels, from comparing every span of every passage with every answer."""
    has_answer = np.zeros(len(bounds) - 1, np.bool_)
    wanted, seen = np.zeros(vocabulary, np.int64), np.zeros(vocabulary, np.int64)
    for a in range(len(ends) - 1):
        size = ends[a + 1] - ends[a]
        for i in range(ends[a], ends[a + 1]):
            wanted[answers[i]] += 1
        for p in range(len(has_answer)):
            for start in range(bounds[p], bounds[p + 1]):
                shared = 0
                for i in range(start, bounds[p + 1]):
                    if seen[passages[i]] < wanted[passages[i]]:
                        shared += 1
                    seen[passages[i]] += 1
                    if gain * shared - cost * (i - start + 1) >= cost * size:
                        has_answer[p] = True
                for i in range(start, bounds[p + 1]):
                    seen[passages[i]] = 0
        for i in range(ends[a], ends[a + 1]):
            wanted[answers[i]] = 0
    return has_answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw", type=Path, help="a split of DuReader 2.0, as train.jsonl")
    given = parser.parse_args()
    known = Tokens(characters=True)
    cases = []
    with given.raw.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            texts = [text for document in row["documents"] for text in document["paragraphs"]]
            answers = Bags.of([known.numbers(answer) for answer in row["answers"]])
            cases.append((Bags.of([known.numbers(text) for text in texts]), answers))
    measure("real paragraphs and answers", cases, known.size)
    measure("the same lengths and frequencies, drawn at random", drawn(cases), known.size)
    measure("200 words alike in frequency, passages of 300, answers of 100", few_words(), 200)


def drawn(cases: list[tuple[Bags, Bags]]) -> list[tuple[Bags, Bags]]:
    """Texts as long as the real ones, of tokens drawn from all real texts: as frequent as in these, but in no
    order."""
    random = np.random.default_rng(0)
    pool = np.concatenate([bags.tokens for case in cases for bags in case])
    return [
        (texts._replace(tokens=random.choice(pool, len(texts.tokens))),
         answers._replace(tokens=random.choice(pool, len(answers.tokens))))
        for texts, answers in cases
    ]  # fmt: skip


def few_words() -> list[tuple[Bags, Bags]]:
    """Texts that share many words with every answer, so that an upper bound rules out few passages."""
    random = np.random.default_rng(0)
    passages = [Bags.of([random.integers(0, 200, 300) for _ in range(50)]) for _ in range(50)]
    return [(texts, Bags.of([random.integers(0, 200, 100)])) for texts in passages]


def measure(name: str, cases: list[tuple[Bags, Bags]], vocabulary: int) -> None:
    level = Level.of(0.5, False)
    positives = sum(int(labels(*case, vocabulary, level).sum()) for case in cases)
    print(f"{name}: {sum(len(case[0].bounds) - 1 for case in cases):,} passages, {positives:,} positive")
    for turn in range(4):  # the first compiles
        seconds = [0.0, 0.0]
        for passages, answers in cases if turn else cases[:1]:
            began = time.thread_time()
            fast = labels(passages, answers, vocabulary, level)
            middle = time.thread_time()
            slow = all_spans(*passages, *answers, vocabulary, 4, 1)
            seconds[0] += middle - began
            seconds[1] += time.thread_time() - middle
            assert (fast == slow).all()
        if turn:
            ratio = seconds[1] / seconds[0]
            print(f"  {seconds[0]:.4f} s of CPU, all spans {seconds[1]:.3f} s: {ratio:.0f} times faster")


if __name__ == "__main__":
    main()
