"""Resolves the settings of a learned sparse model before it is loaded, from its name or its folder's JSON."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

from harness.plugin import HarnessError
from harness.toolkit.neural import hardware, model_folder, models
from harness_splade import SpladeParams, registry

ACTIVATIONS = {"relu": "log", "log1p_relu": "log-log"}  # sentence-transformers' names -> ours
IDF = "idf.json"  # the weight of each token in a query, {token: idf}, as in OpenSearch's models


class FolderSettings(NamedTuple):
    """The settings in a model's folder. None stands for a setting that the folder does not state."""

    pooling: str | None = None
    activation: str | None = None
    length: int | None = None
    places: int | None = None  # tokens that the network has places for
    query: str | None = None


def resolved(params: SpladeParams) -> SpladeParams:
    """`params` with the `auto` settings that the registry or a folder states. Called while planning."""
    known = registry.find(params.model)
    model, revision = models.located(known.passages if known else params.model, params.revision)
    encoder = params.query_model or (known.queries if known else None)
    query_model, query_revision = (
        models.located(encoder, params.query_revision) if encoder else (None, "main")
    )
    described = _folder_settings(model, revision)
    asking = _folder_settings(query_model, query_revision) if query_model else described
    query = _first(params.query, known and known.query, described.query, "model")
    if query != "model" and query_model is not None:
        raise HarnessError(f"query: '{query}' uses no model; leave out query_model, or say query: model")
    query_places = asking.places if query == "model" else None
    model_folder.refuse_beyond("passage_length", params.passage_length, described.places)
    model_folder.refuse_beyond("query_length", params.query_length, query_places)
    length = _first(params.passage_length, known and known.length, described.length, "auto")
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return dataclasses.replace(
        params,
        model=model,
        revision=revision,
        query=query,
        query_model=query_model,
        query_revision=query_revision,
        pooling=_first(params.pooling, described.pooling, "max"),
        activation=_first(params.activation, known and known.activation, described.activation, "log"),
        passage_length=_within(length, described.places),
        query_length=_within(_first(params.query_length, known and known.query_length, length), query_places),
        device=device,
        dtype=dtype,
    )


def _first(value: Any, *others: Any) -> Any:
    return value if value != "auto" else next(other for other in others if other is not None)


def _within(length: Any, places: int | None) -> Any:
    """The length (or `auto`), at most the number of positions of the network."""
    return min(length, places) if isinstance(length, int) and places is not None else length


def absent(params: SpladeParams) -> list[str]:
    """The models whose files are missing for a run."""
    lacking = models.missing_files(params.model, params.revision)
    if params.query_model is not None:
        lacking += models.missing_files(params.query_model, params.query_revision)
    return lacking


def notes(params: SpladeParams) -> list[str]:
    lines = models.notes(params.model, params.revision)
    if params.query_model is not None:
        lines += models.notes(params.query_model, params.query_revision)
    return lines


def length_of(name: str, wanted: int | str, folder: Path, encoded: bool = True) -> int:
    """The number of tokens to which texts are cut. With `wanted` "auto" it is read from the folder: the model
    was not available when the run was planned, so planning could not resolve it. If no network encodes the
    texts (`encoded` is false), the length may exceed the network's positions."""
    described = read(folder)
    if encoded:
        model_folder.refuse_beyond(name, wanted, described.places)
    length = described.length if wanted == "auto" else int(wanted)
    if length is None:
        raise HarnessError(f"model: {folder} does not say how long a text may be; give {name}")
    return length


def _folder_settings(model: Path | str, revision: str) -> FolderSettings:
    """The settings in the model's folder, or empty settings if the folder is not here."""
    if isinstance(model, Path):
        return read(model) if model.is_dir() else FolderSettings()
    folder = None if models.is_local(model) else models.cached(model, revision)
    return FolderSettings() if folder is None else read(folder)


def read(folder: Path) -> FolderSettings:
    places = model_folder.places(folder)
    text = model_folder.read(folder / "sentence_bert_config.json") or {}
    # sentence-transformers names a module by number and type, perhaps after its side, such as
    # document_1_SpladePooling
    pooling = next(map(model_folder.read, sorted(folder.glob("*SpladePooling/config.json"))), None) or {}
    return FolderSettings(
        pooling.get("pooling_strategy"),
        ACTIVATIONS.get(pooling.get("activation_function", "")),
        text.get("max_seq_length") or model_folder.length(folder, places),
        places,
        "idf" if (folder / IDF).is_file() else None,
    )
