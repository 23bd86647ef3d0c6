"""Takes the settings that a suite leaves open from the model that a training starts from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.toolkit.neural import encoder_folder, known_encoders, models
from harness_training.params import DualEncoderParams, Encoder

SCALED = 0.05  # the temperature for vectors of length 1: 1 / 20, sentence-transformers' scale
OF_QUERIES = ("query_prompt", "query_length")
NAMES = ("pooling", "similarity", "temperature", "passage_prompt", "passage_length", *OF_QUERIES)
OPEN = (None, "auto")
PLAIN = {"pooling": "cls", "similarity": "dot"}  # for a start that states nothing
PLAIN_LENGTHS = {"query_length": 32, "passage_length": 128}


class Start(NamedTuple):
    """What is known of a model to start from."""

    settings: Mapping[str, Any]
    source: str  # in words
    places: int | None = None  # the largest number of tokens that its network has places for


def settled(params: Any) -> Any:
    """The parameters of a trainer of bi-encoders with all open settings taken from its start. The parameters
    of other trainers are returned as they are. A setting stays open only if its start is not here."""
    if not isinstance(params, Encoder):
        return params
    start = _start(params.init, params.revision)
    queries = _start_of_queries(params, start)
    chosen = {name: getattr(params, name) for name in NAMES}
    for name in NAMES:
        of = queries if name in OF_QUERIES else start
        if of is not None and chosen[name] in OPEN:
            chosen[name] = _taken(name, of, chosen["similarity"], params)
    if chosen["temperature"] in OPEN and chosen["similarity"] not in OPEN:
        chosen["temperature"] = _usual(chosen["similarity"])
    return dataclasses.replace(params, **chosen)


def certain(params: Any) -> Any:
    """The parameters with no open setting, as a training needs them. A start that could not be found while
    planning is downloaded."""
    params = settled(params)
    if all(getattr(params, name) not in OPEN for name in NAMES):
        return params
    named = {
        name: getattr(params, name)
        for name in ("init", "init_query")
        if getattr(params, name, None) is not None
    }
    revisions = {"init": "revision", "init_query": "init_query_revision"}
    here = {name: models.folder(model, getattr(params, revisions[name])) for name, model in named.items()}
    return dataclasses.replace(settled(dataclasses.replace(params, **here)), **named)


def origins(params: Encoder) -> str | None:
    """Where the settings of resolved parameters come from, in words; None if the start is not here."""
    start = _start(params.init, params.revision)
    queries = _start_of_queries(params, start)
    if start is None or queries is None:
        return None
    by_source: dict[str, list[str]] = {}
    for name in NAMES:
        of, value = queries if name in OF_QUERIES else start, getattr(params, name)
        stated = of.settings.get(name)
        if value == stated:
            source = f"as {of.source} says"
        elif stated is not None:
            source = f"where {of.source} says {stated!r}"
        elif name == "temperature" and (value, params.similarity) == (SCALED, "cosine"):
            source = "for vectors of length 1"
        else:
            source = "by the suite or by default"
        by_source.setdefault(source, []).append(f"{name} {value!r}" if value == "" else f"{name} {value}")
    return "; ".join(f"{', '.join(settings)} {source}" for source, settings in by_source.items())


def _taken(name: str, start: Start, similarity: str, params: Encoder) -> Any:
    """The value of an open setting. `similarity` is that of the training."""
    value = start.settings.get(name)
    if name == "temperature":
        # a start's temperature fits only the similarity that it was trained with
        if value is not None and start.settings["similarity"] == similarity:
            return value
        return _usual(similarity)
    if name in PLAIN_LENGTHS:
        usual = (
            384 if isinstance(params, DualEncoderParams) and name == "passage_length" else PLAIN_LENGTHS[name]
        )
        return min(value or usual, start.places or value or usual)
    return PLAIN.get(name, "") if value is None else value


def _usual(similarity: str) -> float:
    return SCALED if similarity == "cosine" else 1.0


def _start_of_queries(params: Encoder, start: Start | None) -> Start | None:
    """The start of the encoder of queries, which is that of passages unless the suite names one."""
    name, revision = getattr(params, "init_query", None), getattr(params, "init_query_revision", "auto")
    return start if name is None else _start(name, revision)


def _start(model: Path | str, revision: str) -> Start | None:
    """What a made model's recipe, the list of known models or the model's folder says; None if the model is
    not here. A known model's settings come before those of its folder, as for `dense`."""
    recipe = models.recipe(model)
    if recipe is not None:
        taken = {name: recipe[name] for name in NAMES if recipe.get(name) not in OPEN}
        return Start(taken, "the recipe of its start") if "similarity" in taken else None
    known, at = known_encoders.find(model), models.described(model, revision)
    settings: dict[str, Any] = {}
    places = None
    if at is not None and at.is_dir():
        settings, places = _of_folder(at)
    elif known is None:
        return None
    if known is None:
        return Start(settings, "its start's folder", places)
    of_authors = {
        "pooling": known.pooling, "similarity": known.similarity, "passage_prompt": known.passage_prompt,
        "query_prompt": known.query_prompt, "passage_length": known.length,
        "query_length": known.query_length or known.length,
    }  # fmt: skip
    return Start(settings | _stated(of_authors), f"the card of {known.name}", places)


def _of_folder(folder: Path) -> tuple[dict[str, Any], int | None]:
    """The settings in a folder, and how many tokens its network has places for. A folder without the files of
    sentence-transformers states no length for use."""
    read = encoder_folder.read(folder)
    length = read.length if (folder / "modules.json").is_file() else None
    settings = {
        "pooling": read.pooling, "similarity": "cosine" if read.normalise else read.similarity,
        "passage_prompt": read.passage_prompt, "query_prompt": read.query_prompt,
        "passage_length": length, "query_length": length,
    }  # fmt: skip
    return _stated(settings), read.positions


def _stated(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
