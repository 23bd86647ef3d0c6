"""Coreference as context: a mention is followed by what it refers to in an earlier passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from harness.errors import HarnessError
from harness.hookspecs import hookimpl
from harness.records import Context, param
from harness.types import Facts

LANGUAGES = {"rules": ("en", "zh"), "xrenner": ("en",), "fcoref": ("en",)}
PARTS = {  # the distributions whose versions decide what a resolver finds; the modules that it needs
    "rules": ((), ()),
    "xrenner": (("xrenner", "spacy"), ("xrenner", "spacy")),
    "fcoref": (("torch", "transformers"), ("torch", "transformers", "safetensors")),
}


@dataclass(frozen=True)
class CoreferenceParams:
    resolver: Literal["rules", "xrenner", "fcoref"] = param(
        "rules",
        "what finds the mentions: rules (embedded), xrenner (rules over spaCy's parses), fcoref (neural)",
    )
    language: str = param("auto", "of the passages, as en or zh; auto goes by the dataset's language")
    same: Literal["annotate", "skip"] = param(
        "annotate",
        "a mention that says the same as its antecedent: annotate, as every other (DAPR), or skip",
    )
    window: int = param(2000, "words that xrenner and fcoref read at once; windows overlap", minimum=50)
    model: Path | None = param(
        None, "the folder of fcoref's weights: config.json, model.safetensors, tokenizer"
    )
    versions: str = param("auto", "of what the resolver runs on; auto states what is installed here")

    def __post_init__(self) -> None:
        if self.resolver == "fcoref" and self.model is None:
            raise ValueError("the resolver fcoref needs weights; give the folder as `model: PATH`")
        if self.resolver != "fcoref" and self.model is not None:
            raise ValueError(f"the resolver {self.resolver} reads no model; leave `model` out")


@dataclass(frozen=True)
class ClustersParams:
    path: Path = param(help="JSON lines: a document's id, its text as it was resolved, its clusters")
    missing: Literal["refuse", "skip"] = param(
        "refuse", "a document that the file does not have: refuse, or skip, which leaves it as it is"
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
    differs: Literal["replace", "refuse", "skip"] = param(
        "replace",
        "a rewritten passage that is not the passage with insertions: replace what differs, refuse, or skip",
    )


def resolve(params: CoreferenceParams, facts: Facts) -> CoreferenceParams:
    """`language: auto` becomes the passages' language, `versions: auto` what is installed."""
    language = facts.language if params.language == "auto" else params.language
    known = LANGUAGES[params.resolver]
    if language is None:
        raise HarnessError("coreference: the dataset does not say its language; give it as `language: en`")
    code = language.lower().replace("_", "-").split("-")[0]
    if code not in known:
        raise HarnessError(
            f"coreference: the resolver {params.resolver} does not know the language '{language}'; "
            f"it knows {' and '.join(known)}. Read clusters from a file with coreference-clusters instead"
        )
    here = _installed(params.resolver)
    if params.versions not in ("auto", here):
        raise HarnessError(
            f"coreference: the suite wants the versions '{params.versions}', and here are '{here}'; "
            "install those, or leave `versions` out"
        )
    return replace(params, language=code, versions=here)


def _installed(resolver: str) -> str:
    import importlib.metadata

    found = []
    for name in PARTS[resolver][0]:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} absent")
    if resolver == "xrenner":
        from harness_coreference.pipeline import installed

        found.append(installed() or "en_core_web_sm absent")
    return ", ".join(found)


def lacks(params: CoreferenceParams) -> Sequence[str]:
    """What the resolver needs and is not here."""
    import importlib.util

    modules = [name for name in PARTS[params.resolver][1] if importlib.util.find_spec(name) is None]
    extra = "dense" if params.resolver == "fcoref" else "coref"
    found = [f"{' and '.join(modules)} (pip install 'passage-harness[{extra}]')"] if modules else []
    if params.resolver == "xrenner":
        from harness_coreference.pipeline import installed

        if installed() is None:
            found.append("spaCy's pipeline en_core_web_sm (python -m spacy download en_core_web_sm)")
    if params.model is not None:
        from harness_coreference.weights import absent

        found += absent(params.model)
    return found


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
        lacks=lacks,
    )
