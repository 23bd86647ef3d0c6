"""What all trainers of this package do first: choose the queries to train on, and draw the batch of each
step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.plugin import JSON, Examples, HarnessError, Training
from harness_training import batches, processes
from harness_training.batches import Batch
from harness_training.processes import Course, Learner


def trained(
    learner: Callable[[Any], Learner], params: Any, examples: Examples, folder: Path, training: Training,
    scored: bool = False,
) -> Mapping[str, JSON]:  # fmt: skip
    """Train `learner(params)` on the queries that have a positive, and return the facts of the training. With
    `scored`, only queries with a positive that a teacher scored are used. Raises HarnessError if there is
    nothing to learn from, or too little for the checkpoints."""
    queries = batches.usable(examples, scored)
    if not len(queries):
        what = "a positive that a teacher scored" if scored else "a positive"
        raise HarnessError(f"training: no query has {what}; check what it trains on")
    if scored and not batches.has_scored_negative(examples):
        raise HarnessError("training: no negative has a score of a teacher; check `negatives` of the model")

    def batch(step: int) -> Batch:
        return batches.batch_of(
            examples, queries, step, size=params.batch, negatives=examples.take, seed=training.seed,
            draw=examples.draw, scored=scored,
        )  # fmt: skip

    steps = batches.steps_of(queries, params.batch, params.epochs)
    if steps < training.segments:
        raise HarnessError(
            f"training: {training.segments} checkpoints of {steps} batches; say `checkpoints: {steps}` or "
            "fewer, or train for more epochs"
        )
    facts = processes.learnt(learner, params, Course(steps, batch, folder, training))
    return {**facts, "queries": len(queries), "queries_left_out": len(examples.queries) - len(queries)}
