"""Regressions for CI: drops beyond a tolerance, significant drops, and rows that are gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.compare.data import Loaded
from harness.compare.significance import Compared
from harness.errors import HarnessError

EXIT_CODE = 3


class Regression(NamedTuple):
    dataset: str
    system: str
    measure: str | None  # None if the whole row is gone
    reason: str


def watched(texts: Sequence[str], labels: Sequence[str]) -> dict[str, float | None]:
    """The tolerance of each measure, from texts `MEASURE=TOLERANCE` or `MEASURE`. Without texts, every
    measure is watched, without a tolerance. A measure's own name may contain `=`."""
    tolerances: dict[str, float | None] = {}
    for text in texts:
        name, _, tolerance = text.rpartition("=")
        if text in labels:
            tolerances[text] = None
        elif name in labels:
            tolerances[name] = _tolerance(text, tolerance)
        else:
            known = ", ".join(labels)
            problem = f"expected MEASURE=TOLERANCE of one of the measures {known}"
            raise HarnessError(f"--fail-on-regression {text}: {problem}; write it after the leaderboards")
    return tolerances or dict.fromkeys(labels)


def _tolerance(text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise HarnessError(
            f"--fail-on-regression {text}: expected a number from 0 after the last '='; mend it"
        )
    return value


def regressions(loaded: Loaded, compared: Compared, watch: Mapping[str, float | None]) -> list[Regression]:
    """The rows that are gone, and the measures that fell. A measure with a tolerance may fall by no more than
    the tolerance, whatever the test says. A measure without one may not fall significantly: a fall with a
    corrected p below alpha is a regression."""
    regressed = [Regression(dataset, system, None, why) for dataset, system, why in loaded.missing]
    for item in compared.comparisons:
        if item.measure not in watch:
            continue
        tolerance, drop = watch[item.measure], -item.difference
        fall = f"fell by {drop:.4f} against {item.second}"
        if tolerance is not None:
            if drop > tolerance + 1e-12:
                reason = f"{fall}, tolerated are {tolerance:g}"
                regressed.append(Regression(item.dataset, item.first, item.measure, reason))
        elif drop > 0 and item.corrected < compared.settings.alpha:
            reason = f"{fall}, corrected p {item.corrected:.2g}"
            regressed.append(Regression(item.dataset, item.first, item.measure, reason))
    return regressed
