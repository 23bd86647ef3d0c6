"""Analysers: functions that turn a text into index terms, each in a small module, chosen by language."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from harness.plugin import Analyser, hookimpl

# The analysers that do as Lucene's analyser of that language, and the module of each.
LUCENES = {
    "arabic": ("ar", "arabic"), "bengali": ("bn", "indic"), "french": ("fr", "savoy"),
    "german": ("de", "savoy"), "hindi": ("hi", "indic"), "indonesian": ("id", "indonesian"),
    "persian": ("fa", "arabic"), "spanish": ("es", "savoy"), "telugu": ("te", "indic"),
}  # fmt: skip
# The languages that have a Snowball stemmer and no analyser of their own in this package.
SNOWBALL = {
    "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl", "finnish": "fi",
    "greek": "el", "hungarian": "hu", "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne",
    "norwegian": "no", "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr",
    "swedish": "sv", "tamil": "ta", "turkish": "tr", "yiddish": "yi",
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
        languages=("zh", "ko"),
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
        name="japanese",
        summary="Japanese words by MeCab's IPA dictionary, much as Lucene's JapaneseAnalyzer",
        build="harness_analysers.japanese:build",
        languages=("ja",),
        needs=("fugashi", "ipadic"),
        extra="japanese",
        libraries=("fugashi", "ipadic"),
    )
    yield Analyser(
        name="thai",
        summary="Thai words by PyThaiNLP's dictionary, without Lucene's stopwords",
        build="harness_analysers.thai:build",
        languages=("th",),
        needs=("pythainlp",),
        extra="thai",
        libraries=("pythainlp",),
    )
    yield Analyser(
        name="simple",
        summary="words in lowercase, as Lucene's StandardAnalyzer, for languages without a stemmer",
        build="harness_analysers.simple:build",
        languages=("vi",),
    )
    yield Analyser(
        name="whitespace",
        summary="text that is tokenised already, as it is",
        build="harness_analysers.whitespace:build",
        languages=("sw", "yo"),  # as Anserini takes them
    )
    for name, (language, module) in LUCENES.items():
        yield Analyser(
            name=name,
            summary=f"{name.capitalize()} as Lucene's {name.capitalize()}Analyzer",
            build=f"harness_analysers.{module}:{name}",
            languages=(language,),
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
