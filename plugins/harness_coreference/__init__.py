"""Coreference as context: a mention is followed by its antecedent from an earlier passage."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.errors import HarnessError, NoLanguage
from harness.hookspecs import hookimpl
from harness.records import Context, param
from harness.types import Facts

LANGUAGES = {"rules": ("en", "zh"), "xrenner": ("en",)}
PIPELINE = "en_core_web_sm"
# The distributions that each resolver needs; their versions can change its results.
DISTRIBUTIONS: dict[str, tuple[str, ...]] = {"rules": (), "xrenner": ("xrenner", "spacy")}


@dataclass(frozen=True)
class CoreferenceParams:
    resolver: Literal["rules", "xrenner"] = param(
        "rules", "what finds the mentions: rules (embedded), or xrenner (rules over spaCy's parses)"
    )
    language: str = param("auto", "of the passages, as en or zh; auto goes by the dataset's language")
    same: Literal["annotate", "skip"] = param(
        "annotate",
        "a mention that says the same as its antecedent: annotate, as every other (DAPR), or skip",
    )
    window: int = param(2000, "words that xrenner reads at once; windows overlap", minimum=50)
    pipeline: Path | str | None = param(
        None, f"for xrenner, the package or folder of a spaCy pipeline; {PIPELINE} where nothing is said"
    )
    versions: str = param("auto", "of what the resolver runs on; auto states what is installed here")

    def __post_init__(self) -> None:
        if self.resolver != "xrenner" and self.pipeline is not None:
            raise ValueError(f"the resolver {self.resolver} reads no pipeline; leave `pipeline` out")


@dataclass(frozen=True)
class ClustersParams:
    path: Path = param(help="JSON lines: a document's id, its text as it was resolved, its clusters")
    missing: Literal["refuse", "skip"] = param(
        "refuse", "a document that the file does not have: refuse, or skip, which leaves it as it is"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "a document of the file that the corpus does not have: refuse, or skip, which reads past it"
    )
    differs: Literal["refuse", "skip"] = param(
        "refuse", "a document whose text is not the file's: refuse, or skip, which leaves it as it is"
    )
    same: Literal["annotate", "skip"] = param(
        "annotate",
        "a mention that says the same as its antecedent: annotate, as every other (DAPR), or skip",
    )


@dataclass(frozen=True)
class RewrittenParams:
    path: Path = param(
        help="the passages as they were rewritten, by id: JSON lines or Parquet, or their folder"
    )
    missing: Literal["refuse", "skip"] = param(
        "refuse", "a passage that the file does not have: refuse, or skip, which leaves it as it is"
    )
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "a passage of the file that the corpus does not have: refuse, or skip, which reads past it"
    )
    differs: Literal["replace", "refuse", "skip"] = param(
        "replace",
        "a rewritten passage that is not the passage with insertions: replace what differs, refuse, or skip",
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


def build(params: CoreferenceParams) -> Any:
    from harness_coreference.augment import coreference

    return coreference(params)


def build_clusters(params: ClustersParams) -> Any:
    from harness_coreference.clusters import Clusters

    return Clusters(params)


def build_rewritten(params: RewrittenParams) -> Any:
    from harness_coreference.rewritten import Rewritten

    return Rewritten(params)


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="coreference",
        summary="A mention is followed by its earliest antecedent in parentheses (DAPR 4.2.2)",
        build=build,
        params=CoreferenceParams,
        resolve=resolve,
        missing_files=missing_files,
    )
    yield Context(
        name="coreference-clusters",
        summary="The same with the clusters of a resolver that ran elsewhere, read from a file",
        build=build_clusters,
        params=ClustersParams,
    )
    yield Context(
        name="coreference-rewritten",
        summary="Passages that were rewritten elsewhere, such as DAPR's corpus_coref, read from files",
        build=build_rewritten,
        params=RewrittenParams,
    )
