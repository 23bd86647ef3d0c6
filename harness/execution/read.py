"""The steps that write a collection in columnar form."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from harness.collection import corpus, corpus_write, limited
from harness.collection.limited import Limits
from harness.collection.queries import write_judgements, write_queries
from harness.errors import SHOWN, ContractError, Fault, HarnessError, Problems
from harness.execution.task import Outcome, Task
from harness.step_context import CURRENT
from harness.steps import read as steps
from harness.steps.read import ReadCorpus, ReadJudgements, ReadQueries

Step = TypeVar("Step")


MOST = 100  # faults that are looked for in the files of one part
SECONDS = 20.0  # after so long no file is read again for more faults


def _with_every_fault(read: Callable[[Step, Task], Outcome]) -> Callable[[Step, Task], Outcome]:
    """The reader of a part. If it finds a line with a fault, it reads again without that line, and so on, so
    that the user hears of all faults of all its files at once."""

    @functools.wraps(read)
    def complete(step: Step, task: Task) -> Outcome:
        faults: dict[Path, dict[int, str]] = {}
        left_out: dict[Path, set[int]] = {}
        context, until = CURRENT.get(), time.monotonic() + SECONDS
        while not faults or (sum(map(len, faults.values())) < MOST and time.monotonic() < until):
            token = CURRENT.set(context._replace(left_out=left_out))
            try:
                outcome = read(step, task)
                if not faults:
                    return outcome
                break
            except Fault as fault:
                lines = faults.setdefault(fault.file, {})
                if fault.line in lines:  # the reader does not leave lines out
                    break
                lines[fault.line] = str(fault)
                left_out.setdefault(fault.file, set()).update(range(fault.line, fault.last + 1))
            except (HarnessError, ContractError) as error:
                if not faults:
                    raise
                further = [str(problem) for problem in error.problems] if isinstance(error, Problems) else []
                raise Problems([*_listed(faults), *further]) from None
            finally:
                CURRENT.reset(token)
        else:
            raise Problems([*_listed(faults), "more faults may follow after these"])
        raise Problems(_listed(faults))

    return complete


def _listed(faults: Mapping[Path, Mapping[int, str]]) -> Iterator[str]:
    for file, lines in faults.items():
        yield from list(lines.values())[:SHOWN]
        if len(lines) > SHOWN:
            yield f"{file}: and {len(lines) - SHOWN} more"


@_with_every_fault
def read_corpus(step: ReadCorpus, task: Task) -> Outcome:
    source, limits = task.built(step.method), _limits(step.limits)
    if limits.passages is None:
        return Outcome(corpus.write(source, task.folder, task.progress), {})
    sample = limited.Sample(source, limits)
    return Outcome(corpus_write.write_rows(sample.rows(), sample.locate, task.folder, task.progress), {})


@_with_every_fault
def read_queries(step: ReadQueries, task: Task) -> Outcome:
    source = task.built(step.method)
    return Outcome(write_queries(limited.queries(source, _limits(step.limits)), task.folder), {})


@_with_every_fault
def read_judgements(step: ReadJudgements, task: Task) -> Outcome:
    source = task.built(step.method)
    return Outcome(write_judgements(limited.judgements(source, _limits(step.limits)), task.folder), {})


def _limits(limits: steps.Limits | None) -> Limits:
    return Limits(None, None) if limits is None else Limits(limits.queries, limits.passages)
