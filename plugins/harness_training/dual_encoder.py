"""Trains a bi-encoder with in-batch and mined negatives, or a re-ranker's scores, and a gradient cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from harness.plugin import JSON, Examples, HarnessError, Training
from harness_training import batches, courses, losses, networks, starts
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Titles, Tower
from harness_training.params import BiEncoder, DualEncoderParams
from harness_training.processes import ALONE, Course, Group

TAUGHT = ("margin-mse", "kl")  # losses that read a teacher's scores


class Lot(NamedTuple):
    """A micro-batch: texts that go through a tower together."""

    tower: Tower
    texts: list[str]
    length: int
    places: list[int]  # the rows of these texts among all vectors of the batch
    side: int  # 0: queries, 1: passages
    titles: Titles | None = None


class DualEncoder:
    def __init__(self, params: BiEncoder) -> None:
        self._params: BiEncoder = starts.certain(params)

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        taught = self._params.loss in TAUGHT
        return courses.trained(type(self), self._params, examples, folder, training, scored=taught)

    def learn(self, course: Course) -> dict[str, JSON]:
        params, seed, group = self._params, course.training.seed, course.group
        towers = self._towers(seed)

        def backward(step: int, micro: int) -> float:
            batch = course.batch(step)
            lots = self._lots(towers, batch, micro, group)
            count, width = len(batch.queries), towers["passage"].width
            blank = torch.zeros(count + len(batch.texts), width, device=params.device)
            return backward_in_parts(
                lots, blank, (seed, step),
                lambda vectors: self._loss(vectors[:count], vectors[count:], batch, group), group,
            )  # fmt: skip

        facts = run(towers, Optimisation.of(params, course.steps), backward, course)
        for part, tower in towers.items() if group.first else ():
            at = course.folder / (part if params.untied else "model")
            tower.save(at, int(params.passage_length), params.query_prompt or "", params.passage_prompt or "")
        return facts

    def _towers(self, seed: int = 0) -> dict[str, Tower]:
        params = self._params
        names = ("query", "passage") if params.untied else ("passage",)
        made = dict(self._made(names, seed))
        for name, length in (
            ("query_length", int(params.query_length)),
            ("passage_length", int(params.passage_length)),
        ):
            places = made["passage"].places
            if places is not None and length > places:
                raise HarnessError(
                    f"{name}: {length} tokens, and the model has places for {places}; give fewer"
                )
        return made

    def _made(self, names: Sequence[str], seed: int) -> Mapping[str, Tower]:
        params = self._params
        assert isinstance(params, DualEncoderParams)
        return networks.towers(params, names, params.dropout)

    def _lots(self, towers: Mapping[str, Tower], batch: Batch, micro: int, group: Group = ALONE) -> list[Lot]:
        """The micro-batches of a batch that this process computes: those of queries first, then those of
        passages. Queries and passages are sorted by length."""
        params, lots = self._params, list[Lot]()
        for places in networks.by_length(batch.queries, micro, group):
            prompted = [(params.query_prompt or "") + batch.queries[place] for place in places]
            tower = towers.get("query", towers["passage"])
            lots.append(Lot(tower, prompted, int(params.query_length), places, 0))
        for places in networks.by_length(batch.texts, micro, group):
            read, titles = networks.passages(
                [batch.texts[place] for place in places],
                batch.titles and [batch.titles[place] for place in places],
                params.titles, params.passage_prompt or "",
            )  # fmt: skip
            rows = [len(batch.queries) + place for place in places]
            lots.append(Lot(towers["passage"], read, int(params.passage_length), rows, 1, titles))
        return lots

    def _loss(self, queries: Tensor, passages: Tensor, batch: Batch, group: Group = ALONE) -> Tensor:
        """The loss of a batch, from the vectors of its queries, float[Q, d], and passages, float[P, d]. By
        default, a query is compared with all passages of the batch; without `cross_device`, with those of its
        process's queries; without `in_batch`, only with those of its own list (RocketQA, Qu et al. 2021,
        section 4.1.1)."""
        params = self._params
        lists = torch.from_numpy(batch.lists).to(queries.device)  # int64[Q, L]
        scores = queries @ passages.T / float(params.temperature)  # float[Q, P]
        if params.loss == "contrastive":
            allowed, count = batch.allowed, len(batch.queries)
            if not params.in_batch:
                allowed = batches.within(batch, range(count))
            elif not params.cross_device:
                allowed = batches.within(batch, [group.owner(query, count) for query in range(count)])
            return losses.contrastive(scores, lists[:, 0], torch.from_numpy(allowed).to(queries.device))
        listed_scores = scores.gather(1, lists.clamp(min=0))
        has_score = torch.from_numpy((batch.lists >= 0) & ~np.isnan(batch.scores)).to(queries.device)
        teacher = torch.from_numpy(np.nan_to_num(batch.scores)).to(queries.device)
        if params.loss == "margin-mse":
            return losses.margin_mse(listed_scores, teacher, has_score)
        return losses.distillation(listed_scores, teacher, has_score)


def backward_in_parts(
    lots: Sequence[Lot], vectors: Tensor, seeds: tuple[int, ...], loss_of: Callable[[Tensor], Tensor],
    group: Group = ALONE,
) -> float:  # fmt: skip
    """Add the gradients of a loss over the vectors of a batch, for the lots of this process. `vectors`,
    float[n, d], holds zeros at the beginning. The first process returns the loss, the others return 0.

    Memory holds the activations of one lot at a time (gradient cache, Gao et al. 2021, section 3.2). First
    the vectors are computed without gradients, and the processes exchange them. Then the gradient of the loss
    with respect to the vectors is computed. Then each lot is computed again and gets its part of this
    gradient. Both passes of a lot drop the same numbers. If there is only one lot of queries and one of
    passages, they are computed only once, because a second pass would save no memory."""
    once = len(lots) <= 2
    with torch.set_grad_enabled(once):
        parts = [_vectors(lot, seeds) for lot in lots]
    for lot, part in zip(lots, parts, strict=True):
        vectors[lot.places] = part.detach()
    loss = loss_of(group.summed(vectors).requires_grad_(True))
    loss.backward()
    assert vectors.grad is not None
    for lot, part in zip(lots, parts, strict=True):
        (part if once else _vectors(lot, seeds)).backward(vectors.grad[lot.places])
    return float(loss.detach()) if group.first else 0.0


def _vectors(lot: Lot, seeds: tuple[int, ...]) -> Tensor:
    lot.tower.keys.set((*seeds, lot.side), lot.places)
    vectors: Tensor = lot.tower(lot.texts, lot.length, lot.titles)
    return vectors
