"""The suite that `harness eval METHOD DATASET` stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.catalogue import Catalogue
from harness.errors import HarnessError
from harness.problems import nearest, unknown
from harness.records import Meant
from harness.types import JSON

MEASURES = ("nDCG@10", "R@100", "RR@10")
DEPTH = 100  # how many hits a re-ranker gets


class Asked(NamedTuple):
    methods: tuple[str, ...]
    dataset: str
    measures: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    language: str | None = None


def suite_of(request: Asked, catalogue: Catalogue, base: Path) -> JSON:
    """The suite as plain data. Its paths are relative to `base`, the folder where its file will lie. Raises
    HarnessError if the dataset is not recognised."""
    name, dataset = _dataset(request, catalogue, base)
    systems: dict[str, JSON] = {}

    def context() -> dict[str, JSON]:  # a new list each time: YAML would write a shared one as an alias
        return {"context": list(request.context)} if request.context else {}

    for method in request.methods:
        kind = next((kind for kind in ("rerankers", "retrievers") if method in catalogue.entries[kind]), None)
        if kind == "rerankers" and method not in catalogue.entries["retrievers"]:
            first = _first(catalogue)
            systems.setdefault(first, {**context(), "retriever": first})
            systems[_word(method)] = {"of": first, "rerank": {method: {}, "depth": DEPTH}}
        elif kind is not None:
            systems[_word(method)] = {**context(), "retriever": method}
        else:
            _check_spelling(method, catalogue)
            retriever = _meant(method, "retrievers", request.language, catalogue, base)
            if retriever is None:
                raise HarnessError(f"{method}: {unknown('retriever', method, catalogue.names('retrievers'))}")
            systems[_word(method)] = {**context(), "retriever": retriever}
    return {
        "suite": f"{' and '.join(map(_word, request.methods))} on {name}",
        "datasets": {name: dataset},
        "systems": systems,
        "measures": list(request.measures or MEASURES),
    }


def _check_spelling(method: str, catalogue: Catalogue) -> None:
    """Raises HarnessError for a word that is probably a misspelt name of a retriever or re-ranker."""
    known = [*catalogue.entries["retrievers"], *catalogue.entries["rerankers"]]
    meant = nearest(method, known)
    if meant is not None and abs(len(meant) - len(method)) < 3 and not Path(method).exists():
        raise HarnessError(f"{method}: is no method and no model; did you mean '{meant}'?")


def folder_of(request: Asked) -> str:
    """The name of the leaderboard's folder, which is made in the current folder."""
    return f"{'+'.join(map(_word, request.methods))}-on-{_word(request.dataset)}"


def _first(catalogue: Catalogue) -> str:
    """The retriever whose hits a re-ranker gets."""
    offers = catalogue.entries["retrievers"]
    names = [name for name in sorted(offers) if offers[name][0].record.first]
    if len(names) != 1:
        what = "no retriever is" if not names else f"{' and '.join(names)} are"
        raise HarnessError(f"{what} meant for the first hits of a re-ranker; write a suite")
    return names[0]


def _dataset(request: Asked, catalogue: Catalogue, base: Path) -> tuple[str, JSON]:
    """The dataset's name in the suite, and its plugin with parameters."""
    text, language = request.dataset, request.language
    known = text in catalogue.entries["datasets"]
    meant = _meant(text, "datasets", language, catalogue, base, only_sure=known)
    if meant is None and known:
        meant = {text: {} if language is None else {"language": language}}
    if meant is None:
        what = "is no folder with a corpus, and no dataset of a plugin"
        hint = unknown("dataset", text, catalogue.names("datasets"))
        raise HarnessError(f"{text}: {what} ({hint}); give a path, a plugin, or a name that a plugin knows")
    return _word(text), meant


def _meant(
    word: str, kind: str, language: str | None, catalogue: Catalogue, base: Path, only_sure: bool = False
) -> JSON:
    """The plugin that knows the word, with parameters; None if there is none. Raises HarnessError if several
    know it, or if it is a misspelt word of a plugin and no other plugin is sure of it."""
    answers: dict[str, Meant] = {}
    errors = []
    for name in catalogue.names(kind):
        from_word = catalogue.entries[kind][name][0].record.from_word
        try:
            answer = None if from_word is None else from_word(word, language)
        except HarnessError as error:
            errors.append(error)
            continue
        answers |= {} if answer is None else {name: answer}
    sure = {name: answer for name, answer in answers.items() if answer.sure}
    if errors and not sure:
        raise errors[0]
    fitting = sure if sure or only_sure else answers
    if len(fitting) > 1:
        raise HarnessError(f"{word}: may be of {' or '.join(fitting)}; write a suite that says which")
    for name, answer in fitting.items():
        return {name: {key: _relative(value, base) if isinstance(value, Path) else value
                       for key, value in answer.params.items()}}  # fmt: skip
    return None


def _relative(path: Path, base: Path) -> str:
    """The path as a suite in `base` writes it. It begins with a dot or a slash, as a model's path must."""
    target = path.absolute()
    if not target.is_relative_to(Path.cwd()):
        return str(target)
    relative = os.path.relpath(target, base.absolute())
    return relative if relative.startswith(".") else f"./{relative}"


def _word(text: str) -> str:
    """A name that a file can have, made of the last parts of a path."""
    parts = [part for part in re.split(r"[/\\]+", text.rstrip("/")) if part not in ("", ".", "..", "~")]
    shown = "-".join(parts[-3:] if not text.startswith((".", "/", "~")) else parts[-1:])
    return re.sub(r"[^\w.+-]", "_", shown) or "dataset"


def check_context(context: Sequence[str], catalogue: Catalogue) -> None:
    for name in context:
        if name not in catalogue.entries["contexts"]:
            raise HarnessError(f"--context: {unknown('context', name, catalogue.names('contexts'))}")
