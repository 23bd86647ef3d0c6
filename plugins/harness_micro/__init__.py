"""Micro-averaged recall: retrieved relevant passages / all relevant passages, summed over the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from harness.hookspecs import hookimpl
from harness.records import Measure


def _all_judged() -> Callable[..., Any]:
    from harness_micro.recall import all_judged

    return all_judged


def _answered() -> Callable[..., Any]:
    from harness_micro.recall import answered

    return answered


@hookimpl
def harness_measures() -> Iterable[Measure]:
    yield Measure(
        name="MicroR",
        summary="micro-averaged recall over all judged queries",
        build=_all_judged,
        ratio=True,
    )
    yield Measure(
        name="MicroRAnswered",
        summary="micro-averaged recall as T2Ranking's script has it: queries without a result are left out",
        build=_answered,
        ratio=True,
    )
