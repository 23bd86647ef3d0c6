"""Trains a bi-encoder with in-batch and mined negatives, or with a re-ranker's scores, and a gradient
cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from harness.errors import HarnessError
from harness.types import JSON, Examples, Training
from harness_training import DualEncoderParams, PromptsParams, batches, losses, networks
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Tower

TAUGHT = ("margin-mse", "kl")  # losses that read a teacher's scores


class Lot(NamedTuple):
    """A micro-batch: texts that go through a tower together."""

    tower: Tower
    texts: list[str]
    length: int
    places: list[int]  # the rows of these texts among all vectors of the batch
    side: int  # 0: queries, 1: passages


class DualEncoder:
    def __init__(self, params: DualEncoderParams | PromptsParams) -> None:
        self._params = params

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        params, taught = self._params, self._params.loss in TAUGHT
        queries = batches.usable(examples, scored=taught)
        if not len(queries):
            what = "a positive that a teacher scored" if taught else "a positive"
            raise HarnessError(f"training: no query has {what}; check what it trains on")
        steps = batches.steps_of(queries, params.batch, params.epochs)
        towers = self._towers(training.seed)

        def backward(step: int, micro: int) -> float:
            batch = batches.batch_of(
                examples, queries, step, size=params.batch, negatives=examples.take, seed=training.seed,
                draw=examples.draw, scored=taught,
            )  # fmt: skip
            lots = self._lots(towers, batch, micro)
            count = len(batch.queries)
            return backward_in_parts(
                lots, count + len(batch.texts), (training.seed, step),
                lambda vectors: self._loss(vectors[:count], vectors[count:], batch),
            )  # fmt: skip

        how = Optimisation.of(params, steps)
        found = run(towers, how, backward, folder, training)
        for part, tower in towers.items():
            at = folder / (part if params.untied else "model")
            tower.save(at, params.passage_length, params.query_prompt, params.passage_prompt)
        return {**found, "queries": len(queries), "queries_left_out": len(examples.queries) - len(queries)}

    def _towers(self, seed: int = 0) -> dict[str, Tower]:
        params = self._params
        names = ("query", "passage") if params.untied else ("passage",)
        made = dict(self._made(names, seed))
        for name, length in (
            ("query_length", params.query_length),
            ("passage_length", params.passage_length),
        ):
            places = made["passage"].places
            if places is not None and length > places:
                raise HarnessError(
                    f"{name}: {length} tokens, and the model has places for {places}; give fewer"
                )
        return made

    def _made(self, names: Sequence[str], seed: int) -> Mapping[str, Tower]:
        params = self._params
        assert isinstance(params.init, Path)
        unit = params.similarity == "cosine"
        return {
            name: Tower(params.init, params.pooling, unit, params.dropout, params.dtype, params.device)
            for name in names
        }

    def _lots(self, towers: Mapping[str, Tower], batch: Batch, micro: int) -> list[Lot]:
        """The micro-batches of a batch: those of queries first, then those of passages. Queries and passages
        are sorted by length."""
        params, lots = self._params, list[Lot]()
        sides = (
            (towers.get("query", towers["passage"]), params.query_prompt, batch.queries, params.query_length),
            (towers["passage"], params.passage_prompt, batch.texts, params.passage_length),
        )
        offset = 0
        for side, (tower, prompt, texts, length) in enumerate(sides):
            for places in networks.by_length(texts, micro):
                given = [prompt + texts[place] for place in places]
                lots.append(Lot(tower, given, length, [offset + place for place in places], side))
            offset += len(texts)
        return lots

    def _loss(self, queries: Tensor, passages: Tensor, batch: Batch) -> Tensor:
        """The loss of a batch, from the vectors of its queries, float[Q, d], and passages, float[P, d]."""
        params = self._params
        lists = torch.from_numpy(batch.lists).to(queries.device)  # int64[Q, L]
        scores = queries @ passages.T / params.temperature  # float[Q, P]
        if params.loss == "contrastive":
            allowed = torch.from_numpy(batch.allowed)
            if not params.in_batch:
                listed = torch.zeros_like(allowed)
                for row, places in enumerate(batch.lists):
                    listed[row, torch.from_numpy(places[places >= 0])] = True
                allowed = allowed & listed
            return losses.contrastive(scores, lists[:, 0], allowed.to(queries.device))
        listed_scores = scores.gather(1, lists.clamp(min=0))
        there = torch.from_numpy((batch.lists >= 0) & ~np.isnan(batch.scores)).to(queries.device)
        teacher = torch.from_numpy(np.nan_to_num(batch.scores)).to(queries.device)
        if params.loss == "margin-mse":
            return losses.margin_mse(listed_scores, teacher, there)
        return losses.distillation(listed_scores, teacher, there)


def backward_in_parts(
    lots: Sequence[Lot], count: int, seeds: tuple[int, ...], loss_of: Callable[[Tensor], Tensor]
) -> float:
    """Add the gradients of a loss over the vectors of all lots, float[count, d], and return the loss. Memory
    holds the activations of one lot at a time (gradient cache, Gao et al. 2021, section 3.2): first the
    vectors are computed without gradients, then the gradient of the loss with respect to the vectors, and
    then each lot is computed again and gets its part of this gradient. Both passes of a lot drop the same
    numbers. One lot of queries and one of passages are computed only once, because no memory would be
    saved."""
    if len(lots) <= 2:
        loss = loss_of(_joined(lots, [_vectors(lot, seeds) for lot in lots], count))
        loss.backward()
        return float(loss.detach())
    with torch.no_grad():
        parts = [_vectors(lot, seeds) for lot in lots]
    vectors = _joined(lots, parts, count).requires_grad_(True)
    loss = loss_of(vectors)
    loss.backward()
    assert vectors.grad is not None
    for lot in lots:
        again = _vectors(lot, seeds)
        again.backward(vectors.grad[lot.places])
    return float(loss.detach())


def _vectors(lot: Lot, seeds: tuple[int, ...]) -> Tensor:
    lot.tower.keys.set((*seeds, lot.side), lot.places)
    found: Tensor = lot.tower(lot.texts, lot.length)
    return found


def _joined(lots: Sequence[Lot], parts: Sequence[Tensor], count: int) -> Tensor:
    """float[count, d]: the vectors of all lots, in the order of the batch."""
    order = torch.tensor([place for lot in lots for place in lot.places])
    back = torch.empty(count, dtype=torch.int64)
    back[order] = torch.arange(count)
    return torch.cat(list(parts))[back.to(parts[0].device)]
