"""Runs Python functions as retriever, re-ranker and context-augmenter."""

from __future__ import annotations

import importlib
import linecache
import socket
from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from harness.plugin import (
    CURRENT,
    JSON,
    Addition,
    ContractError,
    Document,
    Floats,
    HarnessError,
    Hits,
    Ints,
    Texts,
    functions,
)
from harness_python import PythonParams, impure, unkeyed
from harness_python.watch import watch

OBJECT = "is an object of the process that runs the suite"
CORPUS, POSITIONS = "corpus.json", "positions.npy"
Call = Callable[..., JSON]  # (kind, expected, arguments) -> plain data


class Method:
    """A retriever or re-ranker that calls a Python function."""

    def __init__(self, params: PythonParams) -> None:
        self._params, self._call = params, calling(params)

    def index(self, texts: Texts, folder: Path) -> Mapping[str, JSON] | None:
        """Write the corpus as the function gets it. A function has no other index."""
        if self._params.run:
            note(OBJECT)
        batches = list(texts.batches())
        parts = [batch.positions for batch in batches]
        positions = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        read = [text for batch in batches for text in batch.texts]
        titles = [title for batch in batches for title in batch.titles]
        np.save(folder / POSITIONS, positions, allow_pickle=False)
        (folder / CORPUS).write_bytes(orjson.dumps([texts.ids(positions), read, titles]))
        return None

    def open(self, texts: Texts, folder: Path | None) -> Opened:
        return Opened(self._call, texts, folder)


class Opened:
    """An open Python function with the texts that it searches or scores."""

    def __init__(self, call: Call, texts: Texts, folder: Path | None) -> None:
        self._call, self._texts, self._folder = call, texts, folder
        self._corpus: functions.CorpusTexts | None = None
        self._positions = np.zeros(0, np.int64)
        self._place: dict[str, int] = {}  # id -> place in the corpus that the function sees

    def search(self, queries: Sequence[str], k: int, within: Ints | None = None) -> Hits:
        corpus = self._read()
        most = len(corpus.ids) if within is not None else min(k, len(corpus.ids))
        rows = self._call("retriever", len(queries), list(queries), corpus, most) if most else []
        passages = np.full((len(queries), k), -1, np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        for i, (names, row_scores) in enumerate(rows):
            places = self._places(names)
            order = np.argsort(-np.asarray(row_scores, np.float64), kind="stable")
            positions = self._positions[places[order]]
            if within is not None:
                kept = np.isin(positions, within[i][within[i] >= 0])
                positions, order = positions[kept], order[kept]
            positions, order = positions[:k], order[:k]
            passages[i, : len(positions)] = positions
            scores[i, : len(positions)] = np.asarray(row_scores, np.float32)[order]
        return Hits(passages, scores, self._texts.unit)

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        scores = np.full(candidates.shape, -np.inf, np.float32)
        for i, query in enumerate(queries):
            known = candidates[i] >= 0
            if known.any():
                texts = self._texts.take(candidates[i][known])
                scores[i, known] = self._call("reranker", len(texts), query, texts)
        return scores

    def _read(self) -> functions.CorpusTexts:
        if self._corpus is None:
            assert self._folder is not None  # a retriever is opened with its index
            self._positions = np.load(self._folder / POSITIONS)
            self._corpus = functions.CorpusTexts(*orjson.loads((self._folder / CORPUS).read_bytes()))
            self._place = {id: place for place, id in enumerate(self._corpus.ids)}
        return self._corpus

    def _places(self, names: Sequence[str | int]) -> Ints:
        places = np.empty(len(names), np.int64)
        for i, name in enumerate(names):
            place = self._place.get(name, -1) if isinstance(name, str) else name
            if not 0 <= place < len(self._positions):
                raise ContractError(f"the function returned {name!r}, which is not in the corpus")
            places[i] = place
        return places


class Augmenter:
    def __init__(self, params: PythonParams) -> None:
        self._call = calling(params)

    def augment(self, documents: Iterable[Document]) -> Iterable[Addition]:
        for document in documents:
            added = self._call("context", len(document.passages), document)
            yield Addition(prefix=added) if isinstance(added, str) else Addition(prefixes=tuple(added))


def calling(params: PythonParams) -> Call:
    if params.run:
        return Remote(params)
    function, seeded, known = made(params), impure.seeds(params.source), unkeyed(params)

    def call(kind: functions.Kind, expected: int, *arguments: Any) -> JSON:
        noted = CURRENT.get().unkeyed
        if known:
            note(known)
        with nullcontext() if noted is None or known else watch().during(noted, seeded):
            return functions.answer(kind, function(*arguments), expected)

    return call


def note(reason: str) -> None:
    """Notes that the results of the step that this process executes depend on more than its key holds."""
    if (noted := CURRENT.get().unkeyed) is not None:
        noted.add(reason)


def made(params: PythonParams) -> Callable[..., Any]:
    """The function that the source in `params` defines. Tracebacks show the lines of the source."""
    scope: dict[str, Any] = {"__name__": "harness_function"}
    for name, text in (params.imports or {}).items():
        module, _, attribute = text.partition(":")
        loaded = importlib.import_module(module)
        scope[name] = getattr(loaded, attribute) if attribute else loaded
    scope |= {name: literal_eval(text) for name, text in (params.values or {}).items()}
    file = f"<{params.name}>"
    linecache.cache[file] = len(params.source), None, params.source.splitlines(True), file
    exec(compile(params.source, file, "exec"), scope)
    function: Callable[..., Any] | None = scope.get(params.name)
    if not callable(function):
        raise HarnessError(f"python: the source defines no function '{params.name}'; give its name")
    return function


class Remote:
    """An object of the process that runs the suite, called over its socket."""

    def __init__(self, params: PythonParams) -> None:
        self._params = params
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(params.address)
        except OSError:
            what = f"the object '{params.name}' is not there any more"
            raise HarnessError(f"python: {what}; run the suite again from Python") from None
        self._answers = self._socket.makefile("rb")

    def __call__(self, kind: functions.Kind, expected: int, *arguments: Any) -> JSON:
        note(OBJECT)
        request = {
            "object": self._params.served, "kind": kind, "expected": expected, "arguments": arguments
        }  # fmt: skip
        self._socket.sendall(orjson.dumps(request, default=list) + b"\n")
        line = self._answers.readline()
        message = orjson.loads(line) if line else {"error": "the process that runs the suite has gone"}
        if "error" in message:
            raise RuntimeError(message["error"])
        return message["answer"]
