"""The steps that write a collection in columnar form."""

from __future__ import annotations

from harness.collection import corpus, corpus_write, limited
from harness.collection.limited import Limits
from harness.collection.queries import write_judgements, write_queries
from harness.execution.task import Outcome, Task
from harness.steps import read as steps
from harness.steps.read import ReadCorpus, ReadJudgements, ReadQueries


def read_corpus(step: ReadCorpus, task: Task) -> Outcome:
    source, limits = task.built(step.method), _limits(step.limits)
    if limits.passages is None:
        return Outcome(corpus.write(source, task.folder, task.progress), {})
    sample = limited.Sample(source, limits)
    return Outcome(corpus_write.write_rows(sample.rows(), sample.locate, task.folder, task.progress), {})


def read_queries(step: ReadQueries, task: Task) -> Outcome:
    source = task.built(step.method)
    return Outcome(write_queries(limited.queries(source, _limits(step.limits)), task.folder), {})


def read_judgements(step: ReadJudgements, task: Task) -> Outcome:
    source = task.built(step.method)
    return Outcome(write_judgements(limited.judgements(source, _limits(step.limits)), task.folder), {})


def _limits(limits: steps.Limits | None) -> Limits:
    return Limits(None, None) if limits is None else Limits(limits.queries, limits.passages)
