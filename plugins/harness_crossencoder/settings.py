"""Resolves every setting of the models for the step's key, from suite, registry or the models' folders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.plugin import HarnessError, Need, unknown
from harness.toolkit.neural import backends, model_folder, models, weight_files
from harness.toolkit.neural.revisions import AUTO
from harness_crossencoder import CrossEncoderParams, registry
from harness_crossencoder.registry import Known

WEB_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"
AUTO_CLASSES = ("AutoModelForSequenceClassification", "AutoModelForSeq2SeqLM", "AutoModelForCausalLM")


class FolderSettings(NamedTuple):
    """The settings that a model's folder states."""

    kind: str
    length: int | None  # the most tokens of a pair, by tokenizer and network
    positions: int | None  # the most tokens that the network has places for
    own_code: bool
    exported: bool  # whether the folder has an ONNX file
    weights: bool  # whether the folder has weights that torch reads


class Member(NamedTuple):
    """One of the averaged models, or the only model."""

    model: Path | str
    revision: str
    known: Known | None
    settings: FolderSettings | None  # None if the folder is missing


def resolved(params: CrossEncoderParams) -> CrossEncoderParams:
    """The parameters with all `auto` settings resolved. The suite comes first, then the registry, then the
    model's folder. A setting stays `auto` only if a model is missing and not in the registry."""
    members = [_member(model, revision) for model, revision in named(params)]
    if not params.trust_remote_code:
        _refuse_code(members)
    backend = _common(
        "backend",
        params.backend,
        [
            (m, m.settings and backends.backend("auto", m.settings.exported, m.settings.weights))
            for m in members
        ],
        "torch",
    )
    kind = _common(
        "kind",
        params.kind,
        [(m, m.known.kind if m.known else m.settings and m.settings.kind) for m in members],
    )
    if kind in ("monot5", "yes-no", "mxbai-v2") and backend == "onnx":
        raise HarnessError(f"backend: {kind} runs by torch alone; name a folder with weights")
    device = backends.device(params.device, backend)
    settled: dict[str, Any] = {
        "backend": backend,
        "kind": kind,
        "device": device,
        "dtype": backends.dtype(params.dtype, device, backend),
        "length": _length(params, members),
    }
    if params.instruction == "auto" and kind != "auto":
        settled["instruction"] = "" if kind == "mxbai-v2" else WEB_SEARCH
    if params.model is not None:
        settled |= {"model": members[0].model, "revision": members[0].revision}
    else:
        settled |= {
            "revision": "main",
            "models": tuple(member.model for member in members),
            "revisions": tuple(member.revision for member in members),
        }
    return dataclasses.replace(params, **settled)


def missing_files(params: CrossEncoderParams) -> list[str | Need]:
    """The missing models that a run cannot download, and the missing libraries."""
    weights = [
        need
        for model, revision in named(params)
        for need in models.missing_files(model, revision, instead_of(params))
    ]
    return weights + backends.absent("crossencoder", f"with the backend {params.backend}", params.backend)


def notes(params: CrossEncoderParams) -> list[str]:
    return [line for member in named(params) for line in models.notes(*member, instead_of(params))]


def instead_of(params: CrossEncoderParams) -> Sequence[str]:
    """The patterns of the names of the files that are read instead of the weights."""
    return model_folder.EXPORTS if params.backend == "onnx" else ()


def named(params: CrossEncoderParams) -> list[tuple[Path | str, str]]:
    """Every model with its revision."""
    if params.model is not None:
        return [(params.model, params.revision)]
    revisions = params.revisions or (AUTO,) * len(params.models)
    return list(zip(params.models, revisions, strict=True))


def _member(model: Path | str, revision: str) -> Member:
    known = registry.find(model)
    name = known.model if known else model
    if isinstance(name, str) and "/" not in name and not models.is_local(name):
        raise HarnessError(
            f"model: {unknown('model', name, registry.names())} "
            "(a folder starts with '.', '/' or '~', a model of the hub is written org/name)"
        )
    at, commit = models.located(name, revision)
    folder = models.described(at, commit)
    if folder is None or not folder.is_dir():
        return Member(at, commit, known, None)
    described = read(folder)
    if not described.weights and (names := models.listed(at, commit)):  # the weights may be on the hub only
        weights = weight_files.among(names) is not None
        described = described._replace(exported=bool(model_folder.exported_among(names)), weights=weights)
    return Member(at, commit, known, described)


def read(folder: Path) -> FolderSettings:
    config = model_folder.read(folder / "config.json") or {}
    positions = model_folder.positions(config)
    return FolderSettings(
        kind=_kind(config),
        length=model_folder.length(folder, positions),
        positions=positions,
        own_code=any(model_folder.own_code(config, kind) for kind in AUTO_CLASSES),
        exported=bool(model_folder.exported(folder)),
        weights=weight_files.first({path.name for path in folder.glob("*")}) is not None,
    )


def _kind(config: dict[str, Any]) -> str:
    if config.get("model_type") in ("t5", "mt5"):
        return "monot5"
    architectures = config.get("architectures") or ()
    return "yes-no" if any(str(name).endswith("ForCausalLM") for name in architectures) else "classifier"


def _refuse_code(members: Iterable[Member]) -> None:
    for member in members:
        if member.settings and member.settings.own_code:
            raise HarnessError(
                f"model: {member.model} runs code of its own, which is refused; read that code, and if you "
                "trust it say trust_remote_code: true"
            )


def _common(
    name: str, setting: str, pairs: Iterable[tuple[Member, str | None]], otherwise: str = "auto"
) -> str:
    """The value that was asked for, or else the one on which all models that state a value agree."""
    values = {value: member for member, value in pairs if value is not None}
    if setting != "auto" or not values:
        return setting if setting != "auto" else otherwise
    if len(values) > 1:
        both = " and ".join(f"{value} for {member.model}" for value, member in values.items())
        raise HarnessError(f"{name}: models that are averaged must have one, here it is {both}; choose one")
    return next(iter(values))


def _length(params: CrossEncoderParams, members: Sequence[Member]) -> int | str:
    """The length that was asked for, or else the greatest length that all models support."""
    for member in members:
        places = member.settings and member.settings.positions
        if params.length != "auto" and places and params.length > places:
            raise HarnessError(
                f"length: {params.length} tokens, and {member.model} has places for {places}; give fewer"
            )
    if params.length != "auto":
        return params.length
    taken = [_taken(member) for member in members]
    return "auto" if None in taken else min(length for length in taken if length is not None)


def _taken(member: Member) -> int | None:
    """How many tokens of a pair the model reads; None if neither its folder nor the registry says it."""
    if member.settings is None:
        return member.known.length if member.known else None
    if member.known:
        return min(member.known.length, member.settings.positions or member.known.length)
    if member.settings.length is None:
        raise HarnessError(f"length: {member.model} does not say how many tokens it takes; give it")
    return member.settings.length
