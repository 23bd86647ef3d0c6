"""Embeddings of passages that a service reads with the rest of their document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from harness.plugin import JSON, Floats, HarnessError, Ints, Texts, WholeDocument
from harness.toolkit.services.client import Client, Request, most_tokens
from harness.toolkit.services.embeddings import in_order, vectors_of
from harness_language_models import EmbeddingParams

# Bytes that are sent together. voyage-context-3 reads 32,000 tokens, jina-embeddings-v3 8,192; a token has at
# least two bytes in all but unusual texts. Both limits hold for a whole request:
# https://docs.voyageai.com/docs/contextualized-chunk-embeddings, https://jina.ai/embeddings
_TOGETHER = {"voyage": 64_000, "jina": 16_000}
_INPUTS, _CHUNKS = 1000, 16_000  # the most of a request to Voyage
_TASKS = {"document": "retrieval.passage", "query": "retrieval.query"}


class Group(NamedTuple):
    """Consecutive passages of a document that are sent together."""

    texts: list[str]  # what stands before the whole document, if anything does, and then the passages
    places: list[int]  # of the candidates in `texts`
    positions: Ints  # int64[n]: of the candidates


def batches(
    texts: Texts, params: EmbeddingParams, size: int, counts: dict[str, int]
) -> Iterator[list[Group]]:
    """Yields the groups of all documents, about `size` texts at a time, and counts documents and groups."""
    waiting: list[Group] = []
    for document in texts.documents():
        groups = list(_split(document, params, counts))
        counts["documents"] += 1
        counts["documents_split"] += len(groups) > 1
        kept = [group for group in groups if group.places]  # a group without a candidate is not sent
        counts["groups"] += len(kept)
        waiting += kept
        if sum(len(group.texts) for group in waiting) >= size:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _split(document: WholeDocument, params: EmbeddingParams, counts: dict[str, int]) -> Iterator[Group]:
    """The passages in order, each group as long as the limit allows. What stands before the document (such as
    its title) begins every group, as a text of its own whose vector is not used."""
    longest = _longest(params)
    head = [text] if (text := " ".join(document.prefixes)) else []
    texts, size = list(head), _bytes(head)
    places: list[int] = []
    positions: list[int] = []
    rows = zip(document.texts, document.candidates.tolist(), document.positions.tolist(), strict=True)
    for text, candidate, position in rows:
        text = sent(params.passage_prompt, text)
        length = len(text.encode())
        counts["passages_too_long"] += length > longest
        if size + length > longest and len(texts) > len(head):
            yield Group(texts, places, np.array(positions, np.int64))
            texts, places, positions, size = list(head), [], [], _bytes(head)
        if candidate:
            places.append(len(texts))
            positions.append(position)
        texts.append(text)
        size += length
    yield Group(texts, places, np.array(positions, np.int64))


def sent(prompt: str, text: str) -> str:
    """The text as it is sent: services refuse empty texts."""
    return prompt + text if (prompt + text).strip() else " "


def embed(
    client: Client, params: EmbeddingParams, kind: str, groups: Sequence[Sequence[str]]
) -> list[Floats]:
    """float32[n, d] of each group: the vectors of its texts, read together. The answer for a text is kept
    under the digest of its whole group."""
    settings: list[JSON] = [params.documents, kind, params.dimensions, dict(client.service.extra)]
    digests = [client.key("group", list(group), *settings) for group in groups]
    keys = {
        digest: tuple(client.key(digest, place) for place in range(len(group)))
        for digest, group in zip(digests, groups, strict=True)
    }
    answers = client.kept([key for some in keys.values() for key in some])
    new = {
        digest: group
        for digest, group in zip(digests, groups, strict=True)
        if any(key not in answers for key in keys[digest])
    }
    requests = [
        _request(client, params, kind, [new[digest] for digest in part], [keys[digest] for digest in part])
        for part in _parts(new, params, kind)
    ]
    answers |= client.ask(requests)
    vectors = [[np.frombuffer(answers[key], np.float32) for key in keys[digest]] for digest in digests]
    sizes = {len(row) for rows in vectors for row in rows}
    if len(sizes) > 1:
        raise HarnessError(f"{client.service.url}: gave vectors of {min(sizes)} and of {max(sizes)} numbers")
    return [np.stack(rows) for rows in vectors]


def _parts(groups: dict[str, Sequence[str]], params: EmbeddingParams, kind: str) -> Iterator[list[str]]:
    """The groups of each request. Jina reads all texts of a request as one document, so a document has a
    request of its own there."""
    most = 1 if params.documents == "jina" and kind == "document" else min(params.batch, _INPUTS)
    largest = max(_longest(params), _TOGETHER[params.documents or "voyage"])
    part: list[str] = []
    size = chunks = 0
    for digest, group in groups.items():
        length = _bytes(group)
        if part and (len(part) == most or size + length > largest or chunks + len(group) > _CHUNKS):
            yield part
            part, size, chunks = [], 0, 0
        part.append(digest)
        size, chunks = size + length, chunks + len(group)
    if part:
        yield part


def _request(
    client: Client,
    params: EmbeddingParams,
    kind: str,
    groups: Sequence[Sequence[str]],
    keys: Sequence[tuple[str, ...]],
) -> Request:
    texts = [text for group in groups for text in group]
    body: dict[str, JSON] = {"model": client.service.model}
    if params.documents == "voyage":
        path = "contextualizedembeddings"
        body |= {"inputs": [list(group) for group in groups], "input_type": kind, "output_dtype": "float"}
        body |= {} if params.dimensions is None else {"output_dimension": params.dimensions}
    else:
        path = "embeddings"
        body |= {"input": texts, "task": _TASKS[kind], "embedding_type": "float"}
        body |= {"late_chunking": True} if kind == "document" else {}
        body |= {} if params.dimensions is None else {"dimensions": params.dimensions}
    body = {name: value for name, value in (body | dict(client.service.extra)).items() if value is not None}

    def read(response: JSON) -> list[bytes]:
        if params.documents == "jina":
            return vectors_of(response["data"], len(texts))
        of_groups = zip(in_order(response["data"], len(groups)), groups, strict=True)
        return [vector for item, group in of_groups for vector in vectors_of(item["data"], len(group))]

    return Request(path, body, tuple(key for some in keys for key in some), most_tokens(texts), 0, read)


def _longest(params: EmbeddingParams) -> int:
    return params.together or _TOGETHER[params.documents or "voyage"]


def _bytes(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)
