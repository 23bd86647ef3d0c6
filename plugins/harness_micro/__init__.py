"""Micro-averaged recall: retrieved relevant passages / all relevant passages, summed over the queries."""

from __future__ import annotations

from collections.abc import Iterable

from harness.plugin import Measure, hookimpl


@hookimpl
def harness_measures() -> Iterable[Measure]:
    yield Measure(
        name="MicroR",
        summary="micro-averaged recall over all judged queries",
        build="harness_micro.recall:all_judged",
        ratio=True,
    )
    yield Measure(
        name="MicroRAnswered",
        summary="micro-averaged recall as T2Ranking's script has it: queries without a result are left out",
        build="harness_micro.recall:answered",
        ratio=True,
    )
