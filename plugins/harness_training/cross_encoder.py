"""Trains a cross-encoder on lists of a positive and negatives, by pairs or by a softmax over each list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from harness.plugin import JSON, Examples, Training
from harness_training import courses, losses, networks
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Scorer
from harness_training.params import CrossEncoderParams
from harness_training.processes import Course, Share


class CrossEncoder:
    def __init__(self, params: CrossEncoderParams) -> None:
        self._params = params

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        return courses.trained(CrossEncoder, self._params, examples, folder, training, single=True)

    def learn(self, course: Course) -> dict[str, JSON]:
        params, training = self._params, course.training
        assert isinstance(params.init, Path)
        classes = 2 if params.loss == "two-classes" else 1
        scorer = Scorer(params.init, classes, params.dropout, params.dtype, training.seed, params.device)

        def backward(step: int, micro: int) -> float:
            share = course.group.share
            return self._backward(scorer, course.batch(step), (training.seed, step), micro, share)

        facts = run({"model": scorer}, Optimisation.of(params, course.steps), backward, course)
        if course.group.first:
            scorer.save(course.folder / "model", params.length)
        return facts

    def _backward(
        self, scorer: Scorer, batch: Batch, seeds: tuple[int, int], micro: int, share: Share
    ) -> float:
        """Add the gradients of this process's lists of a batch, and return their loss. A few lists are
        computed at a time. The loss of these lists is weighted by their share of the batch."""
        params, total = self._params, 0.0
        texts = networks.joined(batch.texts, batch.titles)
        whole = int((batch.lists >= 0).sum()) if params.loss != "listwise" else len(batch.lists)
        width = batch.lists.shape[1]
        rows = max(1, micro // width)
        first, end = share(len(batch.lists))
        for start in range(first, end, rows):
            lists = batch.lists[start : min(start + rows, end)]
            is_filled = lists >= 0
            row, column = np.nonzero(is_filled)
            scorer.keys.set(seeds, ((start + row) * width + column).tolist())
            logits = scorer(
                [batch.queries[start + i] for i in row.tolist()],
                [texts[place] for place in lists[is_filled].tolist()],
                params.length, params.query_length,
            )  # fmt: skip
            if params.loss == "listwise":
                scores = torch.zeros(lists.shape, device=logits.device)
                scores[row, column] = logits[:, 0]
                loss = (
                    losses.listwise(scores, torch.from_numpy(is_filled).to(logits.device))
                    * len(lists)
                    / whole
                )
            else:
                marked = batch.relevant[start + row, column].astype(np.float32)
                relevant = torch.from_numpy(marked).to(logits.device)
                loss = losses.pointwise(logits, relevant) * len(row) / whole
            loss.backward()
            total += float(loss.detach())
        return total
