"""The plan as data: a graph of content-addressed steps and the rows that are scored from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.problems import Need
from harness.suite import DatasetSpec, Suite
from harness.types import JSON, Card, Part, Unit


class Step(NamedTuple):
    """One node of the graph: plain data, so that any engine can execute it on a shared store."""

    kind: str
    key: str  # SHA-256 of `described`
    dataset: str
    subject: str  # the system, or the method with its parameters; empty for the parts of a dataset
    described: dict[str, JSON]  # all that can change a number
    work: dict[str, JSON]  # what a worker needs to do it; `inputs` are ids of steps
    inputs: tuple[str, ...]
    needs: tuple[Need, ...]  # those of its inputs too

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.key}"

    @property
    def label(self) -> str:
        """The step as people read it: `index · scifact · bm25 (k1=0.9)`."""
        return " · ".join(filter(None, (self.kind, self.dataset, self.subject)))


class Row(NamedTuple):
    """One row of the leaderboard to be."""

    dataset: str
    split: str
    system: str
    unit: Unit
    hits: str | None  # the id of the step whose hits are scored
    error: str | None  # why there is none
    selected: bool  # named by `only`
    labels: str | None = None  # the id of the step that says which of these contain an answer
    texts: JSON = None  # what its first retriever of passages reads, as a step's work has it


class Collection(NamedTuple):
    """A dataset of the suite: its card and the steps that make it columnar."""

    spec: DatasetSpec
    card: Card
    parts: dict[Part, str]  # ids of steps; empty if the dataset's plugin failed
    needs: tuple[Need, ...]
    error: str | None
    stages: tuple[str, ...] = ()  # of a made dataset: the `make` steps in order

    @property
    def targets(self) -> tuple[str, ...]:
        """All that a run makes of the dataset: its parts, and stages that leave none."""
        return (*self.parts.values(), *self.stages)


class Analysis(NamedTuple):
    """An analysis of the suite: what its steps, one for each dataset, have in common."""

    name: str
    described: dict[str, JSON]
    work: dict[str, JSON]
    measures: dict[str, JSON]  # of plugins, by name: what of each enters a key
    needs: tuple[Need, ...]
    datasets: tuple[str, ...] = ()  # of the suite, whose judgements it reads too


@dataclass(frozen=True)
class Plan:
    suite: Suite
    steps: dict[str, Step]  # by id, inputs before what reads them
    collections: dict[str, Collection]
    rows: tuple[Row, ...]
    analyses: tuple[Analysis, ...] = ()
    rules: dict[str, JSON] = field(default_factory=dict)  # `harness.scoring.rules.Rules` of each collection

    def ancestors(self, ids: Sequence[str], stop_at: Callable[[Step], bool] | None = None) -> set[str]:
        """These steps and all that they read, directly or not. Traversal stops at steps where `stop_at` is
        true: they are in the set, their inputs are not."""
        visited: set[str] = set()
        stack = list(ids)
        while stack:
            step = stack.pop()
            if step not in visited:
                visited.add(step)
                if stop_at is None or not stop_at(self.steps[step]):
                    stack.extend(self.steps[step].inputs)
        return visited

    def used_by(self) -> dict[str, int]:
        """How many rows each step serves."""
        counts = dict.fromkeys(self.steps, 0)
        for row in self.rows:
            for step in self.ancestors([row.hits]) if row.hits else ():
                counts[step] += 1
        return counts
