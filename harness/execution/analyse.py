"""The step that runs an analysis on the hits of systems."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from msgspec.structs import astuple

from harness import findings
from harness.errors import check_several, each
from harness.execution.combine import combiner, fixed
from harness.execution.make import encoding
from harness.execution.task import Outcome, Task, Texts
from harness.findings import Finding
from harness.records import Column
from harness.scoring import protocols
from harness.scoring.analysis_input import AnalysisInput, SystemRun, TrainedModel
from harness.scoring.score import judged_by
from harness.steps.analyse import Analyse, Analysed
from harness.steps.texts import Texts as PlannedTexts
from harness.types import Hits


def analyse(step: Analyse, task: Task) -> Outcome:
    read, queries = task.corpus(step.corpus), task.queries(step.queries)
    data = AnalysisInput(
        dataset=step.dataset,
        language=step.language,
        notes=step.notes,
        queries=queries,
        judged=judged_by(step.rules, read, queries, task.judgements(step.judgements)),
        rules=step.rules,
        corpus=read,
        systems=_system_runs(step, task),
        columns=tuple(Column(column.measure, column.unit) for column in step.columns),
        judged_of={
            name: judged_by(step.rules, read, queries, task.judgements(judgements))
            for name, judgements in step.judgements_of.items()
        },
        queries_of={name: task.queries(ref) for name, ref in step.queries_of.items()},
        encode=None if step.encoder is None else encoding(step.encoder, task),
        plugin_measures=protocols.measures_of_plugins(task.catalogue),
    )
    entries = []
    for finding in each(task.built(step.method).analyse(data), Finding, "the findings of an analysis"):
        check_several(finding.flags, "the flags of a finding")
        name = f"{finding.name}/{data.dataset}"
        flags = (*finding.flags, *data.notes)
        changed = dataclasses.replace(finding, name=name, dataset=data.dataset, flags=flags)
        entries.append(findings.entry(changed))
        task.progress(len(entries), None)
    return Outcome({"analyses": entries}, {})


def _system_runs(step: Analyse, task: Task) -> tuple[SystemRun, ...]:
    """The systems of the analysis. Systems that read the same texts share one view, which holds open files
    and a number for each text."""
    views: dict[PlannedTexts, Texts] = {}
    runs = []
    for system in step.systems:
        if system.texts not in views:
            views[system.texts] = task.texts(system.texts)
        runs.append(_system_run(system, task, views[system.texts]))
    return tuple(runs)


def _system_run(system: Analysed, task: Task, texts: Texts) -> SystemRun:
    combine, trained = system.combine, system.trained

    @functools.cache  # a combiner reads its inputs once, and remembers the scores that it asked for
    def merged(parameter: str) -> Callable[[Any], Hits]:
        assert combine is not None
        return combiner(combine, task, parameter)

    def vary(parameter: str, value: float) -> Hits:
        return merged(parameter)(value)

    reported = []
    for source in system.reporting:
        facts = task.store.read(source.step, trust=True).facts.get("reported")
        if facts:
            reported.append({"step": source.kind, "method": source.method, "facts": facts})
    return SystemRun(
        name=system.name,
        unit=system.unit,
        hits=task.hits(system.hits),
        context=system.context,
        stages=tuple(stage.step for stage in system.texts.stages),
        retriever=system.retriever,
        texts=texts,
        reported=tuple(reported),
        parameters=tuple(combine.method.given) if combine else (),
        vary=vary if combine else None,
        fixed=functools.partial(fixed, combine, task) if combine and combine.learned else None,
        search=system.search,
        reranks=system.reranks,
        trained=None if trained is None else TrainedModel(*astuple(trained)),
    )
