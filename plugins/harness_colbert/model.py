"""A ColBERT checkpoint as encoders of queries and passages, which give each token a vector of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from harness.plugin import Floats, HarnessError
from harness.toolkit.neural import bge_m3, checkpoints, hardware, model_folder, torch_encoder
from harness.toolkit.neural.encoding.passes import workers
from harness.toolkit.neural.tokens import Tokens
from harness_colbert import marking, pooling, pylate, storage
from harness_colbert.marking import Marks
from harness_colbert.settings import FolderSettings

QUERIES = 16  # queries in one pass
LINEAR = "linear.weight"


class Network(NamedTuple):
    body: Any  # a transformer without a head
    linear: torch.Tensor  # [dimension, d]
    bias: torch.Tensor | None = None  # of BGE-M3: [dimension]


def load(folder: Path, settings_file: FolderSettings, dtype: str, trust_remote_code: bool = False) -> Network:
    """The network of a checkpoint: the transformer, whose tensors have its family's prefix (`bert.`), and
    `linear.weight`. BGE-M3 has its layer in a file beside."""
    if settings_file.m3:
        body = checkpoints.load(folder, "AutoModel", dtype, trust_remote_code=trust_remote_code)
        head = bge_m3.read(folder, "colbert_linear", body.config.hidden_size).to(checkpoints.DTYPES[dtype])
        return Network(body, head.weight, head.bias)
    if settings_file.pylate:
        body = checkpoints.load(
            model_folder.network(folder), "AutoModel", dtype, trust_remote_code=trust_remote_code
        )
        weight, bias = (
            part if part is None else part.to(checkpoints.DTYPES[dtype]) for part in pylate.linear(folder)
        )
        assert weight is not None
        return Network(body, weight, bias)
    linear = checkpoints.take(checkpoints.weights(folder), "", folder, [LINEAR])[LINEAR]
    if linear.shape[0] != settings_file.dim:
        raise HarnessError(
            f"model: {folder} has vectors of {linear.shape[0]} numbers, but its settings say "
            f"{settings_file.dim}; fetch it again"
        )
    surplus = (*checkpoints.SURPLUS, LINEAR.replace(".", r"\."))
    body = checkpoints.load(folder, "AutoModel", dtype, trust_remote_code=trust_remote_code, surplus=surplus)
    return Network(body, linear.to(checkpoints.DTYPES[dtype]))


class Passages:
    """One pass over a batch of passages. It gives, for each passage, the vectors of its tokens without
    punctuation (Khattab and Zaharia 2020, section 3.2)."""

    def __init__(
        self,
        states: torch_encoder.States,
        network: Network,
        marks: Marks,
        stored: str,
        alone: bool,
        pool: int = 1,
    ) -> None:
        self._states, self._network, self._marks = states, network, marks
        self._stored, self._alone = storage.TYPES[stored], alone
        self._pool = pool

    def __call__(self, batch: Tokens) -> Sequence[NDArray[Any]]:
        states = self._states(batch)  # [T, d]
        if not self._alone:  # the other workers use the other cores
            torch.set_num_threads(1)  # for this thread, which belongs to the loop
        keep = marking.kept(self._marks, batch)  # bool[T]
        with torch.inference_mode():
            chosen = states[torch.from_numpy(keep).to(states.device)]
            vectors = _projected(chosen, self._network)
        if not np.isfinite(vectors).all():
            raise HarnessError("vectors: a token's is not finite; compute in fp32, and check the model")
        ends = np.concatenate([[0], np.cumsum(keep)])[batch.bounds]
        return [
            pooling.pooled(vectors[begin:end], self._pool).astype(self._stored)
            for begin, end in pairwise(ends.tolist())
        ]


def passages(network: Network, marks: Marks, device: str, stored: str, pool: int = 1) -> list[Passages]:
    """The encoders of passages, one for each worker thread. If there is only one, it uses all cores."""
    encoders_by_kind = torch_encoder.encoders(network.body, marks.passages.padding, device)
    return [
        Passages(states, network, marks, stored, len(encoders_by_kind) == 1, pool)
        for states in encoders_by_kind
    ]


def queries(network: Network, ids: NDArray[np.int64], attention: NDArray[np.int64], device: str) -> Floats:
    """float32[n, L, dimension]: a vector for every token of each query, also for [MASK]."""
    body = network.body.to(device)

    def some(start: int) -> Floats:
        if device == "cpu":  # each thread uses one core: sharing a pass among cores costs more
            torch.set_num_threads(1)  # for this thread
        batch = slice(start, start + QUERIES)
        token_ids, seen = (torch.from_numpy(array[batch]).to(device) for array in (ids, attention))
        with torch.inference_mode():
            states = body(input_ids=token_ids, attention_mask=seen).last_hidden_state  # [n, L, d]
            return _projected(states, network)

    with ThreadPoolExecutor(hardware.threads() if device == "cpu" else 1) as pool:
        encoded = list(pool.map(some, range(0, len(ids), QUERIES)))
    return np.concatenate([*encoded, np.empty((0, ids.shape[1], len(network.linear)), np.float32)])


def queries_as_passages(network: Network, marks: Marks, token_ids: Tokens, device: str) -> Floats:
    """float32[n, L, dimension]: the token vectors of queries without [MASK]. BGE-M3's are divided by the
    number of the query's vectors, so that the sum of their best products (MaxSim) becomes a mean (Chen et al.
    2024, section 3.2). Shorter queries are filled with zeros up to the length of the longest."""
    marks = marks._replace(skipped=np.empty(0, np.int32))
    with workers(passages(network, marks, device, "fp32")) as run:
        rows = run(token_ids, lambda count: None).rows
    filled = np.zeros((len(rows), max(map(len, rows), default=1), len(network.linear)), np.float32)
    for row, vectors in zip(filled, rows, strict=True):
        row[: len(vectors)] = vectors / np.float32(len(vectors) if marks.m3 else 1)
    return filled


def _projected(states: torch.Tensor, network: Network) -> Floats:
    """float32[..., dimension]: E = Normalize(W h), Khattab and Zaharia 2020, equations 1 and 2."""
    linear = network.linear.to(states.device)
    bias = None if network.bias is None else network.bias.to(states.device)
    vectors = functional.normalize(functional.linear(states, linear, bias).float(), dim=-1)
    return np.asarray(vectors.cpu().numpy())
