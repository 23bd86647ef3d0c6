"""Compares the forms in which an index is stored: quality against bytes, with what the loss is at most."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.plugin import JSON, AnalysisInput, Column, Finding, SystemRun
from harness.toolkit.scoring import ALPHA, Difference, differences, interval
from harness_analyses import CompressionParams

if TYPE_CHECKING:
    from harness.toolkit.scoring import Scored

BYTES = "bytes_a_text"  # the fact that a method reports of its index
NEAREST = 100


class Form(NamedTuple):
    """A system, with what its index takes for a text."""

    system: SystemRun
    bytes: float
    label: str  # the parameters in which it differs from the others, without the number of dimensions


class Compression:
    def __init__(self, params: CompressionParams) -> None:
        self._params = params

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        for forms in self._families(data):
            yield from self._compared(data, forms)

    def _families(self, data: AnalysisInput) -> Iterator[list[Form]]:
        """The systems that differ only in how their index is stored and searched, the largest first."""
        families: dict[str, list[tuple[SystemRun, Mapping[str, JSON], float]]] = {}
        for system in data.systems:
            indexes = [each for each in system.reported if each["step"] == "index"]
            size = indexes[-1]["facts"].get(BYTES) if indexes else None
            if system.search is None or not size:
                continue
            form = {name: system.search[name] for name in self._params.varied if name in system.search}
            same = {name: value for name, value in system.search.items() if name not in form}
            key = json.dumps([indexes[-1]["method"], system.unit, system.stages, same], sort_keys=True)
            families.setdefault(key, []).append((system, form, float(size)))
        for family in families.values():
            forms = [form for _, form, _ in family]
            names = [
                name
                for name in forms[0]
                if name != "dimensions" and any(form[name] != forms[0][name] for form in forms)
            ]
            named = [
                Form(
                    system, size, ", ".join(f"{name}={form[name]}" for name in names if form[name]) or "alike"
                )
                for system, form, size in family
            ]
            if len(named) > 1:
                yield sorted(named, key=lambda form: -form.bytes)

    def _compared(self, data: AnalysisInput, forms: list[Form]) -> Iterator[Finding]:
        full = forms[0]
        columns = tuple(column for column in data.columns if column.unit == full.system.unit)
        if not columns:
            return
        scores = [data.scores(form.system.hits, columns) for form in forms]
        measures = [[score.columns[i] for score in scores] for i in range(len(scores[0].columns))]
        by_measure = differences(measures)
        rows: list[tuple[str | float, ...]] = []
        for scored, of_forms in zip(measures, by_measure, strict=True):
            label = scored[0].column.label
            rows += [
                (
                    form.system.name, label, form.bytes, round(full.bytes / form.bytes, 2),
                    *(round(value, 4) for value in each[:4]), round(max(0.0, -each.least), 4),
                    self._verdict(each),
                )
                for form, each in zip(forms[1:], of_forms, strict=True)
            ]  # fmt: skip
        name, other = full.system.name, "the form of most bytes"
        yield Finding(
            name=f"compression/{name}", title=f"Smaller forms beside {name}", kind="table",
            columns=(
                "system", "measure", "bytes a text", "times smaller", "difference", "low", "high", "p",
                "loses at most", "shown",
            ),
            rows=tuple(rows),
            says=f"Differences from {name}, {other}, over the same queries: with the 95 % interval of each "
            "alone; p by sign flips, corrected for all forms and measures by max-T; and the most that a form "
            "loses, by an interval of 95 % for all at once.",
            flags=("whoever chooses a form by these queries selects on them",),
        )  # fmt: skip
        shares = [_shares(full, form) for form in forms]
        near = Column(f"of the {NEAREST} first of {name}")
        drawn = [*measures, [scored._replace(column=near) for scored in _as_scored(measures[0], shares)]]
        for number, scored in enumerate(drawn):
            label, summaries = scored[0].column.label, [interval(each) for each in scored]
            yield Finding(
                name=f"compression-{number + 1}/{name}", title=f"{label} by bytes a text", kind="point",
                columns=("system", "form", "bytes a text", label, "low", "high"),
                rows=tuple(
                    (form.system.name, form.label, form.bytes, each.mean, each.low, each.high)
                    for form, each in zip(forms, summaries, strict=True)
                ),
                x="bytes a text", y=label, series="form",
                says="With 95 % intervals of the means. The report's plots have the times of queries.",
            )  # fmt: skip

    def _verdict(self, each: Difference) -> str:
        if each.p < ALPHA:
            return "loses" if each.difference < 0 else "gains"
        margin = self._params.margin
        return f"loses less than {margin:g}, if anything" if -each.least < margin else "not shown to differ"


def _shares(full: Form, form: Form) -> list[float]:
    """For each query, the share of the first hits of the full form that the form has among as many."""
    shares = []
    for wanted, hits in zip(full.system.hits.passages, form.system.hits.passages, strict=True):
        best = wanted[:NEAREST][wanted[:NEAREST] >= 0]
        shares.append(float(np.isin(best, hits[:NEAREST]).mean()) if len(best) else 1.0)
    return shares


def _as_scored(like: list[Scored], shares: list[list[float]]) -> list[Scored]:
    return [
        one._replace(numerator=np.array(each), denominator=np.ones(len(each)), average="mean")
        for one, each in zip(like, shares, strict=True)
    ]
