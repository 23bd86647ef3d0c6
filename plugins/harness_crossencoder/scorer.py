"""The re-ranker `crossencoder`: each model scores the candidate pairs, and several models are averaged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.plugin import JSON, Floats, Ints, Texts
from harness.toolkit.neural import hardware, models, tokens
from harness.toolkit.neural.encoding.parts import Forward
from harness.toolkit.neural.encoding.passes import workers
from harness.toolkit.neural.tokens import Lost, Tokeniser
from harness_crossencoder import CrossEncoderParams, settings


class Reader(NamedTuple):
    """A loaded model with its tokeniser."""

    tokeniser: Tokeniser
    forwards: Sequence[Forward]  # one for each worker: pairs -> the logit of relevance, log p / (1 - p)
    whole: Callable[[str, str, str], str] | None = None  # instruction, query, passage -> the pair as one text
    parts: Callable[[str, str, str], tuple[str, str]] | None = None  # the same -> the pair as two texts


class CrossEncoder:
    def __init__(self, params: CrossEncoderParams) -> None:
        self._params = params

    def index(self, texts: Texts, folder: Path) -> None:
        """Does nothing: a cross-encoder has no index."""

    def open(self, texts: Texts, folder: Path | None) -> Pairs:
        return Pairs(self._params, texts)


class Pairs:
    """An open re-ranker. It counts the scored pairs, and the pairs that each model's maximum length cut."""

    def __init__(self, params: CrossEncoderParams, texts: Texts) -> None:
        instead, code = settings.instead_of(params), params.trust_remote_code
        folders = [
            models.folder(model, revision, instead, code) for model, revision in settings.named(params)
        ]
        self._params = _completed(params, folders)
        self._texts = texts
        self._readers = [_reader(self._params, folder) for folder in folders]
        self._pairs = self._split = self._scored = 0
        self._lost = Lost()

    def score(self, queries: Sequence[str], candidates: Ints) -> Floats:
        scores = np.zeros(candidates.shape, np.float32)
        filled = candidates >= 0
        if not filled.any():
            return scores
        rows, _ = np.nonzero(filled)
        positions, places = np.unique(candidates[filled], return_inverse=True)
        texts = self._texts.take(positions)
        firsts, seconds = [queries[row] for row in rows.tolist()], [texts[place] for place in places.tolist()]
        self._scored = 0
        every = [self._read(reader, firsts, seconds) for reader in self._readers]
        probabilities = bool(self._params.models) and self._params.average == "probabilities"
        scores[filled] = combined(np.stack(every), self._params.kind, probabilities)
        self._pairs += len(rows)
        return scores

    def report(self) -> Mapping[str, JSON]:
        facts = {"pairs": self._pairs, "pairs_cut": self._lost.texts, "tokens_lost": self._lost.tokens}
        return {**facts, **({"batches_split": self._split} if self._split else {})}

    def _progress(self, count: int) -> None:
        self._scored += count
        self._texts.progress(self._scored // len(self._readers))

    def _read(self, reader: Reader, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """float64[n]: one model's score of each pair."""
        params = self._params
        assert params.length != "auto"  # `_completed` resolves every `auto`
        if reader.parts is not None:
            written = [reader.parts(params.instruction, *pair) for pair in zip(firsts, seconds, strict=True)]
            firsts, seconds = [pair[0] for pair in written], [pair[1] for pair in written]
        if reader.whole is None:
            token_ids, lost = tokens.tokenise(
                reader.tokeniser, firsts, params.length, seconds, first_length=params.query_length
            )
        else:
            pairs = zip(firsts, seconds, strict=True)
            texts = [reader.whole(params.instruction, query, text) for query, text in pairs]
            token_ids, lost = tokens.tokenise(reader.tokeniser, texts, params.length)
        with workers(reader.forwards) as run:
            passed = run(token_ids, self._progress)
        self._lost, self._split = self._lost.plus(lost), self._split + passed.split
        return np.array(passed.rows, np.float64)


def combined(every: NDArray[np.float64], kind: str, probabilities: bool) -> NDArray[np.float64]:
    """float64[n]: the scores of the pairs from the models' logits, float64[m, n]: the mean of a classifier's
    logits, or of monoT5's log p(true) (Nogueira et al. 2020, section 3). With `probabilities` it is the mean
    of p = 1 / (1 + exp(-logit)), which the cross-encoders of DuReader-retrieval write (Qiu et al. 2022,
    appendix A.1). A list of one model gives probabilities too, for thresholds such as RocketQA's."""
    logs = -np.logaddexp(0, -every)  # log p
    if probabilities:
        result: NDArray[np.float64] = np.exp(logs).mean(axis=0)
    else:
        result = (logs if kind == "monot5" else every).mean(axis=0)
    return result


def _completed(params: CrossEncoderParams, folders: Sequence[Path]) -> CrossEncoderParams:
    """The parameters, completed by the settings in the models' folders if missing while planning."""
    if "auto" not in (params.kind, params.length):
        return params
    settled: dict[str, Any] = (
        {"model": folders[0]} if params.model is not None else {"models": tuple(folders)}
    )
    return settings.resolved(dataclasses.replace(params, **settled))


def _reader(params: CrossEncoderParams, folder: Path) -> Reader:
    tokeniser = tokens.load(folder, params.trust_remote_code)
    if params.backend == "onnx":
        from harness_crossencoder.onnx import Exported

        return Reader(tokeniser, [Exported(folder)] * hardware.threads())
    if params.kind == "monot5":
        from harness_crossencoder import monot5

        return Reader(monot5.prompted(tokeniser, folder), monot5.forwards(params, folder, tokeniser))
    if params.kind == "yes-no":
        from harness_crossencoder import causal

        return Reader(causal.prompted(tokeniser), causal.forwards(params, folder, tokeniser), causal.written)
    if params.kind == "mxbai-v2":
        from harness_crossencoder import causal, mxbai

        forwards = causal.forwards(params, folder, tokeniser, mxbai.ANSWERS)
        return Reader(mxbai.prompted(tokeniser), forwards, parts=mxbai.parts)
    from harness_crossencoder import classifier

    return Reader(tokeniser, classifier.forwards(params, folder, tokeniser.padding))
