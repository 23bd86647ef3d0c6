"""How a measure depends on the number of passages per query in training (RocketQAv2, figure 4)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.plugin import AnalysisInput, Finding, SystemRun
from harness.toolkit.scoring import system_means_of_groups

LEAST = 3  # the fewest different numbers of passages that make a curve


class Instances:
    def __init__(self, params: Any) -> None:
        pass

    def analyse(self, data: AnalysisInput) -> Iterator[Finding]:
        """One curve for each recipe of systems that were trained alike but for the number of passages, with a
        line for each part (retriever or re-ranker)."""
        everyone = {"": np.ones(len(data.queries.ids), np.bool_)}
        means = {name: mean for name, _, mean, _ in system_means_of_groups(data, everyone)}
        curves: dict[str, list[tuple[int, float, str]]] = {}
        for system in data.systems:
            if system.trained is not None and system.name in means:
                point = (system.trained.negatives + 1, round(means[system.name], 6), part(system))
                curves.setdefault(recipe(system), []).append(point)
        label = data.columns[0].label
        for name, points in curves.items():
            if len({instances for instances, _, _ in points}) >= LEAST:
                yield Finding(
                    name=f"instances/{name}",
                    title=f"Instances a query: {name}, {data.dataset}",
                    kind="line", columns=("instances", label, "part"), rows=tuple(sorted(points)),
                    x="instances", y=label, series="part",
                    says="The measure against the number of passages of a query in training, the positive "
                    "among them (RocketQAv2, figure 4), for systems that were trained alike in all else.",
                )  # fmt: skip


def part(system: SystemRun) -> str:
    return "re-ranker" if system.reranks else "retriever"


def recipe(system: SystemRun) -> str:
    """The training without the number of passages."""
    assert system.trained is not None
    trained = system.trained
    alike = json.dumps([trained.params, trained.settings], sort_keys=True)
    return f"{trained.trainer} {hashlib.sha256(alike.encode()).hexdigest()[:6]}"
