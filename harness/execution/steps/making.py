"""The steps that make a collection columnar and context of it."""

from __future__ import annotations

from harness.collection import context_additions, corpus
from harness.collection.queries import write_judgements, write_queries
from harness.execution.steps.task import Outcome, Task


def corpus_(task: Task) -> Outcome:
    return Outcome(corpus.write(task.method(), task.folder, task.progress), {})


def queries(task: Task) -> Outcome:
    return Outcome(write_queries(task.method().queries(), task.folder), {})


def judgements(task: Task) -> Outcome:
    return Outcome(write_judgements(task.method().judgements(), task.folder), {})


def augment(task: Task) -> Outcome:
    facts, words = context_additions.write(task.method(), task.corpus(), task.folder, task.progress)
    return Outcome({"reported": facts}, {"words": words})
