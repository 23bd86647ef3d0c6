"""A document's keyphrases as context for its passages, by TopicRank or from a file."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Context, Facts, HarnessError, NoLanguage, hookimpl, param

PIPELINE = "en_core_web_sm"  # the pipeline that pke loads for English
OF_LANGUAGE: dict[str, Literal["embedded", "jieba"]] = {"en": "embedded", "zh": "jieba"}


@dataclass(frozen=True)
class Keyphrases:
    top: int = param(10, "how many keyphrases a document gets", minimum=1)
    characters: int = param(65_536, "how many characters of a document are read, from its start", minimum=1)
    tagger: Literal["auto", "embedded", "spacy", "jieba"] = param(
        "auto", "the tagger that finds nouns and adjectives; auto: embedded for English, jieba for Chinese"
    )
    pipeline: Path | str | None = param(
        None, f"for the tagger spacy: the package or folder of the pipeline; null: {PIPELINE}"
    )
    form: Literal["paper", "pke"] = param(
        "paper", "TopicRank by its paper's equations, or exactly as the tool pke, with spaCy's tagger (DAPR)"
    )

    def __post_init__(self) -> None:
        if self.form == "pke" and self.tagger not in ("auto", "spacy"):
            raise ValueError(f"form: pke takes the tagger spacy, not {self.tagger}; leave the tagger out")
        if self.pipeline is not None and self.tagger != "spacy" and self.form != "pke":
            raise ValueError("pipeline goes with tagger: spacy; add that, or leave the pipeline out")


@dataclass(frozen=True)
class FromFile:
    file: Path = param(
        help="the keyphrases of each document: .jsonl or .tsv, plain, .gz or .zst; or .parquet"
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if the file lacks a document: refuse, or skip (nothing is added to the document)"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "if the collection lacks a document of the file: refuse, or skip (it is ignored)"
    )


def resolve(params: Keyphrases, facts: Facts) -> Keyphrases:
    """`params` with the tagger that fits the dataset's language, and with the version of the pipeline's
    package."""
    if params.form == "pke":
        if _code(facts.language or "en") != "en":
            raise HarnessError(f"keyphrases: form: pke is for English, not '{facts.language}'; leave it out")
        params = dataclasses.replace(params, tagger="spacy")
    elif params.tagger == "auto":
        return dataclasses.replace(params, tagger=_tagger(facts.language))
    if params.tagger == "spacy" and not isinstance(params.pipeline, Path):
        return dataclasses.replace(params, pipeline=_versioned(params.pipeline or PIPELINE))
    return params


def _tagger(language: str | None) -> Literal["embedded", "jieba"]:
    advice = "say `tagger: embedded` or `tagger: spacy` for English, `tagger: jieba` for Chinese"
    if language is None:
        raise NoLanguage(f"keyphrases: the dataset does not say its language; {advice}")
    code = _code(language)
    if code not in OF_LANGUAGE:
        raise HarnessError(
            f"keyphrases: there is no tagger for the language '{language}'; leave keyphrases out, or compute "
            f"them elsewhere and use keyphrases-from-file"
        )
    return OF_LANGUAGE[code]


def _code(language: str) -> str:
    return language.lower().replace("_", "-").split("-")[0]


def _versioned(pipeline: str) -> str:
    """The pipeline as `package==version`, so that another version makes another step. The name is returned
    unchanged if the package is missing."""
    version = _installed(pipeline)
    return pipeline if "==" in pipeline or version is None else f"{pipeline}=={version}"


def _installed(package: str) -> str | None:
    import importlib.metadata  # slow to import, and `harness list` does not need it

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def missing_files(params: Keyphrases) -> list[str]:
    """The tagger's library or pipeline, if it is missing."""
    library = params.tagger if params.tagger in ("spacy", "jieba") else None
    missing: list[str] = []
    if library and importlib.util.find_spec(library) is None:
        extra = "keyphrases" if library == "spacy" else "jieba"
        missing.append(f"{library} (not here: `pip install 'passage-harness[{extra}]'`)")
    if library == "spacy" and isinstance(params.pipeline, Path):
        if not params.pipeline.is_dir():
            missing.append(f"the spaCy pipeline {params.pipeline} (there is no such folder)")
    elif library == "spacy":
        name, _, version = str(params.pipeline or PIPELINE).partition("==")
        here = _installed(name)
        if here is None or version not in ("", here):
            how = f"`python -m spacy download {name}{f'-{version} --direct' if version else ''}`"
            missing.append(f"the spaCy pipeline {params.pipeline or name} (not here: {how})")
    return missing


def libraries_by_param(params: Keyphrases) -> dict[str, tuple[str, ...]]:
    """The tagger's library, because another version may tag differently, and the library that clusters."""
    return {
        "tagger": (params.tagger,) if params.tagger in ("spacy", "jieba") else (),
        "form": ("scipy",) if params.form == "pke" else (),
    }


def build(params: Keyphrases) -> Any:
    absent = missing_files(params)
    if absent:
        raise HarnessError(f"keyphrases: it needs {absent[0]}")
    from harness_keyphrases.augmenter import Augmenter

    return Augmenter(params)


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="keyphrases",
        paper="https://aclanthology.org/I13-1062/",
        summary="A document's ten keyphrases by TopicRank, before each passage (DAPR 4.2.2)",
        build=build,
        params=Keyphrases,
        needs=("numba", "Stemmer"),
        libraries=("PyStemmer", "numba"),
        libraries_by_param=libraries_by_param,
        resolve=resolve,
        missing_files=missing_files,
    )
    yield Context(
        name="keyphrases-from-file",
        summary="Puts a document's keyphrases from a file before each passage",
        build="harness_keyphrases.precomputed:Precomputed",
        params=FromFile,
    )
