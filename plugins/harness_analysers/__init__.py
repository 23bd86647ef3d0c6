"""Analysers: functions that turn a text into index terms, each in a small module, chosen by language."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from harness.hookspecs import hookimpl
from harness.records import Analyser

# The languages that have a Snowball stemmer and no analyser of their own in this package.
SNOWBALL = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "no",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip


def _english(params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import english

    return english.build(params)


def _cjk(params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import cjk

    return cjk.build(params)


def _jieba(params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import jieba_words

    return jieba_words.build(params)


def _simple(params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import simple

    return simple.build(params)


def _whitespace(params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import whitespace

    return whitespace.build(params)


def _snowball(algorithm: str, params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import snowball

    return snowball.build(algorithm, params)


@hookimpl
def harness_analysers() -> Iterable[Analyser]:
    yield Analyser(
        name="english",
        summary="English as Lucene's EnglishAnalyzer: possessives, 33 stopwords, Porter's stems",
        build=_english,
        languages=("en",),
        needs=("Stemmer",),
        libraries=("PyStemmer",),
    )
    yield Analyser(
        name="cjk",
        summary="Chinese, Japanese, Korean as Lucene's CJKAnalyzer: overlapping pairs of characters",
        build=_cjk,
        languages=("zh", "ja", "ko"),
    )
    yield Analyser(
        name="jieba",
        summary="Chinese words by jieba's dictionary",
        build=_jieba,
        needs=("jieba",),
        extra="jieba",
        libraries=("jieba",),
    )
    yield Analyser(
        name="simple", summary="words in lowercase, for languages without a stemmer", build=_simple
    )
    yield Analyser(name="whitespace", summary="text that is tokenised already, as it is", build=_whitespace)
    for algorithm, language in SNOWBALL.items():
        yield Analyser(
            name=algorithm,
            summary=f"words in lowercase with Snowball's {algorithm} stems",
            build=functools.partial(_snowball, algorithm),
            languages=(language,) if language != "no" else ("no", "nb", "nn"),
            needs=("Stemmer",),
            libraries=("PyStemmer",),
        )
