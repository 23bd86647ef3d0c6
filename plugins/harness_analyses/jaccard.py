"""Reports the word overlap of query and relevant passage, with and without each context."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from harness.plugin import AnalysisInput, Finding, Ints, View
from harness_analyses import JaccardParams

# matches a word or, in scripts without spaces, a single character
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


class Jaccard:
    def __init__(self, params: JaccardParams) -> None:
        self._split = TOKENS[params.tokens]
        self._unit = UNITS[params.tokens]

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        judged = data.judged
        kept = (judged.grade > 0) & (judged.passage < data.corpus.passages)
        query, passage = judged.query[kept].astype(np.int64), judged.passage[kept]
        queries = [self._split(text) for text in data.queries.texts]
        views: dict[tuple[str, ...], tuple[str, View]] = {(): ("none", View(data.corpus))}
        for system in data.systems:
            if system.unit == "passage":
                views.setdefault(system.stages, (" + ".join(system.context), system.texts))
        rows = []
        plain = similarity(views[()][1], queries, query, passage, self._split)
        for stages, (name, view) in views.items():
            similarities = similarity(view, queries, query, passage, self._split) if stages else plain
            rows.append((name, round(100 * similarities, 4), round(100 * (similarities - plain), 4)))
        yield Finding(
            name="jaccard",
            title="Words shared by query and relevant passage",
            kind="bar",
            columns=("context", "Jaccard similarity, hundredths", "difference"),
            rows=tuple(rows),
            x="context",
            y="Jaccard similarity, hundredths",
            says=f"Words of both over words of either, in lower case ({self._unit}), in "
            "hundredths: the mean over all relevant passages (DAPR, table 5).",
        )


def similarity(
    view: View, queries: list[set[str]], query: Ints, passage: Ints, split: Callable[[str], set[str]]
) -> float:
    """The mean of |q ∩ p| / |q ∪ p| over pairs of query and passage; a pair counts 0 if both are empty."""
    if not len(query):
        return 0.0
    total = 0.0
    for number, text in zip(query.tolist(), view.take(np.asarray(passage, np.int64)), strict=True):
        both, passage_words = queries[number], split(text)
        either = len(both | passage_words)
        total += len(both & passage_words) / either if either else 0.0
    return total / len(query)


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def between_spaces(text: str) -> set[str]:
    return set(text.lower().split())


TOKENS = {"words": words, "whitespace": between_spaces}
UNITS = {"words": "of Chinese the characters", "whitespace": "with the marks that touch them"}
