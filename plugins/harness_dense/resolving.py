"""Resolves every setting of a model for the step's key: from suite, registry or the model's folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.plugin import HarnessError, IndexBytes, Need, unknown
from harness.toolkit.neural import backends, known_encoders, model_folder, models, weight_files
from harness.toolkit.neural.encoder_folder import FolderSettings, read
from harness.toolkit.neural.known_encoders import Known
from harness.toolkit.neural.model_folder import EXPORTS
from harness.toolkit.neural.revisions import AUTO
from harness_dense import DenseParams

NUMBERS = {"fp32": 4, "fp16": 2, "int8": 1}  # bytes


def resolved(params: DenseParams) -> DenseParams:
    """`params` with every `auto` setting resolved. The suite comes first, then the registry, then the model's
    folder. A setting stays `auto` only if the model is missing and not in the registry."""
    known = _known(params)
    model, revision = _located(params.model, params.revision)
    query_name = params.query_model or (known.queries if known else None)
    if known and known.queries and isinstance(model, Path) and params.query_model is None:
        raise HarnessError(f"settings: {known.name} has two towers; name the queries' one as query_model")
    query_model, query_revision = (
        _located(query_name, params.query_revision) if query_name else (None, "main")
    )
    passages = _described(model, revision)
    queries = _described(query_model, query_revision) if query_model else passages
    if not params.trust_remote_code:
        _refuse_code([(model, passages), (query_model, queries)])
    of = passages or FolderSettings(static=known is not None and known.static)
    backend = backends.backend(params.backend, bool(of.exported), of.weights, of.static)
    if any(tower and tower.static != (backend == "numpy") for tower in (passages, queries)):
        raise HarnessError(f"backend: numpy runs static embeddings, and nothing else does; not {backend}")
    device = backends.device(params.device, backend)
    dtype = backends.dtype(params.dtype, device, backend)
    usual = "fp32" if dtype in ("fp32", "stored") else "fp16"
    settled: dict[str, Any] = {
        "model": model,
        "revision": revision,
        "settings": None,
        "query_model": query_model,
        "query_revision": query_revision,
        "backend": backend,
        "device": device,
        "dtype": dtype,
        "stored": usual if params.stored == "auto" else params.stored,
        "code_revision": _code_revision(params, passages, queries),
        **_settings(params, _of_authors(known), _of_folders(passages, queries)),
    }
    for name, described in (("passage_length", passages), ("query_length", queries)):
        if described and described.positions:
            model_folder.refuse_beyond(name, getattr(params, name), described.positions)
            settled[name] = min(settled[name], described.positions)
    return dataclasses.replace(params, **settled)


def missing_files(params: DenseParams) -> list[str | Need]:
    """The missing models that a run cannot download, and the missing libraries."""
    instead, towers = _instead(params), _towers(params)
    wanted: list[tuple[Path | str, str, Sequence[str]]] = [(*tower, instead) for tower in towers]
    if params.code_revision is not None:
        names = {name for tower in towers if (described := _described(*tower)) for name in described.code}
        wanted += [(name, params.code_revision, models.CODE) for name in sorted(names)]
    needs: list[str | Need] = [
        need
        for model, revision, patterns in wanted
        for need in models.missing_files(model, revision, patterns)
    ]
    needs += backends.absent("dense", f"with the backend {params.backend}", params.backend)
    if params.search != "exact":
        needs += backends.absent("dense", "with this search", "faiss")
    return needs


def index_bytes(params: DenseParams) -> IndexBytes | None:
    """A vector and a position for each text. The type is known after `resolved`."""
    described = _described(params.model, params.revision)
    if described is None or described.dimension is None:
        return None
    return IndexBytes(described.dimension * NUMBERS[params.stored] + 8)


def notes(params: DenseParams) -> list[str]:
    return [line for tower in _towers(params) for line in models.notes(*tower, _instead(params))]


def _instead(params: DenseParams) -> Sequence[str]:
    """The files that are read instead of the weights."""
    return EXPORTS if params.backend == "onnx" else ()


def _towers(params: DenseParams) -> list[tuple[Path | str, str]]:
    second = [] if params.query_model is None else [(params.query_model, params.query_revision)]
    return [(params.model, params.revision), *second]


def _code_revision(params: DenseParams, *towers: FolderSettings | None) -> str | None:
    """The commit of the code that the towers take from another model of the hub, if the suite trusts such
    code. If the towers take none, or the suite does not trust it, the result is `params.code_revision`."""
    names = sorted({name for described in towers if described for name in described.code})
    if len(names) > 1:
        raise HarnessError(
            f"model: it takes code from {' and '.join(names)}, of which one alone can be named; name a "
            "folder that has all of it"
        )
    if names and params.trust_remote_code:
        return models.located(names[0], params.code_revision or AUTO)[1]
    if params.code_revision is not None and all(towers):
        raise HarnessError(
            "code_revision: nothing is run that a model takes from another one of the hub; leave it out"
        )
    return params.code_revision


def _known(params: DenseParams) -> Known | None:
    if params.settings is None:
        return known_encoders.find(params.model)
    known = known_encoders.find(params.settings)
    if known is None:
        raise HarnessError(f"settings: {unknown('model', params.settings, known_encoders.names())}")
    return known


def _located(model: Path | str, revision: str) -> tuple[Path | str, str]:
    """The place and revision of the model with this short name, hub id or path."""
    known = known_encoders.find(model)
    name = known.passages if known else model
    if isinstance(name, str) and "/" not in name and not models.is_local(name):
        raise HarnessError(
            f"model: {unknown('model', name, known_encoders.names())} "
            "(a folder starts with '.', '/' or '~', a model of the hub is written org/name)"
        )
    return models.located(name, revision)


def _described(model: Path | str, revision: str) -> FolderSettings | None:
    """The settings in the model's folder, or in its small files on the hub. If a hub model is not downloaded
    yet, the hub's list of files decides which backend runs it."""
    at = models.described(model, revision)
    if at is None or not at.is_dir():
        return None
    described = read(at)
    names = () if described.weights else models.listed(model, revision)
    if not names:
        return described
    weights = weight_files.among(names, model_folder.network(at).relative_to(at).as_posix()) is not None
    return described._replace(exported=model_folder.exported_among(names), weights=weights)


