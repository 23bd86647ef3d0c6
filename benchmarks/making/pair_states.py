"""The states of a cross-encoder for the candidates of a collection's queries, kept in a file.

A cross-encoder reads a query and a passage together, and a linear layer turns the state of its first token
into a score. `states` gives this state for the first passages of BM25, so that the linear layer can be
trained again and again without the network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime

from harness.testing.texts import texts
from harness.toolkit.neural import tokens
from harness_bm25 import BM25
from harness_bm25.retriever import Lexical

# float[1, tokens, d]: the states after the eighth of the twelve layers of the exported BERT. The last layers
# are fitted to the task of the model; a head on them learns another task less well.
STATE = "/bert/encoder/layer.7/output/LayerNorm/Add_1_output_0"

SCALE = 4.0  # the mean length of a state after scaling


class Candidates(NamedTuple):
    """The first n passages of BM25 for each of Q queries."""

    passages: np.ndarray  # int64[Q, n]: places in the corpus
    labels: np.ndarray  # bool[Q, n]: whether the passage is a judged positive of the query
    states: np.ndarray  # float32[Q, n, d]: the cross-encoder's state of the pair


class Collection(NamedTuple):
    queries: list[tuple[str, str]]  # id and text
    passages: list[tuple[str, str]]
    positives: dict[str, set[str]]  # of each query


def read(folder: Path, queries: int) -> Collection:
    """A BEIR folder with the first `queries` queries of its test split."""
    positives: dict[str, set[str]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            query, passage, grade = line.split("\t")
            if int(grade) > 0:
                positives.setdefault(query, set()).add(passage)
    asked = [(row["_id"], row["text"]) for row in _rows(folder / "queries.jsonl") if row["_id"] in positives]
    passages = [(row["_id"], row["text"]) for row in _rows(folder / "corpus.jsonl")]
    return Collection(asked[:queries], passages, positives)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def candidates(collection: Collection, model: Path, depth: int, length: int, kept: Path) -> Candidates:
    """The candidates of all queries. The states are computed once and kept in the file `kept`."""
    if not kept.is_file():
        corpus = texts([text for _, text in collection.passages])
        folder = kept.parent / f"{kept.stem}-index"
        folder.mkdir(exist_ok=True)
        method = Lexical(BM25(analyser="english"))
        method.index(corpus, folder)
        asked = [text for _, text in collection.queries]
        hits = method.open(corpus, folder).search(asked, depth, None).passages
        full = hits.min(axis=1) >= 0  # queries for which BM25 finds fewer passages are left out
        pairs = [(asked[row], corpus.every[place]) for row in np.flatnonzero(full) for place in hits[row]]
        computed = states(model, pairs, length).reshape(int(full.sum()), depth, -1)
        np.savez(kept, rows=np.flatnonzero(full), passages=hits[full], states=computed.astype(np.float16))
    with np.load(kept) as file:
        rows, passages, raw = file["rows"], file["passages"], file["states"].astype(np.float32)
    flat = raw.reshape(-1, raw.shape[2])
    scaled = (raw - flat.mean(axis=0)) / (flat.std(axis=0) + 1e-6) / np.sqrt(flat.shape[1]) * SCALE
    names = [name for name, _ in collection.passages]
    labels = [
        [names[place] in collection.positives[collection.queries[row][0]] for place in places]
        for row, places in zip(rows.tolist(), passages.tolist(), strict=True)
    ]
    return Candidates(passages, np.array(labels), scaled)


def states(model: Path, pairs: list[tuple[str, str]], length: int) -> np.ndarray:
    """float32[pairs, d]: the state of each pair, computed one pair at a time."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(with_output(model / "model.onnx", STATE), options)
    tokeniser = tokens.load(model)
    rows = []
    for number, (query, passage) in enumerate(pairs):
        encoded, _ = tokens.tokenise(tokeniser, [query], length, [passage])
        ids = encoded.ids[None].astype(np.int64)
        types = np.zeros_like(ids) if encoded.types is None else encoded.types[None].astype(np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        rows.append(session.run([STATE], given)[0][0, 0])
        if number % 500 == 0:
            print(f"{number} of {len(pairs)} pairs read", flush=True)
    return np.array(rows, np.float32)


def with_output(path: Path, name: str) -> bytes:
    """The exported network in `path` with the value `name` as one more output. A field that occurs twice in a
    protobuf message is merged, so the output is appended to the file's bytes as a second graph (field 7 of
    the model) with nothing but one output (field 12), whose name is field 1."""
    return path.read_bytes() + _field(7, _field(12, _field(1, name.encode())))


def _field(number: int, content: bytes) -> bytes:
    """A protobuf field of bytes shorter than 128."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content
