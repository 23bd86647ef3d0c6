"""Coreference as context: a mention is followed by its antecedent from an earlier passage."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from harness.plugin import Context, Facts, HarnessError, NoLanguage, hookimpl, param

LANGUAGES = {"rules": ("en", "zh"), "xrenner": ("en",)}
PIPELINE = "en_core_web_sm"
# The distributions that each resolver needs; their versions can change its results.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {"rules": (), "xrenner": ("xrenner", "spacy")}


@dataclass(frozen=True)
class CoreferenceParams:
    resolver: Literal["rules", "xrenner"] = param(
        "rules", "the method that finds mentions: rules (built in), or xrenner (rules over spaCy's parses)"
    )
    language: str = param(
        "auto", "the language of the passages, such as en or zh; auto: the dataset's language"
    )
    same: Literal["annotate", "skip"] = param(
        "annotate",
        "whether a mention with the same words as its antecedent is annotated, as in DAPR, or skipped",
    )
    window: int = param(2000, "words that xrenner reads at once; windows overlap", minimum=50)
    pipeline: Path | str | None = param(
        None, f"for xrenner: the package or folder of the spaCy pipeline; null: {PIPELINE}"
    )
    versions: str = param("auto", "the versions of the resolver's libraries; auto: those that are installed")

    def __post_init__(self) -> None:
        if self.resolver != "xrenner" and self.pipeline is not None:
            raise ValueError(f"the resolver {self.resolver} reads no pipeline; leave `pipeline` out")


@dataclass(frozen=True)
class ClustersParams:
    path: Path = param(help="JSON lines with a document's id, its text as it was resolved, and its clusters")
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if the file lacks a document: refuse, or skip (the document stays as it is)"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "if the corpus lacks a document of the file: refuse, or skip (it is ignored)"
    )
    differs: Literal["refuse", "skip"] = param(
        "refuse", "if a document has another text in the file: refuse, or skip (the document stays as it is)"
    )
    same: Literal["annotate", "skip"] = param(
        "annotate",
        "whether a mention with the same words as its antecedent is annotated, as in DAPR, or skipped",
    )


@dataclass(frozen=True)
class RewrittenParams:
    path: Path = param(
        help="the rewritten passages with their ids: a file of JSON lines or Parquet, or a folder of "
        "such files"
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "if the file lacks a passage: refuse, or skip (the passage stays as it is)"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "if the corpus lacks a passage of the file: refuse, or skip (it is ignored)"
    )
    differs: Literal["replace", "refuse", "skip"] = param(
        "replace",
        "if a rewritten passage has other changes than insertions: replace what differs, refuse, or skip",
    )


def resolve(params: CoreferenceParams, facts: Facts) -> CoreferenceParams:
    """The parameters with `language: auto` replaced by the passages' language, and `versions: auto` by the
    installed versions. Raises HarnessError for an unknown language and for other versions than those
    installed."""
    language = facts.language if params.language == "auto" else params.language
    known = LANGUAGES[params.resolver]
    if language is None:
        raise NoLanguage("coreference: the dataset does not say its language; give it as `language: en`")
    code = language.lower().replace("_", "-").split("-")[0]
    if code not in known:
        raise HarnessError(
            f"coreference: the resolver {params.resolver} does not know the language '{language}'; "
            f"it knows {' and '.join(known)}. Read clusters from a file with coreference-clusters instead"
        )
    here = ", ".join(f"{name} {_version(name) or 'absent'}" for name in _distributions(params))
    if params.versions not in ("auto", here):
        raise HarnessError(
            f"coreference: the suite wants the versions '{params.versions}', and here are '{here}'; "
            "install those, or leave `versions` out"
        )
    return replace(params, language=code, versions=here)


def _distributions(params: CoreferenceParams) -> list[str]:
    """The distributions whose versions can change the resolver's results. A pipeline in a folder is not among
    them, because the step's key covers its files."""
    pipeline = params.resolver == "xrenner" and not isinstance(params.pipeline, Path)
    return [*DISTRIBUTIONS[params.resolver], *([str(params.pipeline or PIPELINE)] if pipeline else [])]


def _version(distribution: str) -> str | None:
    import importlib.metadata  # slow to import, and `harness list` never asks

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def missing_files(params: CoreferenceParams) -> Sequence[str]:
    """The files and models of the resolver that are missing."""
    absent = [name for name in DISTRIBUTIONS[params.resolver] if importlib.util.find_spec(name) is None]
    needs = [f"{name} (pip install 'passage-harness[coref]')" for name in absent]
    if params.resolver == "xrenner":
        if isinstance(params.pipeline, Path):
            needs += [] if params.pipeline.is_dir() else [f"the spaCy pipeline in {params.pipeline}"]
        elif _version(params.pipeline or PIPELINE) is None:
            name = params.pipeline or PIPELINE
            needs.append(f"the spaCy pipeline {name} (python -m spacy download {name})")
    return needs


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="coreference",
        summary="Adds the name that a mention refers to after the mention, in parentheses (DAPR 4.2.2)",
        build="harness_coreference.augment:coreference",
        params=CoreferenceParams,
        resolve=resolve,
        missing_files=missing_files,
    )
    yield Context(
        name="coreference-clusters",
        summary="Coreference as context, with clusters from a file that another resolver wrote",
        build="harness_coreference.clusters:Clusters",
        params=ClustersParams,
    )
    yield Context(
        name="coreference-rewritten",
        summary="Passages that were rewritten elsewhere, such as DAPR's corpus_coref, read from files",
        build="harness_coreference.rewritten:Rewritten",
        params=RewrittenParams,
    )
