"""Groups of queries that a person would look at: by length, question word, overlap of words with the
positives, rank of the first positive, script and slice."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.collection.cards import UNSPACED
from harness.inspect.material import Material
from harness.inspect.rankings import Rankings
from harness.scoring.bootstrap import Sample, summaries

SMALLEST = 5  # queries; a smaller group says nothing
QUESTIONS = re.compile(
    r"\b(what|who|whom|whose|when|where|which|why|how)\b|(为什么|什么|谁|哪|怎么|怎样|如何|多少|几)",
    re.IGNORECASE,
)
RANKS = (1, 10, 100)
OVERLAPS = ("under a third", "under two thirds", "two thirds or more")


class Compared(NamedTuple):
    """The queries of one group: the means of two systems, and the 95 % interval of their difference."""

    kind: str
    name: str
    queries: int
    first: float
    second: float
    difference: float
    low: float
    high: float


def compared(
    groups: Mapping[tuple[str, str], Sequence[str]], values: Mapping[str, tuple[float, float]], seed: int
) -> list[Compared]:
    """Each group with at least `SMALLEST` queries that both systems were scored on."""
    rows = []
    for (kind, name), members in groups.items():
        pairs = np.array([values[query] for query in members if query in values])
        if len(pairs) < SMALLEST:
            continue
        sample = Sample(pairs[:, 0] - pairs[:, 1], np.ones(len(pairs)), "mean")
        (found,) = summaries([sample], seed)
        first, second = pairs.mean(axis=0).tolist()
        rows.append(Compared(kind, name, len(pairs), first, second, found.mean, found.low, found.high))
    return rows


def of(
    material: Material, names: Iterable[str], rankings: Rankings | None, language: str | None
) -> dict[tuple[str, str], list[str]]:
    """The queries of each group, by its kind and name. Ranks of positives need `rankings`."""
    known = [name for name in names if name in material.number]
    texts = {name: material.queries.texts[material.number[name]] for name in known}
    unit = "characters" if language in UNSPACED else "words"
    lengths = {name: len(_words(text, unit)) for name, text in texts.items()}
    short, long = np.quantile(list(lengths.values()), (1 / 3, 2 / 3)).astype(int) if lengths else (0, 0)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in known:
        length = lengths[name]
        bounds = (
            f"up to {short}"
            if length <= short
            else f"over {long}"
            if length > long
            else f"{short + 1} to {long}"
        )
        labels = [
            ("length", f"{bounds} {unit}"),
            ("question word", _question(texts[name])),
            ("script", _script(texts[name])),
        ]
        grades = material.grades(name, "passage")
        positives = [id for id, grade in grades.items() if grade > 0]
        if positives and material.has_texts:
            labels.append(("shared words", _overlap(material, texts[name], positives, unit)))
        if positives and rankings is not None and rankings.unit == "passage":
            labels.append(("first relevant", _rank(rankings, name, positives)))
        labels += [("slice", word) for word in material.queries.slices[material.number[name]]]
        for label in labels:
            groups.setdefault(label, []).append(name)
    several = {kind for kind, _ in groups if sum(other == kind for other, _ in groups) > 1}
    return {
        label: groups[label]
        for label in sorted(groups, key=_order)
        if label[0] in several or label[0] == "slice"
    }


def _words(text: str, unit: str) -> list[str]:
    return re.findall(r"\w" if unit == "characters" else r"\w+", text.casefold())


def _question(text: str) -> str:
    match = QUESTIONS.search(text)
    return match.group().lower() if match else "none"


def _script(text: str) -> str:
    """The script of most letters, by the first word of their Unicode names, such as LATIN."""
    letters = [
        unicodedata.name(letter, "OTHER").split()[0].split("-")[0] for letter in text if letter.isalpha()
    ]
    return max(sorted(set(letters)), key=letters.count).title() if letters else "None"


def _overlap(material: Material, text: str, positives: list[str], unit: str) -> str:
    """The share of the query's words in the positive that has most of them."""
    words = set(_words(text, unit))
    at = material.positions(positives, "passage")
    passages = material.corpus.texts(at[at >= 0])
    share = max(
        (len(words & set(_words(passage, unit))) / max(1, len(words)) for passage in passages), default=0
    )
    return OVERLAPS[min(int(share * len(OVERLAPS)), len(OVERLAPS) - 1)]


def _rank(rankings: Rankings, query: str, positives: list[str]) -> str:
    best = min(rankings.of(query, 0, positives).ranks.values(), default=None)
    if best is None or best > RANKS[-1]:
        return f"below {RANKS[-1]} or missing"
    low = next(before for before, bound in zip((0, *RANKS), RANKS, strict=False) if best <= bound)
    bound = next(bound for bound in RANKS if best <= bound)
    return f"at {bound}" if low + 1 == bound else f"at {low + 1} to {bound}"


def _order(label: tuple[str, str]) -> tuple[str, float, str]:
    """Groups of a kind from small to large, otherwise by name."""
    kind, name = label
    if name in OVERLAPS:
        return kind, OVERLAPS.index(name), name
    number = re.search(r"\d+", name)
    if kind not in ("length", "first relevant") or number is None:
        return kind, 0, name
    return kind, math.inf if name.startswith(("over", "below")) else float(number.group()), name
