"""Analysers: functions that turn a text into index terms, each in a small module, chosen by language."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from harness.plugin import Analyser, hookimpl

# The languages that have a Snowball stemmer and no analyser of their own in this package.
SNOWBALL = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "no",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip


def _snowball(algorithm: str, params: Any) -> Callable[[str], list[str]]:
    from harness_analysers import snowball

    return snowball.build(algorithm, params)


@hookimpl
def harness_analysers() -> Iterable[Analyser]:
    yield Analyser(
        name="english",
        summary="English as Lucene's EnglishAnalyzer: possessives, 33 stopwords, Porter's stems",
        build="harness_analysers.english:build",
        languages=("en",),
        needs=("Stemmer",),
        libraries=("PyStemmer",),
    )
    yield Analyser(
        name="cjk",
        summary="Chinese, Japanese, Korean as Lucene's CJKAnalyzer: overlapping pairs of characters",
        build="harness_analysers.cjk:build",
        languages=("zh", "ja", "ko"),
    )
    yield Analyser(
        name="jieba",
        summary="Chinese words by jieba's dictionary",
        build="harness_analysers.jieba_words:build",
        needs=("jieba",),
        extra="jieba",
        libraries=("jieba",),
    )
    yield Analyser(
        name="simple",
        summary="words in lowercase, for languages without a stemmer",
        build="harness_analysers.simple:build",
    )
    yield Analyser(
        name="whitespace",
        summary="text that is tokenised already, as it is",
        build="harness_analysers.whitespace:build",
    )
    for algorithm, language in SNOWBALL.items():
        yield Analyser(
            name=algorithm,
            summary=f"words in lowercase with Snowball's {algorithm} stems",
            build=functools.partial(_snowball, algorithm),
            languages=(language,) if language != "no" else ("no", "nb", "nn"),
            needs=("Stemmer",),
            libraries=("PyStemmer",),
        )
