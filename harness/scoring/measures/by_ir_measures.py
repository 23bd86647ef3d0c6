"""Computes the measures that have no kernel here with ir-measures, from the harness' ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import ir_measures
import numpy as np
from numpy.typing import NDArray

from harness.errors import HarnessError
from harness.problems import unknown
from harness.scoring.measures.names import Metric, Slot, meant
from harness.types import Ints


def family_of(name: str, text: str, known: Iterable[str]) -> tuple[str, dict[str, Slot], str, dict[str, Any]]:
    """The measure of ir-measures called `name`: its own name, its parameters, the parameter that an @ sets,
    and the parameters that an alias presets. Raises HarnessError if there is none."""
    registry = ir_measures.measures.registry
    if name not in registry:
        close = meant(text, known, registry)
        if close is not None:
            raise HarnessError(f"{text}: unknown measure '{name}'; did you mean '{close}'?")
        raise HarnessError(f"{text}: {unknown('measure', name, {*known, *registry})}")
    measure = registry[name]
    slots = {
        key: Slot(info.dtype, None if info.default is _NOTHING else info.default, info.required)
        for key, info in measure.SUPPORTED_PARAMS.items()
    }
    return measure.NAME, slots, measure.AT_PARAM, dict(measure.params)


def check_supported(metric: Metric) -> None:
    """Raises HarnessError if no installed provider of ir-measures computes the metric."""
    try:
        ir_measures.evaluator([_measure(metric)], [])
    except (ValueError, AssertionError) as error:
        measure, providers = _measure(metric), ir_measures.providers.registry.values()
        able = [each for each in providers if not each.is_available() and each.supports(measure)]
        commands = [str(each.install_instructions() or each.NAME) for each in able]  # type: ignore[no-untyped-call]
        raise HarnessError(
            f"{metric.name}: ir-measures computes it with a package that is not here; {' or '.join(commands)}"
            if commands
            else f"{metric.name}: ir-measures cannot compute it ({error}); choose another"
        ) from None


def values(
    metrics: Sequence[Metric], ranked: Ints, query: Ints, passage: Ints, grade: NDArray[np.int32]
) -> list[NDArray[np.float64]]:
    """The values of each metric (float64[Q]), from the ranking (int64[Q, k]) and its judgements. Each
    provider is given scores that fall by 1 per rank, so that it uses the harness' order."""
    # trec_eval takes any negative grade for "pooled, but not judged", which only these measures tell from
    # irrelevant. On grades below -1 pytrec_eval may read outside its arrays or never return.
    columns = [np.zeros(len(ranked)) for _ in metrics]
    run = _run(ranked)
    for lowest in (-1, 0):
        chosen = {
            _measure(metric): place
            for place, metric in enumerate(metrics)
            if (metric.family in ("Bpref", "infAP") or bool(metric.params.get("judged_only"))) == (lowest < 0)
        }
        if chosen:
            qrels = _qrels(query, passage, np.maximum(grade, lowest))
            for value in ir_measures.iter_calc(list(chosen), qrels, run):
                columns[chosen[value.measure]][int(value.query_id)] = value.value
    return columns


def _qrels(query: Ints, passage: Ints, grade: NDArray[np.int32]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for row, position, value in zip(query.tolist(), passage.tolist(), grade.tolist(), strict=True):
        qrels.setdefault(str(row), {})[str(position)] = value
    return qrels


def _run(ranked: Ints) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for row, positions in enumerate(ranked):
        names = [str(position) for position in positions[positions >= 0].tolist()]
        if names:
            run[str(row)] = {name: float(len(names) - rank) for rank, name in enumerate(names)}
    return run


def _measure(metric: Metric) -> Any:
    return type(ir_measures.measures.registry[metric.family])(**metric.params)


_NOTHING = ir_measures.providers.base.NOT_PROVIDED
