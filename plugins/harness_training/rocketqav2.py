"""Trains a retriever and a re-ranker together by dynamic listwise distillation (Ren et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from harness.plugin import JSON, Examples, Ints, Training
from harness_training import courses, losses, networks, starts
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Scorer, Tower
from harness_training.params import RocketQAv2Params
from harness_training.processes import Course, Share

RETRIEVER, RERANKER = "retriever", "reranker"


class RocketQAv2:
    def __init__(self, params: RocketQAv2Params) -> None:
        self._params: RocketQAv2Params = starts.certain(params)

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        return courses.trained(RocketQAv2, self._params, examples, folder, training)

    def learn(self, course: Course) -> dict[str, JSON]:
        params, training = self._params, course.training
        assert isinstance(params.init_reranker, Path)
        names = ("query", "passage") if params.untied else (RETRIEVER,)
        towers = networks.towers(params, names, params.retriever_dropout)
        scorer = Scorer(params.init_reranker, 1, params.dropout, params.dtype, training.seed, params.device)
        static = params.reranker == "static"
        models: dict[str, nn.Module] = towers if static else {**towers, RERANKER: scorer}
        if static:
            scorer.eval().requires_grad_(False)

        def backward(step: int, micro: int) -> float:
            share = course.group.share
            return self._backward(towers, scorer, course.batch(step), (training.seed, step), micro, share)

        facts = run(models, Optimisation.of(params, course.steps), backward, course)
        if course.group.first:
            for name, tower in towers.items():
                at = course.folder / name
                tower.save(
                    at, int(params.passage_length), params.query_prompt or "", params.passage_prompt or ""
                )
            scorer.save(course.folder / RERANKER, self._pair_length(scorer))
        return facts

    def _pair_length(self, scorer: Scorer) -> int:
        """How many tokens of a pair the re-ranker reads."""
        length = int(self._params.query_length) + int(self._params.passage_length)
        return min(length, scorer.places or length)

    def _backward(
        self, towers: Mapping[str, Tower], scorer: Scorer, batch: Batch, seeds: tuple[int, int], micro: int,
        share: Share,
    ) -> float:  # fmt: skip
        """Add the gradients of equation 6 for this process's lists, and return their part of the loss. A few
        lists are computed at a time, which is exact: the loss of a list does not depend on others."""
        total, count, width = 0.0, len(batch.lists), batch.lists.shape[1]
        rows = max(1, micro // width)
        first, end = share(count)
        for start in range(first, end, rows):
            lists = batch.lists[start : min(start + rows, end)]
            row, column = np.nonzero(lists >= 0)
            places = ((start + row) * width + column).tolist()
            scorer.keys.set(seeds, places)
            numbers = list(range(start, start + len(lists)))
            vectors = self._vectors(towers, batch, lists, numbers, places, seeds)
            loss = self._loss(vectors, scorer, batch, lists, start) * len(lists) / count
            loss.backward()
            total += float(loss.detach())
        return total

    def _vectors(
        self, towers: Mapping[str, Tower], batch: Batch, lists: Ints, numbers: list[int], places: list[int],
        seeds: tuple[int, int],
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The vectors of the queries of some lists, and of the passages in these lists."""
        params, used = self._params, lists[lists >= 0].tolist()
        texts, titles = networks.passages(
            [batch.texts[place] for place in used], batch.titles and [batch.titles[place] for place in used],
            params.titles, params.passage_prompt or "",
        )  # fmt: skip
        queries = [(params.query_prompt or "") + batch.queries[number] for number in numbers]
        one = towers.get(RETRIEVER)
        vectors = []
        for side, (name, keys, read, length, beside) in enumerate(
            [("query", numbers, queries, int(params.query_length), None),
             ("passage", places, texts, int(params.passage_length), titles)]
        ):  # fmt: skip
            tower = towers[name] if one is None else one
            if params.retriever_dropout:
                tower.keys.set((*seeds, side), keys)
            vectors.append(tower(read, length, beside))
        return vectors[0], vectors[1]

    def _loss(
        self, vectors: tuple[Tensor, Tensor], scorer: Scorer, batch: Batch, lists: Ints, start: int
    ) -> Tensor:
        params, is_filled, (query_vectors, read) = self._params, lists >= 0, vectors
        row, column = np.nonzero(is_filled)
        queries = batch.queries[start : start + len(lists)]
        texts = networks.joined(batch.texts, batch.titles)
        passages = [texts[place] for place in lists[is_filled].tolist()]
        filled = torch.from_numpy(is_filled).to(query_vectors.device)
        retriever = torch.zeros(lists.shape, device=query_vectors.device)
        retriever[row, column] = (query_vectors[row] * read).sum(dim=1) / float(
            params.temperature
        )  # equation 1
        length = self._pair_length(scorer)
        logits = scorer([queries[i] for i in row.tolist()], passages, length, int(params.query_length))
        reranker = torch.zeros(lists.shape, device=query_vectors.device)
        reranker[row, column] = logits[:, 0]
        reaches = params.reaches_reranker and params.reranker != "static"
        loss = losses.dynamic_listwise(retriever, reranker, filled, params.direction, reaches)
        loss = loss * params.divergence
        if params.reranker == "listwise":
            loss = loss + losses.listwise(reranker, filled)
        elif params.reranker == "pointwise":
            relevant = torch.from_numpy((column == 0).astype(np.float32)).to(query_vectors.device)
            loss = loss + losses.pointwise(logits, relevant)
        return loss
