"""The maker `segment`: cuts running text into passages, by tokens, by sentences, or by a trained model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import Document, HarnessError, Made, MakerInput, Passage
from harness_making import SegmentParams, boundaries, moving
from harness_making.boundaries import Boundaries, Found, Places, Running, compared, f1, running

if TYPE_CHECKING:
    from harness_making.token_classifier import TokenClassifier

SIGMAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RESAMPLES = 1000  # samples of documents from which an interval is computed


class Segment:
    def __init__(self, params: SegmentParams) -> None:
        self._params = params
        self._characters = params.unit == "characters"

    def make(self, data: MakerInput) -> Made:
        moved: dict[str, str] = {}  # an old passage -> the first of the new ones with most of it
        model = self._model(data)
        return Made(
            documents=self._documents(data, model, moved),
            judgements=moving.moved(data, moved, "of another part of the same passage"),
        )

    def _documents(
        self, data: MakerInput, model: Boundaries | TokenClassifier | None, moved: dict[str, str]
    ) -> Iterator[Document]:
        for document in data.documents():
            texts = [passage.text for passage in document.passages]
            whole = running(texts, self._characters)
            if not whole.text:
                yield document
                continue
            parts = _parts(document, whole)
            spans = self._spans(whole.text, model)
            passages = tuple(
                Passage(
                    f"{document.id}-{number}",
                    whole.text[start:stop].strip(),
                    any(part.passage.candidate and part.shared(start, stop) > 0 for part in parts),
                )
                for number, (start, stop) in enumerate(spans)
            )
            data.tally.add("passages from running text", len(passages))
            for part in parts:
                shared = [part.shared(start, stop) for start, stop in spans]
                moved[part.passage.id] = passages[int(np.argmax(shared))].id
            yield document._replace(passages=passages)

    def _spans(self, text: str, model: Boundaries | TokenClassifier | None) -> list[tuple[int, int]]:
        params = self._params
        if params.by == "tokens":
            return token_spans(text, params.size, params.overlap, self._characters)
        if model is not None:
            ends = model.ends(text, params.sigma)
        else:
            ends = boundaries.sentence_ends(text, self._characters)[params.sentences - 1 :: params.sentences]
        edges = [0, *ends.tolist(), len(text)]
        return [(start, stop) for start, stop in pairwise(edges) if stop > start]

    def _model(self, data: MakerInput) -> Boundaries | TokenClassifier | None:
        """The model that sees boundaries, if there is one."""
        if self._params.by == "model":
            from harness_making.token_classifier import TokenClassifier  # imports torch

            return TokenClassifier(self._params, self._characters)
        return self._trained(data) if self._params.by == "boundary" else None

    def _trained(self, data: MakerInput) -> Boundaries:
        """The model, trained on most documents of `learn`. Its quality on the held-out documents is noted."""
        assert self._params.learn is not None
        source = data.others[self._params.learn]
        learned: list[Running] = []
        held: list[Running] = []
        for document in source.documents():
            whole = running([passage.text for passage in document.passages], self._characters)
            digest = hashlib.sha256(document.id.encode()).digest()
            apart = int.from_bytes(digest[:4], "big") < self._params.held_out * 2**32
            (held if apart else learned).append(whole)
        if not any(len(document.ends) for document in learned):
            raise HarnessError(
                f"segment: the documents of '{self._params.learn}' have one passage each; name some with more"
            )
        model = boundaries.trained(learned, self._characters, self._params.epochs, self._params.seed)
        data.tally.note("documents learned from", len(learned))
        if held:
            data.tally.note("boundaries", measured(model, learned, held, self._params.seed))
        return model


def token_spans(text: str, size: int, overlap: int, characters: bool) -> list[tuple[int, int]]:
    """Windows of `size` tokens as ranges of offsets. Each shares `overlap` tokens with the last."""
    edges = [0, *boundaries.places(text, characters).tolist(), len(text)]
    spans, start = [], 0
    while True:
        stop = min(start + size, len(edges) - 1)
        spans.append((edges[start], edges[stop]))
        if stop == len(edges) - 1:
            return spans
        start = stop - overlap


def measured(model: Boundaries, learned: Sequence[Running], held: Sequence[Running], seed: int) -> Any:
    """The quality of the boundaries on held-out documents: precision, recall and F1 of the model at each
    sigma, and the F1 of the model, of cuts at a fixed length and of cuts at a fixed number of sentences. The
    two cuts use the mean lengths of the learned documents. The 95 % intervals are over documents."""
    characters = model.characters
    texts = sum(len(document.ends) + 1 for document in learned)
    length = max(1, sum(len(document.text) for document in learned) // texts)
    ends = [boundaries.sentence_ends(document.text, characters) for document in learned]
    sentences = max(1, round((sum(map(len, ends)) + len(learned)) / texts))
    probabilities = [model.probabilities(document.text) for document in held]
    curve = {}
    for sigma in SIGMAS:
        counted = [
            compared(where[values >= sigma], document)
            for (where, values), document in zip(probabilities, held, strict=True)
        ]
        curve[str(sigma)] = [round(value, 4) for value in f1(counted)]
    ways: dict[str, Callable[[str], Places]] = {
        "model": lambda text: model.ends(text, 0.5),
        "fixed length": lambda text: (
            np.arange(length, len(text), length, dtype=np.int64)
            if characters
            else _nearest_places(text, length)
        ),
        "sentences": lambda text: boundaries.sentence_ends(text, characters)[sentences - 1 :: sentences],
    }
    counts = {
        name: [compared(way(document.text), document) for document in held] for name, way in ways.items()
    }
    random = np.random.default_rng(seed)
    samples = random.integers(0, len(held), (RESAMPLES, len(held)))
    scores = {
        name: {"f1": round(f1(counted)[2], 4), "ci95": _interval(counted, samples)}
        for name, counted in counts.items()
    }
    return {
        "held-out documents": len(held), "mean length": length, "mean sentences": sentences, **scores,
        "by sigma (precision, recall, F1)": curve,
    }  # fmt: skip


def _nearest_places(text: str, length: int) -> Places:
    """The ends of words at, or next after, each multiple of `length`."""
    where = boundaries.places(text, False)
    at = np.searchsorted(where, np.arange(length, len(text), length))
    return np.unique(where[at[at < len(where)]])


def _interval(counted: Sequence[Found], samples: NDArray[np.int64]) -> list[float]:
    counts = np.array(counted, np.int64)
    values = [f1(counts[rows])[2] for rows in samples]
    return [round(float(value), 4) for value in np.percentile(values, (2.5, 97.5))]


class _Part(NamedTuple):
    """An old passage and its place in the running text."""

    passage: Passage
    start: int
    stop: int

    def shared(self, start: int, stop: int) -> int:
        """The number of characters that the passage shares with this range; 0 or less if it shares none."""
        return min(self.stop, stop) - max(self.start, start)


def _parts(document: Document, whole: Running) -> list[_Part]:
    """The document's passages that have text."""
    passages = [passage for passage in document.passages if passage.text.strip()]
    edges = [0, *whole.ends.tolist(), len(whole.text)]
    return [_Part(*part) for part in zip(passages, edges[:-1], edges[1:], strict=True)]
