"""Trains a cross-encoder on lists of a positive and negatives, by single pairs or by a softmax over each
list."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from harness.errors import HarnessError
from harness.types import JSON, Examples, Training
from harness_training import CrossEncoderParams, batches, losses
from harness_training.batches import Batch
from harness_training.loop import Optimisation, run
from harness_training.networks import Scorer


class CrossEncoder:
    def __init__(self, params: CrossEncoderParams) -> None:
        self._params = params

    def train(self, examples: Examples, folder: Path, training: Training) -> Mapping[str, JSON]:
        params = self._params
        queries = batches.usable(examples)
        if not len(queries):
            raise HarnessError("training: no query has a positive; check what it trains on")
        assert isinstance(params.init, Path)
        classes = 2 if params.loss == "two-classes" else 1
        scorer = Scorer(params.init, classes, params.dropout, params.dtype, training.seed, params.device)
        steps = batches.steps_of(queries, params.batch, params.epochs)

        def backward(step: int, micro: int) -> float:
            batch = batches.batch_of(
                examples, queries, step, size=params.batch, negatives=examples.take, seed=training.seed,
                draw=examples.draw,
            )  # fmt: skip
            return self._backward(scorer, batch, (training.seed, step), micro)

        how = Optimisation.of(params, steps)
        found = run({"model": scorer}, how, backward, folder, training)
        scorer.save(folder / "model", params.length)
        return {**found, "queries": len(queries), "queries_left_out": len(examples.queries) - len(queries)}

    def _backward(self, scorer: Scorer, batch: Batch, seeds: tuple[int, int], micro: int) -> float:
        """Add the gradients of a batch, some whole lists at a time, and return its loss. Each part is
        weighted by its share of the batch."""
        params, total = self._params, 0.0
        whole = int((batch.lists >= 0).sum()) if params.loss != "listwise" else len(batch.lists)
        width = batch.lists.shape[1]
        rows = max(1, micro // width)
        for start in range(0, len(batch.lists), rows):
            lists = batch.lists[start : start + rows]
            there = lists >= 0
            row, column = np.nonzero(there)
            scorer.keys.set(seeds, ((start + row) * width + column).tolist())
            logits = scorer(
                [batch.queries[start + i] for i in row.tolist()],
                [batch.texts[place] for place in lists[there].tolist()],
                params.length, params.query_length,
            )  # fmt: skip
            if params.loss == "listwise":
                scores = torch.zeros(lists.shape, device=logits.device)
                scores[row, column] = logits[:, 0]
                loss = losses.listwise(scores, torch.from_numpy(there).to(logits.device)) * len(lists) / whole
            else:
                relevant = torch.from_numpy((column == 0).astype(np.float32)).to(logits.device)
                loss = losses.pointwise(logits, relevant) * len(row) / whole
            loss.backward()
            total += float(loss.detach())
        return total
