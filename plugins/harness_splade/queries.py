"""Encodes queries as terms: by a model, or without a model, with each token's idf or 1 as its weight."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.plugin import HarnessError
from harness.toolkit.neural import models, tokens
from harness.toolkit.neural.encoding.passes import workers
from harness.toolkit.neural.tokens import Lost
from harness_splade import SpladeParams, model, settings
from harness_splade.searching import Encode
from harness_splade.storage import Row


def encoder(params: SpladeParams) -> Encode:
    if params.query == "model":
        return _by_model(params)
    here = models.folder(params.model, params.revision)
    tokeniser = tokens.load(here, params.trust_remote_code)
    length = settings.length_of("query_length", params.query_length, here, encoded=False)
    weights = _idf(here, tokeniser.backend) if params.query == "idf" else None
    special = np.array([*tokeniser.single.before, *tokeniser.single.after, tokeniser.padding], np.int32)

    def encode(queries: Sequence[str]) -> tuple[list[Row], Lost]:
        token_ids, lost = tokens.tokenise(tokeniser, queries, length)
        rows = []
        for begin, end in zip(token_ids.bounds[:-1], token_ids.bounds[1:], strict=True):
            terms = np.setdiff1d(token_ids.ids[begin:end], special).astype(np.int32)
            values = np.ones(len(terms), np.float32) if weights is None else weights[terms]
            rows.append(Row(terms[values > 0], values[values > 0]))
        return rows, lost

    return encode


def _by_model(params: SpladeParams) -> Encode:
    """A function that encodes queries with a model, in fp32, whatever the dtype of passages. Queries are few,
    and the terms of a query must not depend on the other queries in its batch."""
    chosen = (params.model, params.revision)
    if params.query_model is not None:
        chosen = (params.query_model, params.query_revision)
    here = models.folder(*chosen, trust_remote_code=params.trust_remote_code)
    tokeniser = tokens.load(here, params.trust_remote_code)
    network = model.load(here, "fp32", params.device, tokeniser, params.trust_remote_code)
    forwards = model.encoders(network, params.pooling, params.activation, queries=True)
    length = settings.length_of("query_length", params.query_length, here)

    def encode(queries: Sequence[str]) -> tuple[list[Row], Lost]:
        if not queries:
            return [], Lost()
        token_ids, lost = tokens.tokenise(tokeniser, queries, length)
        with workers(forwards) as run:
            return run(token_ids, lambda count: None).rows, lost

    return encode


def _idf(folder: Path, backend: Any) -> np.ndarray:
    """float32[V]: the weight of each token in a query, or 0 for a token that the file of idf lacks."""
    path = folder / settings.IDF
    try:
        idf_of_token = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise HarnessError(
            f"query: idf needs {path}, which cannot be read ({error}); say query: binary or model"
        ) from error
    weights = np.zeros(max(backend.get_vocab().values()) + 1, np.float32)  # a vocab.txt may repeat a token
    for token, weight in idf_of_token.items():
        number = backend.token_to_id(token)
        if number is not None:
            weights[number] = weight
    return weights
