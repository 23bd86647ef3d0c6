"""What is known of a learned sparse model before it is loaded: by its name, or from its folder's JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.toolkit import hardware, models
from harness_splade import SpladeParams, registry

ACTIVATIONS = {"relu": "log", "log1p_relu": "log-log"}  # sentence-transformers' names -> ours
AFTER_PADDING = ("roberta", "xlm-roberta", "camembert")  # positions are counted from the padding's on
IDF = "idf.json"  # how much each token of a query weighs: {token: idf}, as OpenSearch's models have it


class Said(NamedTuple):
    """What a folder says; None where it says nothing."""

    pooling: str | None = None
    activation: str | None = None
    length: int | None = None
    query: str | None = None


def resolved(params: SpladeParams) -> SpladeParams:
    """With nothing left open that a folder which is here, or the registry, can say. Called while planning."""
    known = registry.find(params.model)
    model, revision = models.located(known.passages if known else params.model, params.revision)
    own = params.query_model or (known.queries if known else None)
    query_model, query_revision = models.located(own, params.query_revision) if own else (None, "main")
    said = _said(model, revision)
    length = _first(params.passage_length, known and known.length, said.length, "auto")
    query = _first(params.query, known and known.query, said.query, "model")
    if query != "model" and query_model is not None:
        raise HarnessError(f"query: '{query}' uses no model; leave out query_model, or say query: model")
    device: Any = hardware.device(params.device)
    dtype: Any = hardware.dtype(params.dtype, device)
    return dataclasses.replace(
        params,
        model=model,
        revision=revision,
        query=query,
        query_model=query_model,
        query_revision=query_revision,
        pooling=_first(params.pooling, said.pooling, "max"),
        activation=_first(params.activation, known and known.activation, said.activation, "log"),
        passage_length=length,
        query_length=_first(params.query_length, known and known.query_length, length),
        device=device,
        dtype=dtype,
    )


def _first(given: Any, *others: Any) -> Any:
    return given if given != "auto" else next(other for other in others if other is not None)


def absent(params: SpladeParams) -> list[str]:
    """What must come here before a run."""
    lacking = models.lacks(params.model, params.revision)
    if params.query_model is not None:
        lacking += models.lacks(params.query_model, params.query_revision)
    return lacking


def length_of(given: int | str, folder: Path) -> int:
    """The length to cut texts to, for a model that was not here when the run was planned."""
    found = read(folder).length if given == "auto" else int(given)
    if found is None:
        raise HarnessError(f"model: {folder} does not say how long a text may be; give passage_length")
    return found


def _said(model: Path | str, revision: str) -> Said:
    """What the folder says, if it is here."""
    if isinstance(model, Path):
        return read(model) if model.is_dir() else Said()
    folder = None if model.startswith(models.PACKAGE) else models.cached(model, revision)
    return Said() if folder is None else read(folder)


def read(folder: Path) -> Said:
    config = _json(folder / "config.json")
    length = _positions(config)
    limit = _json(folder / "tokenizer_config.json").get("model_max_length")
    if isinstance(limit, int | float) and limit < (length or 1 << 20):
        length = int(limit)
    length = _json(folder / "sentence_bert_config.json").get("max_seq_length") or length
    # sentence-transformers numbers its modules, and names whose they are: document_1_SpladePooling
    pooling = next(map(_json, sorted(folder.glob("*SpladePooling/config.json"))), {})
    return Said(
        pooling.get("pooling_strategy"),
        ACTIVATIONS.get(pooling.get("activation_function", "")),
        length,
        "idf" if (folder / IDF).is_file() else None,
    )


def _positions(config: dict[str, Any]) -> int | None:
    most = config.get("max_position_embeddings")
    if most is not None and config.get("model_type") in AFTER_PADDING:
        return int(most) - int(config.get("pad_token_id", 1)) - 1
    return most


def _json(path: Path) -> dict[str, Any]:
    """Nothing if there is no such file."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise HarnessError(f"model: {path} cannot be read ({error}); fetch the model again") from error
    return found
