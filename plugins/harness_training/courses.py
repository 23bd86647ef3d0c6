"""What all trainers here do first: choose the queries to train on, and draw the batch of each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.plugin import JSON, Examples, HarnessError, Training
from harness_training import batches, processes, starts
from harness_training.batches import Batch
from harness_training.params import Encoder
from harness_training.processes import Course, Learner


def trained(
    learner: Callable[[Any], Learner], params: Any, examples: Examples, folder: Path, training: Training,
    scored: bool = False, single: bool = False,
) -> Mapping[str, JSON]:  # fmt: skip
    """Train `learner(params)` on the queries that have a positive, and return the facts of the training. With
    `scored`, only queries with a positive that a teacher scored are used. With `single`, a pair is a query
    with one passage. Raises HarnessError if there is nothing to learn from, or too little for the
    checkpoints."""
    queries = batches.usable(examples, scored)
    if not len(queries):
        what = "a positive that a teacher scored" if scored else "a positive"
        raise HarnessError(f"training: no query has {what}; check what it trains on")
    if scored and not batches.has_scored_negative(examples):
        raise HarnessError("training: no negative has a score of a teacher; check `negatives` of the model")

    if params.instance == "pair" and examples.share:
        raise HarnessError(
            "instance: with pairs, 'undenoised' cannot be a share; write `undenoised: lists` in `negatives`"
        )
    if params.titles == "none":
        examples = examples._replace(titles_at=None)
    instances = batches.instances_of(examples, params.instance, single, scored)

    def batch(step: int) -> Batch:
        return batches.batch_of(
            examples, instances, step, size=params.batch, negatives=examples.take, seed=training.seed,
            draw=examples.draw, scored=scored, single=single, others=getattr(params, "others", 0),
        )  # fmt: skip

    steps = batches.steps_of(len(instances.query), params.batch, params.epochs)
    if steps < training.segments:
        raise HarnessError(
            f"training: {training.segments} checkpoints of {steps} batches; say `checkpoints: {steps}` or "
            "fewer, or train for more epochs"
        )
    facts = processes.learnt(learner, params, Course(steps, batch, folder, training))
    left_out = len(examples.queries) - len(queries)
    if isinstance(params, Encoder):
        facts["settings"] = starts.origins(params)
    return {**facts, "queries": len(queries), "queries_left_out": left_out, "instances": len(instances.query)}
