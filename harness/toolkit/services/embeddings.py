"""Embeddings through a service: a vector for each text; equal texts are asked for once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError
from harness.toolkit.services.client import Client, Malformed, Request, most_tokens
from harness.types import JSON

if TYPE_CHECKING:
    from harness.types import Floats

_BATCH = 64  # the most texts of a request
_LONGEST = 200_000  # the most bytes of a request's texts


def embed(
    client: Client, texts: Sequence[str], dimensions: int | None = None,
    done: Callable[[int], None] | None = None, batch: int = _BATCH,
) -> Floats:  # fmt: skip
    """float32[n, d]: the vector of each text, as the service returns it."""
    keys = [client.key("embeddings", text, dimensions, dict(client.service.extra)) for text in texts]
    answers = client.kept(keys)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in answers}
    requests = [_request(client, part, dimensions) for part in _parts(new, batch)]
    answers |= client.ask(requests, done)
    rows = [np.frombuffer(answers[key], np.float32) for key in keys]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise HarnessError(f"{client.service.url}: gave vectors of {sizes[0]} and of {sizes[-1]} numbers")
    return np.stack(rows) if rows else np.zeros((0, dimensions or 0), np.float32)


def _parts(texts: dict[str, str], batch: int) -> Iterator[dict[str, str]]:
    part: dict[str, str] = {}
    size = 0
    for key, text in texts.items():
        length = len(text.encode())
        if part and (len(part) == batch or size + length > _LONGEST):
            yield part
            part, size = {}, 0
        part[key] = text
        size += length
    if part:
        yield part


def _request(client: Client, part: dict[str, str], dimensions: int | None) -> Request:
    texts = list(part.values())
    body: dict[str, JSON] = {"model": client.service.model, "input": texts, "encoding_format": "float"}
    if dimensions is not None:
        body["dimensions"] = dimensions
    body = {name: value for name, value in (body | dict(client.service.extra)).items() if value is not None}

    def read(response: JSON) -> list[bytes]:
        return vectors_of(response["data"], len(texts))

    return Request("embeddings", body, tuple(part), most_tokens(texts), 0, read)


def vectors_of(items: JSON, count: int) -> list[bytes]:
    """The `count` vectors of an answer's items, as float32. Raises Malformed."""
    vectors = [np.asarray(item["embedding"], np.float32) for item in in_order(items, count)]
    if any(vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all() for vector in vectors):
        raise Malformed("no vector")
    if len({len(vector) for vector in vectors}) > 1:
        raise Malformed("vectors of several lengths")
    return [vector.tobytes() for vector in vectors]


def in_order(items: JSON, count: int) -> list[Any]:
    """The `count` items of an answer, in the order of their indexes. Raises Malformed."""
    numbered: dict[int, JSON] = {}
    for place, item in enumerate(items):
        number = item.get("index", place)
        if number in numbered or not (type(number) is int and 0 <= number < count):
            raise Malformed("indexes that repeat or are out of range")
        numbered[number] = item
    if len(numbered) != count:
        raise Malformed(f"{len(numbered)} vectors for {count} texts")
    return [numbered[number] for number in range(count)]
