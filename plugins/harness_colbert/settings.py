"""The settings of a ColBERT checkpoint: from the suite, else the registry, else artifact.metadata."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.plugin import HarnessError, IndexBytes
from harness.toolkit.neural import bge_m3, hardware, model_folder, models
from harness_colbert import ColbertParams, pylate, registry
from harness_colbert.codec import BITS, residual_bytes

METADATA = "artifact.metadata"


class FolderSettings(NamedTuple):
    """The keys of artifact.metadata that change a score, with the defaults of ColBERT's own code."""

    query_maxlen: int = 32
    doc_maxlen: int = 220
    dim: int = 128
    mask_punctuation: bool = True
    attend_to_mask_tokens: bool = False
    query_token_id: str = "[unused0]"
    doc_token_id: str = "[unused1]"
    similarity: str = "cosine"
    interaction: str = "colbert"
    m3: bool = False  # BGE-M3: no artifact.metadata, no markers, no [MASK]
    pylate: bool = False  # saved by PyLate: no artifact.metadata
    skipped: tuple[str, ...] = ()  # PyLate's words without a vector in passages
    expand: bool = True  # whether a query is filled with [MASK]


METADATA_KEYS = FolderSettings._fields[: FolderSettings._fields.index("m3")]


def resolved(params: ColbertParams) -> ColbertParams:
    """The parameters with the settings that the registry or an available folder states. Called while
    planning."""
    search: Any = getattr(params, "search", "exact")
    if params.stored == "none" and search != "exact":
        raise HarnessError(
            "stored: an inverted file needs the passages' vectors; store them, or leave out search"
        )
    if params.stored in BITS and search != "exact" and search.ivf.centroids:
        raise HarnessError(
            f"search.ivf.centroids: vectors of {params.stored} have centroids of their own; leave it out"
        )
    known = registry.find(params.model)
    model, revision = models.located(known.passages if known else params.model, params.revision)
    here = _here(model, revision)
    settings_file, places = (read(here), model_folder.places(here)) if here else (None, None)
    for name in ("query_length", "passage_length"):
        model_folder.refuse_beyond(name, getattr(params, name), places)
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return dataclasses.replace(
        params,
        model=model,
        revision=revision,
        query_length=_first(
            params.query_length, known and known.query_length, settings_file and settings_file.query_maxlen
        ),
        passage_length=_first(
            params.passage_length, known and known.length, settings_file and settings_file.doc_maxlen
        ),
        device=device,
        dtype=dtype,
    )


def index_bytes(params: ColbertParams) -> IndexBytes | None:
    """At most a vector for each token, divided by `pool`, with two more for the first token and the rounding,
    and two numbers for each text; nothing if none are stored. A checkpoint that is not here has the dimension
    that ColBERT's code gives it, or BGE-M3's."""
    if params.stored == "none":
        return IndexBytes(0)
    here = _here(params.model, params.revision)
    usual = bge_m3.DIMENSION if params.model == registry.BGE_M3 else FolderSettings().dim
    dimension = usual if here is None else read(here).dim
    most = None if params.passage_length == "auto" else params.passage_length
    if params.stored in BITS:  # the number of the centroid has 3 bytes at most; centroids are not counted
        row = 3 + residual_bytes(dimension, BITS[params.stored])
    else:
        row = dimension * {"fp16": 2, "fp32": 4}[params.stored]
    return IndexBytes(16 + (2 * row if params.pool > 1 else 0), row / params.pool, most)


def _first(value: Any, *others: int | None) -> Any:
    if value != "auto":
        return value
    return next((other for other in others if other is not None), "auto")


def _here(model: Path | str, revision: str) -> Path | None:
    """The model's folder, if it is available. The cache may hold a model's small files alone."""
    if isinstance(model, Path):
        return model if model.is_dir() else None
    folder = None if models.is_local(model) else models.cached(model, revision)
    described = folder and (
        (folder / METADATA).exists() or bge_m3.has(folder, "colbert_linear") or pylate.has(folder)
    )
    return folder if described else None


def read(folder: Path) -> FolderSettings:
    path = folder / METADATA
    if pylate.has(folder):
        return FolderSettings(**pylate.read(folder))
    if not path.exists() and bge_m3.has(folder, "colbert_linear"):
        places = model_folder.places(folder) or bge_m3.PASSAGE_LENGTH
        return FolderSettings(
            query_maxlen=min(bge_m3.QUERY_LENGTH, places),
            doc_maxlen=min(bge_m3.PASSAGE_LENGTH, places),
            m3=True,
        )
    try:
        given_settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise HarnessError(
            f"model: {folder} has no {METADATA}, which says how a ColBERT marks its texts; name a checkpoint "
            "of ColBERT, or a model of PyLate"
        ) from None
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch the model again") from error
    given_settings = given_settings.get("config", given_settings)  # older versions nest it
    names = [name for name in METADATA_KEYS if given_settings.get(name) is not None]
    values = {name: given_settings[name] for name in names}
    usual = FolderSettings()._asdict()
    wrong = [name for name, value in values.items() if type(value) is not type(usual[name])]
    if wrong:
        raise HarnessError(f"model: {path}: '{wrong[0]}' is {values[wrong[0]]!r}; fetch the model again")
    settings = FolderSettings(**values)
    if (settings.similarity, settings.interaction) != ("cosine", "colbert"):
        raise HarnessError(
            f"model: {path} compares by {settings.similarity} and '{settings.interaction}'; "
            "choose a model that compares by cosine and 'colbert'"
        )
    return settings
