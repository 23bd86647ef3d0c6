"""The maker `deduplicate`: keeps one passage of those of a whole corpus that are equal, or nearly equal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Document, Ints, Judgement, Made, MakerInput
from harness_making import DeduplicateParams
from harness_making.moving import moved
from harness_making.near import near_duplicates


class Deduplicate:
    """Keeps the first passage of each group of equal or nearly equal ones. That passage gets the highest
    grade of its group. Passages that are no candidates do not change. The maker needs less than 200
    bytes of memory for each passage of the corpus."""

    def __init__(self, params: DeduplicateParams) -> None:
        self._params = params

    def make(self, data: MakerInput) -> Made:
        stands_for = equal_texts(data)
        if self._params.by == "minhash":
            data.tally.note("equal passages", int(np.count_nonzero(stands_for != np.arange(len(stands_for)))))
            stands_for = near_duplicates(data, self._params, stands_for)
        return Made(documents=_documents(data, stands_for), judgements=_judgements(data, stands_for))


def equal_texts(data: MakerInput) -> Ints:
    """int64[N]: for each passage, the first candidate with the same text; for a passage that is no candidate,
    the passage itself."""
    read = data.corpus
    digests = np.empty((read.passages, 2), np.uint64)
    done = 0
    for texts in read.text_columns():
        block = b"".join(
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            for text in texts.to_pylist()
        )
        digests[done : done + len(texts)] = np.frombuffer(block, np.uint64).reshape(-1, 2)
        done += len(texts)
        data.progress(done, read.passages, "equal texts")
    candidates = np.flatnonzero(read.candidate)
    order = candidates[np.lexsort((digests[candidates, 1], digests[candidates, 0]))]
    new = np.ones(len(order), np.bool_)
    new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    stands_for = np.arange(read.passages, dtype=np.int64)
    stands_for[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    return stands_for


def _documents(data: MakerInput, stands_for: Ints) -> Iterator[Document]:
    kept: NDArray[np.bool_] = stands_for == np.arange(len(stands_for))
    start = 0
    for document in data.documents():
        stop = start + len(document.passages)
        here = kept[start:stop].tolist()
        if not all(here):
            for passage, stays in zip(document.passages, here, strict=True):
                if not stays:
                    data.tally.drop("passages", "the same as one before", passage.text)
            if not any(here):
                data.tally.drop("documents", "without a passage of their own", document.id)
            document = document._replace(
                passages=tuple(
                    passage for passage, stays in zip(document.passages, here, strict=True) if stays
                )
            )
        if document.passages:
            yield document
        start = stop


def _judgements(data: MakerInput, stands_for: Ints) -> Iterator[Judgement]:
    """The judgements, moved to the passages that are kept."""
    judged = data.judgements
    positions = data.corpus.positions(judged.passage_ids)
    known = positions >= 0
    names = [name for name, is_known in zip(judged.passage_ids, known.tolist(), strict=True) if is_known]
    kept = data.corpus.ids(stands_for[positions[known]])
    return moved(data, dict(zip(names, kept, strict=True)), "of a passage that is the same as another")
