"""The step that runs an analysis on the hits of systems."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import orjson

from harness import findings
from harness.collection.queries import read_judgements, read_queries
from harness.errors import check_several, each
from harness.execution.steps.collecting import encoder
from harness.execution.steps.combining import combiner
from harness.execution.steps.task import Outcome, Task, Texts
from harness.findings import Finding
from harness.records import Column
from harness.scoring import protocols
from harness.scoring.analysis_input import AnalysisInput, SystemRun
from harness.scoring.rules import Rules
from harness.store import hits_files
from harness.types import JSON, Hits


def analyse(task: Task) -> Outcome:
    work, read, queries = task.work, task.corpus(), task.queries()
    stored, how = read_judgements(task.input("judgements").folder), Rules(**work["rules"])
    data = AnalysisInput(
        dataset=work["dataset"],
        language=work["language"],
        notes=tuple(work["notes"]),
        queries=queries,
        judged=how.judging(read, queries, stored).judged,
        rules=how,
        corpus=read,
        systems=_system_runs(task),
        columns=tuple(Column(measure, unit) for measure, unit in work["columns"]),
        judged_of={
            name: how.judging(read, queries, read_judgements(task.store.read(step).folder)).judged
            for name, step in work["judgements_of"].items()
        },
        queries_of={
            name: read_queries(task.store.read(step).folder) for name, step in work["queries_of"].items()
        },
        encode=encoder(task),
        plugin_measures=protocols.measures_of_plugins(task.catalogue),
    )
    entries = []
    for finding in each(task.method().analyse(data), Finding, "the findings of an analysis"):
        check_several(finding.flags, "the flags of a finding")
        name = f"{finding.name}/{data.dataset}"
        flags = (*finding.flags, *data.notes)
        changed = dataclasses.replace(finding, name=name, dataset=data.dataset, flags=flags)
        entries.append(findings.entry(changed))
        task.progress(len(entries), None)
    return Outcome({"analyses": entries}, {})


def _system_runs(task: Task) -> tuple[SystemRun, ...]:
    """The systems of the analysis. Systems that read the same texts share one view, which holds open files
    and a number for each text."""
    views: dict[bytes, Texts] = {}
    runs = []
    for system in task.work["systems"]:
        key = orjson.dumps(system["texts"], option=orjson.OPT_SORT_KEYS)
        if key not in views:
            views[key] = task.texts(system)
        runs.append(_system_run(task, system, views[key]))
    return tuple(runs)


def _system_run(task: Task, described: JSON, texts: Texts) -> SystemRun:
    @functools.cache  # a combiner reads its inputs once, and remembers the scores that it asked for
    def merged(parameter: str) -> Callable[[Any], Hits]:
        work = {**described["combine"], "parameter": parameter}
        return combiner(dataclasses.replace(task, kind="tune", work=work))

    def vary(parameter: str, value: float) -> Hits:
        return merged(parameter)(value)

    reported = []
    for kind, method, step in described["telling"]:
        facts = task.store.read(step, trust=True).facts.get("reported")
        if facts:
            reported.append({"step": kind, "method": method, "facts": facts})
    return SystemRun(
        name=described["name"],
        unit=described["unit"],
        hits=hits_files.load(task.store.read(described["hits"])),
        context=tuple(described["context"]),
        stages=tuple(described["texts"]["stages"]),
        retriever=described["retriever"],
        texts=texts,
        reported=tuple(reported),
        parameters=tuple(described["combine"]["method"]["params"]) if described["combine"] else (),
        vary=vary if described["combine"] else None,
    )
