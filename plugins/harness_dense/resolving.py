"""Resolves every setting of a model for the step's key: from suite, registry or the model's folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from harness.plugin import HarnessError, IndexBytes, Need, Unit, unknown
from harness.toolkit.neural import backends, known_encoders, model_folder, models, weight_files
from harness.toolkit.neural.encoder_folder import FolderSettings, read
from harness.toolkit.neural.known_encoders import Known
from harness.toolkit.neural.model_folder import EXPORTS
from harness.toolkit.neural.revisions import AUTO
from harness_dense import DenseParams, Late

NUMBERS = {"fp32": 4, "fp16": 2, "int8": 1, "binary": 1 / 8}  # bytes
POSITION, SCALE = 8, 4  # bytes of a text's place in the corpus, and of the scale of a vector in int8


def resolved(params: DenseParams, unit: Unit = "passage") -> DenseParams:
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
    usual = _usual(dtype)
    full = passages.dimension if passages else None
    if full is not None and params.dimensions is not None and params.dimensions > full:
        raise HarnessError(f"dimensions: the model's vectors have {full} numbers; give no more")
    stored, of_binary = params.stored, params.stored == "binary"
    if of_binary and params.search != "exact":
        raise HarnessError("search: binary vectors are searched exactly; leave it out, or store int8")
    settled: dict[str, Any] = {
        "model": model,
        "revision": revision,
        "settings": None,
        "query_model": query_model,
        "query_revision": query_revision,
        "backend": backend,
        "device": device,
        "dtype": dtype,
        "dimensions": None if params.dimensions == full else params.dimensions,
        "stored": usual if stored == "auto" else stored,
        "rescore": params.rescore if of_binary else 0,
        "rescore_by": params.rescore_by if of_binary and params.rescore else "binary",
        "code_revision": _code_revision(params, passages, queries),
        **_settings(params, _of_authors(known), _of_folders(passages, queries)),
    }
    for name, described in (("passage_length", passages), ("query_length", queries)):
        if described and described.positions:
            model_folder.refuse_beyond(name, getattr(params, name), described.positions)
            settled[name] = min(settled[name], described.positions)
    plain = settled["dimensions"] is None and settled["stored"] in (usual, "fp32")
    settled["keep_full"] = params.keep_full or plain
    if params.late is not None:
        if backend == "numpy":
            raise HarnessError("late: static embeddings read every token alone; leave it out")
        settled |= _late(params, params.late, settled, passages, unit)
    return dataclasses.replace(params, **settled)


def _late(
    params: DenseParams, late: Late, settled: dict[str, Any], passages: FolderSettings | None, unit: Unit
) -> dict[str, Any]:
    """The settings of late chunking. Its window takes the place of the passages' length."""
    if unit == "document":
        raise HarnessError("late: it ranks passages, by what it reads of documents; leave out unit: document")
    if settled.get("titles", params.titles) not in ("auto", "none"):
        raise HarnessError(
            "late: titles are read once before the document, by context: [titles]; say titles: none"
        )
    places = passages.positions if passages else None
    window, overlap, length = late.window, late.overlap, params.passage_length
    model_folder.refuse_beyond("late.window", window, places)
    if window == "auto":
        window = settled.get("passage_length", params.passage_length)
    elif length not in ("auto", window):
        raise HarnessError(
            f"passage_length: with late, the window of {window} tokens says how much is read; leave it out"
        )
    if overlap == "auto" and isinstance(window, int):
        overlap = min(512, window // 4)
    if isinstance(window, int) and isinstance(overlap, int) and overlap >= window:
        raise HarnessError(f"late.overlap: {overlap} tokens do not fit in a window of {window}; give fewer")
    return {"late": Late(window, overlap), "passage_length": window}


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
    dimension = params.dimensions or (described and described.dimension)
    return None if dimension is None else IndexBytes(bytes_of(params, dimension))


def bytes_of(params: DenseParams, dimension: int) -> float:
    """What a text takes in an index of vectors of `dimension` numbers."""
    copied = params.stored == "binary" and params.rescore_by != "binary"
    stored = [params.stored, *([params.rescore_by] if copied else [])]
    return sum(NUMBERS[kind] * dimension + (SCALE if kind == "int8" else 0) + POSITION for kind in stored)


def derived_from(params: DenseParams) -> DenseParams | None:
    """The parameters of the full vectors in the type in which they are computed; None if `params` are
    these, or keep none of them."""
    full = _usual(params.dtype)
    same = params.dimensions is None and params.stored in (full, "fp32", "auto")
    if same or not params.keep_full:
        return None
    return dataclasses.replace(params, dimensions=None, stored=full, rescore=0, rescore_by="binary")


def _usual(dtype: str) -> Literal["fp32", "fp16"]:
    return "fp32" if dtype in ("fp32", "stored") else "fp16"


def notes(params: DenseParams) -> list[str]:
    lines = [line for tower in _towers(params) for line in models.notes(*tower, _instead(params))]
    if params.late is not None and params.pooling not in ("auto", "mean"):
        lines.append(f"late: passages are pooled by mean, but queries by {params.pooling}")
    return lines


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