def _of_authors(known: Known | None) -> dict[str, Any]:
    if known is None:
        return {}
    return {
        "pooling": known.pooling,
        "normalise": known.normalise,
        "similarity": known.similarity,
        "passage_prompt": known.passage_prompt,
        "passage_length": known.length,
        "titles": known.titles,
        "query_prompt": known.query_prompt,
        "query_length": known.query_length or known.length,
    }


def _of_folders(passages: FolderSettings | None, queries: FolderSettings | None) -> dict[str, Any]:
    """The settings that the towers' folders state, or the defaults: vectors are not normalised, they are
    compared by inner product, and texts have no prompt."""
    settings: dict[str, Any] = {}
    if passages:
        settings["pooling"] = passages.pooling
        settings["normalise"] = bool(passages.normalise)
        settings["similarity"] = passages.similarity or "dot"
        settings["passage_prompt"] = passages.passage_prompt or ""
        settings["passage_length"] = passages.length
        settings["titles"] = "none"
    if queries:
        settings["query_prompt"] = queries.query_prompt or ""
        settings["query_length"] = queries.length
    return settings


def _settings(params: DenseParams, authors: dict[str, Any], folders: dict[str, Any]) -> dict[str, Any]:
    """Each setting from the first of suite, registry and folder that has it. A setting is left out only if
    there is no folder to read it from."""
    chosen: dict[str, Any] = {}
    for name in folders.keys() | authors.keys():
        setting, known, from_folders = getattr(params, name), authors.get(name), folders.get(name)
        if setting not in (None, "auto"):
            chosen[name] = setting
        elif known is not None or from_folders is not None:
            chosen[name] = known if known is not None else from_folders
        elif name in folders:
            raise HarnessError(f"{name}: the model's folder does not say it; give it, or name `settings`")
    return chosen


def _refuse_code(towers: list[tuple[Path | str | None, FolderSettings | None]]) -> None:
    """Refuse a model that runs its own code, as its folder states."""
    for name, described in towers:
        if described is not None and described.own_code:
            raise HarnessError(
                f"model: {name} runs code of its own, which is refused; read that code, and if you trust it "
                "say trust_remote_code: true"
            )
