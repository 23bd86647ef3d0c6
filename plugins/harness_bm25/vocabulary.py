"""Finds terms in the mapped vocabulary of an index by their hashes, without reading all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from harness_bm25.inverting import hash_terms
from harness_bm25.storage import Index


def numbers_of(index: Index, terms: Sequence[str]) -> NDArray[np.int64]:
    """int64[len(terms)]: the number of each term; -1 if the index does not have the term."""
    different = {term: place for place, term in enumerate(dict.fromkeys(terms))}
    encoded = [term.encode("utf-8", "surrogatepass") for term in different]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    hashes = np.empty(len(encoded), np.uint64)
    hash_terms(np.frombuffer(b"".join(encoded), np.uint8), ends, hashes)
    places = np.searchsorted(index.term_hash, hashes).tolist()
    numbers = [_number(index, *item) for item in zip(encoded, hashes.tolist(), places, strict=True)]
    return (
        np.array(numbers, np.int64)[[different[term] for term in terms]] if terms else np.empty(0, np.int64)
    )


def _number(index: Index, term: bytes, value: int, place: int) -> int:
    while place < len(index.term_hash) and int(index.term_hash[place]) == value:
        number = int(index.term_number[place])
        if _bytes(index, number) == term:
            return number
        place += 1  # another term with the same hash
    return -1


def term_of(index: Index, number: int) -> str:
    return _bytes(index, number).decode("utf-8", "surrogatepass")


def _bytes(index: Index, number: int) -> bytes:
    return index.term_bytes[index.term_ends[number] : index.term_ends[number + 1]].tobytes()
