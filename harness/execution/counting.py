"""Counts that searchers and scorers report. They add up over the parts of a step, and over its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from harness.contracts import Reporting
from harness.errors import ContractError


def counts_of(method: Any) -> dict[str, int]:
    """The counts that a searcher or scorer has reported so far; none if it does not report. Raises
    ContractError for a value that is no whole number."""
    report = dict(method.report()) if isinstance(method, Reporting) else {}
    for name, value in report.items():
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ContractError(f"it reports counts, but '{name}' is {value!r}")
    return {name: int(value) for name, value in report.items()}


def since(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """By how much each count has grown. A count that `before` lacks was 0 then."""
    return {name: count - before.get(name, 0) for name, count in now.items()}


def added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The sum of each count over the parts of a step."""
    total: dict[str, int] = {}
    for part in counts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total
