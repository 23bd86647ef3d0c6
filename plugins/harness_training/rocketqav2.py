"""Trains a retriever and a re-ranker together by dynamic listwise distillation (Ren et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from harness.plugin import JSON, Examples, Training
from harness_training import RocketQAv2Params, courses, losses
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Scorer, Tower
from harness_training.processes import Course, Share

RETRIEVER, RERANKER = "retriever", "reranker"


class RocketQAv2:
    def __init__(self, params: RocketQAv2Params) -> None:
        self._params = params

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        return courses.trained(RocketQAv2, self._params, examples, folder, training)

    def learn(self, course: Course) -> dict[str, JSON]:
        params, training = self._params, course.training
        assert isinstance(params.init, Path)
        assert isinstance(params.init_reranker, Path)
        unit = params.similarity == "cosine"
        # the paper uses dropout only in the re-ranker (section 4.1)
        tower = Tower(params.init, params.pooling, unit, 0.0, params.dtype, params.device)
        scorer = Scorer(params.init_reranker, 1, params.dropout, params.dtype, training.seed, params.device)
        static = params.reranker == "static"
        models = {RETRIEVER: tower} if static else {RETRIEVER: tower, RERANKER: scorer}
        if static:
            scorer.eval().requires_grad_(False)

        def backward(step: int, micro: int) -> float:
            share = course.group.share
            return self._backward(tower, scorer, course.batch(step), (training.seed, step), micro, share)

        facts = run(models, Optimisation.of(params, course.steps), backward, course)
        if course.group.first:
            at = course.folder / RETRIEVER
            tower.save(at, params.passage_length, params.query_prompt, params.passage_prompt)
            scorer.save(course.folder / RERANKER, params.query_length + params.passage_length)
        return facts

    def _backward(
        self, tower: Tower, scorer: Scorer, batch: Batch, seeds: tuple[int, int], micro: int, share: Share
    ) -> float:
        """Add the gradients of equation 6 for this process's lists, and return their part of the loss. A few
        lists are computed at a time. This is exact, because the loss of a list does not depend on other
        lists."""
        total, count, width = 0.0, len(batch.lists), batch.lists.shape[1]
        rows = max(1, micro // width)
        first, end = share(count)
        for start in range(first, end, rows):
            lists = batch.lists[start : min(start + rows, end)]
            row, column = np.nonzero(lists >= 0)
            scorer.keys.set(seeds, ((start + row) * width + column).tolist())
            loss = self._loss(tower, scorer, batch, lists, start) * len(lists) / count
            loss.backward()
            total += float(loss.detach())
        return total

    def _loss(self, tower: Tower, scorer: Scorer, batch: Batch, lists: np.ndarray, start: int) -> Tensor:
        params, is_filled = self._params, lists >= 0
        row, column = np.nonzero(is_filled)
        queries = batch.queries[start : start + len(lists)]
        passages = [batch.texts[place] for place in lists[is_filled].tolist()]
        query_vectors = tower([params.query_prompt + text for text in queries], params.query_length)
        read = tower([params.passage_prompt + text for text in passages], params.passage_length)
        filled = torch.from_numpy(is_filled).to(query_vectors.device)
        retriever = torch.zeros(lists.shape, device=query_vectors.device)
        retriever[row, column] = (query_vectors[row] * read).sum(dim=1) / params.temperature  # equation 1
        length = params.query_length + params.passage_length
        logits = scorer([queries[i] for i in row.tolist()], passages, length, params.query_length)
        reranker = torch.zeros(lists.shape, device=query_vectors.device)
        reranker[row, column] = logits[:, 0]
        reaches = params.reaches_reranker and params.reranker != "static"
        loss = losses.dynamic_listwise(retriever, reranker, filled, params.direction, reaches)
        if params.reranker == "listwise":
            loss = loss + losses.listwise(reranker, filled)
        elif params.reranker == "pointwise":
            relevant = torch.from_numpy((column == 0).astype(np.float32)).to(query_vectors.device)
            loss = loss + losses.pointwise(logits, relevant)
        return loss
