"""The steps that write a collection in columnar form."""

from __future__ import annotations

from harness.collection import corpus, corpus_write, limited, queries
from harness.collection.limited import Limits
from harness.collection.queries import write_judgements, write_queries
from harness.errors import ContractError
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
    """Write the judgements of a dataset. Raises ContractError for a judgement of a query that the dataset
    does not have."""
    source = task.built(step.method)
    facts = write_judgements(limited.judgements(source, _limits(step.limits)), task.folder)
    query_ids = {query.id for query in source.queries()}
    unknown = [query for query in queries.read_judgements(task.folder).query_ids if query not in query_ids]
    if unknown:
        what = f"{len(unknown)} judged queries are not among its queries, the first is '{unknown[0]}'"
        raise ContractError(f"{what}; a dataset yields judgements of its own queries alone")
    return Outcome(facts, {})


def _limits(limits: steps.Limits | None) -> Limits:
    return Limits(None, None) if limits is None else Limits(limits.queries, limits.passages)
