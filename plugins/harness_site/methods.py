"""What is known of a row's methods and models: parameters, licence and papers. Nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from harness.plugin import JSON, HarnessError, shown_path
from harness.toolkit.boards import Row, results

HERE = Path(__file__).parent
_MADE = re.compile(r"made:train-([0-9a-f]{64})/")  # a model of the suite, in a step's parameters


class Model(NamedTuple):
    """The facts of a model. What its card does not say is None."""

    name: str
    parameters: int | None
    licence: str | None
    paper: str | None


class Known(NamedTuple):
    """The facts that the site can look up."""

    models: Mapping[str, Model]  # by name, and by the SHA-256 of its folder
    papers: Mapping[tuple[str, str], str]  # (kind of step, method) -> the address of its paper


class Described(NamedTuple):
    """The methods of a row, as the cells of its columns."""

    parameters: int | None  # of all its models together; None if one is not known
    models: str
    licence: str
    papers: tuple[str, ...]


def known(further: Path | None = None) -> Known:
    """The facts of the models of this repository, those of a file in the same form, and the papers that
    installed plugins name. Raises HarnessError for a file in another form."""
    models = dict(_models(HERE / "models.json"))
    if further is not None:
        models.update(_models(further))
    return Known(models, results.papers())


def _models(path: Path) -> list[tuple[str, Model]]:
    try:
        listed = orjson.loads(path.read_bytes())["models"]
        return [
            (key, Model(item["name"], item.get("parameters"), item.get("licence"), item.get("paper")))
            for item in listed
            for key in (item["name"], *item.get("sha256", ()))
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        form = 'a JSON object {"models": [{"name": ..., "parameters": ..., "licence": ..., "paper": ...}]}'
        raise HarnessError(f"{shown_path(path)}: is not {form} ({error})") from None


def described(row: Row, facts: Known) -> Described:
    """The methods of a row. A model that the suite made counts with the model that its training began from;
    its licence is not known."""
    trained = {step.key: step.params for step in row.provenance.steps if step.step == "train"}
    models: dict[str, tuple[Model, bool]] = {}
    papers: dict[str, None] = {}
    for step in row.provenance.steps:
        paper = facts.papers.get((step.step, step.name))
        papers.update({paper: None} if paper else {})
        if step.step == "train":
            continue
        for key, made in _named(step.params, trained):
            models[key] = (facts.models.get(key, Model(key, None, None, None)), made)
    papers.update({model.paper: None for model, _ in models.values() if model.paper})
    counts = [model.parameters for model, _ in models.values()]
    total = sum(count for count in counts if count is not None)
    names = [f"{_short(model.name)}{' (trained here)' if made else ''}" for model, made in models.values()]
    licences = [model.licence for model, made in models.values() if model.licence and not made]
    complete = bool(counts) and None not in counts
    return Described(
        total if complete else None, ", ".join(names), ", ".join(dict.fromkeys(licences)), tuple(papers)
    )


def _named(params: Mapping[str, Any], trained: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, bool]]:
    """The models in a step's parameters, each as its name or digest, and whether the suite trained it."""
    found: list[tuple[str, bool]] = []
    for name in ("model", "query_model", "init", "models"):
        values = params.get(name)
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, Mapping):
                value = value.get("sha256")
            if not isinstance(value, str):
                continue
            made = _MADE.match(value)
            if made is None:
                found.append((value, False))
            elif made[1] in trained:
                found += [(key, True) for key, _ in _named(trained[made[1]], trained)]
    return found


def cells(item: Described) -> list[JSON]:
    """The cells of the columns `COLUMNS`."""
    papers = [{"text": _cited(paper), "url": paper} for paper in item.papers]
    return [item.models or None, item.parameters, item.licence or None, {"links": papers} if papers else None]


COLUMNS = ("model", "#parameters", "licence", "paper")


def _short(name: str) -> str:
    return f"{name[:8]}…" if re.fullmatch("[0-9a-f]{64}", name) else name.rpartition("/")[2]


def _cited(address: str) -> str:
    """An address as people cite it: arXiv:2309.07597, or a DOI, or without its scheme."""
    return re.sub(
        r"^https?://(www\.)?(arxiv\.org/abs/|doi\.org/)?",
        lambda m: "arXiv:" if m[2] and "arxiv" in m[2] else "",
        address,
    )
