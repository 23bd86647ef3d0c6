"""A collection's identity card: counts, lengths and judgements, from one pass over its finished columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.collection import record_batches
from harness.collection.corpus import Corpus
from harness.collection.corpus_stream import PASSAGES
from harness.collection.judgements import judging
from harness.collection.queries import Judgements, Queries, read_judgements, read_queries
from harness.types import JSON, Card, Official

UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my", "bo"})  # languages without blanks between words
FILE, FORM = "card.json", "harness card 1"  # the card of an exported dataset, in its folder, and its form
PERCENTILES = (5, 25, 50, 75, 95)


class Spread:
    """The distribution of whole numbers from 0. It is kept as the count of each number, so that any amount of
    numbers fits into memory and percentiles are exact."""

    def __init__(self) -> None:
        self._counts = np.zeros(1, np.int64)

    def add(self, values: NDArray[np.integer]) -> None:
        if len(values):
            counts = np.bincount(values, minlength=len(self._counts))
            counts[: len(self._counts)] += self._counts
            self._counts = counts

    def summary(self) -> dict[str, JSON] | None:
        """The mean, standard deviation, extremes and percentiles, or None if no numbers were added.
        Percentile q is the smallest value that at least q per cent of the values do not exceed. The standard
        deviation is that of these values, not an estimate for a larger population."""
        total = int(self._counts.sum())
        if not total:
            return None
        values = np.flatnonzero(self._counts)
        counts = self._counts[values]
        mean = float((values * counts).sum() / total)
        up_to = np.cumsum(counts)
        return {
            "mean": round(mean, 4),
            "sd": round(float(np.sqrt((counts * (values - mean) ** 2).sum() / total)), 4),
            "min": int(values[0]),
            **{f"p{q}": int(values[np.searchsorted(up_to, q * total / 100)]) for q in PERCENTILES},
            "max": int(values[-1]),
        }


def spread(values: NDArray[np.integer]) -> dict[str, JSON] | None:
    result = Spread()
    result.add(values)
    return result.summary()


def card(corpus: Path, queries: Path, judgements: Path, declared: Card) -> dict[str, JSON]:
    """The identity card of a collection, from the folders of its three finished parts. Lengths are in
    characters and, for languages that separate words by blanks, in words. Judgements of unknown queries are
    counted and left out. A positive is a passage with a grade of 1 or more."""
    read, query_table = Corpus(corpus), read_queries(queries)
    return {
        **_corpus(read, corpus, declared.language not in UNSPACED),
        **_queries(query_table, (declared.query_language or declared.language) not in UNSPACED),
        **_judgements(read, query_table, read_judgements(judgements)),
    }


def exported(folder: Path) -> dict[str, JSON]:
    """The card that `harness datasets export` wrote into `folder`. Empty if there is no `card.json`, or if
    another tool wrote it."""
    try:
        written = orjson.loads((folder / FILE).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return written if isinstance(written, dict) and written.get("form") == FORM else {}


def _corpus(read: Corpus, folder: Path, with_words: bool) -> dict[str, JSON]:
    characters, words, title_words = Spread(), Spread(), Spread()
    empty = 0
    for batch in record_batches.streamed(folder, PASSAGES):
        texts = batch.column("text")
        characters.add(pc.utf8_length(texts).to_numpy())
        empty += int(pc.sum(pc.equal(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0)).as_py() or 0)
        if with_words:
            words.add(_words(texts))
    titled = 0
    for batch in record_batches.streamed(folder, "documents"):
        titles = batch.column("title")
        titles = titles.filter(pc.greater(pc.binary_length(titles), 0))
        titled += len(titles)
        if with_words:
            title_words.add(_words(titles))
    return {
        "documents": read.documents,
        "titled_documents": titled,
        "passages": read.passages,
        "candidates": int(np.count_nonzero(read.candidate)),
        "empty_passages": empty,
        "passages_per_document": spread(np.diff(read.first)),
        "passage_characters": characters.summary(),
        "passage_words": words.summary(),
        "title_words": title_words.summary(),
    }


def _queries(queries: Queries, with_words: bool) -> dict[str, JSON]:
    texts = pa.array(queries.texts, pa.large_string())
    return {
        "queries": len(queries.ids),
        "query_characters": spread(pc.utf8_length(texts).to_numpy()),
        "query_words": spread(_words(texts)) if with_words else None,
    }


def _judgements(read: Corpus, queries: Queries, stored: Judgements) -> dict[str, JSON]:
    judgements = judging(read, queries, stored)
    judged = judgements.judged
    of_query = np.bincount(judged.query, minlength=len(queries.ids))
    positive = np.bincount(judged.query[judged.grade > 0], minlength=len(queries.ids))
    levels, counts = np.unique(judged.grade, return_counts=True)
    labels = Counter(label for labels in judged.labels or () for label in labels)
    return {
        "judgements": len(judged.query),
        "judged_passages": len(np.unique(judged.passage)),
        "levels": dict(zip(map(str, levels.tolist()), counts.tolist(), strict=True)),
        "labels": dict(sorted(labels.items())),
        "judgements_per_query": spread(of_query[of_query > 0]),
        "positives": int(positive.sum()),
        "positives_per_query": spread(positive[of_query > 0]),
        "queries_without_judgement": int((of_query == 0).sum()),
        "queries_without_positive": int(((of_query > 0) & (positive == 0)).sum()),
        "judgements_of_unknown_passages": judgements.of_missing,
        "judgements_of_unknown_queries": judgements.of_unknown_queries,
    }


def first_unknown(corpus: Path, judgements: Path) -> tuple[str, str] | None:
    """The query and the passage of the first judgement whose passage the corpus lacks, or None."""
    stored = read_judgements(judgements)
    lacking = Corpus(corpus).positions(stored.passage_ids) < 0
    rows = np.flatnonzero(lacking[stored.passage])
    if not len(rows):
        return None
    row = int(rows[0])
    return stored.query_ids[stored.query[row]], stored.passage_ids[stored.passage[row]]


def _words(texts: pa.Array) -> NDArray[Any]:
    """The number of words of each text, separated by white space: int32[n]."""
    counts: NDArray[Any] = pc.count_substring_regex(texts, r"\S+").to_numpy()
    return counts


class Check(NamedTuple):
    """A number that a source prints about a collection, beside the same number as counted here."""

    source: str
    name: str
    printed: int | float
    here: int | float | None  # None: the collection has no such number
    agrees: bool | None  # None: the source counts in another unit


def checks(facts: Mapping[str, JSON], officials: Iterable[Official]) -> list[Check]:
    """The comparisons of all official numbers with the facts. A printed number with decimals agrees if the
    number here, rounded to the same decimals, is equal."""
    made = []
    for source, counts, comparable in officials:
        for name, printed in counts.items():
            here = _look_up(facts, name)
            places = len(str(printed).partition(".")[2]) if isinstance(printed, float) else 0
            same = here is not None and round(here, places) == printed
            made.append(Check(source, name, printed, here, same if comparable else None))
    return made


def share(facts: Mapping[str, JSON], officials: Iterable[Official]) -> float | None:
    """The share of the official collection's passages that is here, by the first source that counts passages.
    If no source counts passages, the share of the documents; None if no source counts either."""
    for name in ("passages", "documents"):
        for official in officials:
            if official.counts.get(name):
                return float(facts[name] / official.counts[name])
    return None


def _look_up(facts: Mapping[str, JSON], name: str) -> int | float | None:
    value: Any = facts
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, int | float) else None
