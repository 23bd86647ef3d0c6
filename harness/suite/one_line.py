"""The suite that `harness eval METHOD DATASET` stands for."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from harness.catalogue import Catalogue
from harness.errors import HarnessError
from harness.problems import nearest, unknown
from harness.types import JSON

MEASURES = ("nDCG@10", "R@100", "RR@10")
HUB = ("mteb/", "C-MTEB/")  # where MTEB's datasets are on the hub
FIRST = "bm25"  # the retriever whose hits a re-ranker gets
DEPTH = 100  # how many hits a re-ranker gets
LOOKED_AT = 200_000  # characters of a file that are read to guess its language
HAN = re.compile("[\u4e00-\u9fff]")
LETTER = re.compile(r"[^\W\d_]")
FILES = ("corpus.jsonl", "corpus.parquet", "corpus.csv")


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
            systems.setdefault(FIRST, {**context(), "retriever": FIRST})
            systems[_word(method)] = {"of": FIRST, "rerank": {method: {}, "depth": DEPTH}}
        elif kind is not None:
            systems[_word(method)] = {**context(), "retriever": method}
        else:
            _check_spelling(method, catalogue)
            systems[_word(method)] = {**context(), "retriever": {"dense": {"model": _model(method, base)}}}
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


def _dataset(request: Asked, catalogue: Catalogue, base: Path) -> tuple[str, JSON]:
    """The dataset's name in the suite, and its plugin with parameters."""
    text = request.dataset
    folder, split = _folder(text)
    if folder is not None:
        language = request.language or _language(folder)
        parameters = {"path": _relative(folder, base), "split": split, "language": language}
        return _word(text), {"files": parameters}
    language_given = {} if request.language is None else {"language": request.language}
    if text in catalogue.entries["datasets"]:
        return _word(text), {text: language_given}
    if text.startswith(HUB):
        owner, name, *rest = text.split("/")
        parameters = {"path": f"{owner}/{name}", **({"split": rest[0]} if rest else {}), **language_given}
        return _word(text), {"mteb": parameters}
    if "/" in text and not text.startswith((".", "~", "/")):
        _check_no_folder(text)
        return _word(text), {"ir_datasets": {"id": text}}
    what = "is no folder with a corpus, and no dataset of a plugin"
    hint = unknown("dataset", text, catalogue.names("datasets"))
    raise HarnessError(f"{text}: {what} ({hint}); give a path, a plugin, an id of ir_datasets or mteb/NAME")


def _check_no_folder(text: str) -> None:
    """Raises HarnessError if `text`, which could be an id of ir_datasets, is rather a path: a folder in which
    `_folder` recognised no corpus, or probably the misspelt path of a folder."""
    parts = Path(text).parts
    exist = sum(Path(*parts[:i]).is_dir() for i in range(1, len(parts) + 1))
    if not exist:
        return
    if exist == len(parts):
        what = f"is a folder without {FILES[0]}; put one there, or name its files in a suite"
        raise HarnessError(f"{text}: {what} (`files: {{corpus: ..., queries: ..., qrels: ...}}`)")
    parent = Path(*parts[:exist])
    meant = nearest(parts[exist], sorted(path.name for path in parent.iterdir() if path.is_dir()))
    if meant is not None:
        right = Path(parent, meant, *parts[exist + 1 :])
        raise HarnessError(f"{text}: there is no such folder; did you mean '{right}'?")


def _folder(text: str) -> tuple[Path | None, str]:
    """The BEIR folder and the split that `text` names, or None and "". The split may be the last part of the
    path, as in `beir/scifact/test`; otherwise it is `test`."""
    path = Path(text).expanduser()
    for folder, split in ((path, "test"), (path.parent, path.name)):
        if any(
            Path(f"{folder / name}{packed}").is_file() for name in FILES for packed in ("", ".gz", ".zst")
        ):
            return folder, split
    return None, ""


def _language(folder: Path) -> str:
    """The language of a corpus for which no language is given: English. Raises HarnessError for a corpus that
    is largely Chinese, because analysers are chosen by the language."""
    corpus = folder / FILES[0]
    if corpus.is_file():
        with corpus.open(encoding="utf-8", errors="replace") as file:
            text = "".join(islice(iter(lambda: file.read(4096), ""), LOOKED_AT // 4096))
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
        if len(HAN.findall(text)) > len(LETTER.findall(text)) / 5:
            raise HarnessError(f"{folder}: its passages look Chinese; say --language zh (or --language en)")
    return "en"


def _model(text: str, base: Path) -> str:
    """The model as a suite names it: a short name or a name on the hub unchanged, a folder relative to
    `base`."""
    path = Path(text).expanduser()
    return _relative(path, base) if text.startswith((".", "/", "~")) or path.is_dir() else text


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
