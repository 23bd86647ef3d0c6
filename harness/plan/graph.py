"""The plan as data: a graph of content-addressed steps, and the rows that are scored from these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.problems import Need
from harness.suite import DatasetSpec, Suite
from harness.types import JSON, Card, Part, Unit


class Step(NamedTuple):
    """A step of the plan, as plain data, so that any engine can execute it on a shared store."""

    kind: str
    key: str  # SHA-256 of `described`
    dataset: str
    subject: str  # the system, or the method with its parameters; empty for the parts of a dataset
    described: dict[str, JSON]  # everything that can change a number of the result
    work: dict[str, JSON]  # everything that a worker needs to execute the step
    inputs: tuple[str, ...]  # ids of steps
    needs: tuple[Need, ...]  # the needs of the step and of its inputs

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.key}"

    @property
    def label(self) -> str:
        """The step as people read it: `index · scifact · bm25 (k1=0.9)`."""
        return " · ".join(filter(None, (self.kind, self.dataset, self.subject)))


class Row(NamedTuple):
    """One row of the leaderboard, before it is scored."""

    dataset: str
    split: str
    system: str
    unit: Unit
    hits: str | None  # the id of the step whose hits are scored
    error: str | None  # why there are no hits
    selected: bool  # whether `only` names the row
    labels: str | None = None  # the id of the step that says which hits contain an answer
    texts: JSON = None  # the texts that the system's first retriever of passages reads, as in a step's work


class Collection(NamedTuple):
    """A dataset of the suite as planned: its card and the steps that make it columnar."""

    spec: DatasetSpec
    card: Card
    parts: dict[Part, str]  # ids of steps; empty if the dataset's plugin failed
    needs: tuple[Need, ...]
    error: str | None
    stages: tuple[str, ...] = ()  # of a made dataset: the `make` steps in order

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of all steps that a run executes for the dataset: its parts, and its stages, which may
        change no part."""
        return (*self.parts.values(), *self.stages)


class Analysis(NamedTuple):
    """An analysis of the suite, with the data that its steps share. There is one step for each dataset."""

    name: str
    described: dict[str, JSON]
    work: dict[str, JSON]
    measures: dict[str, JSON]  # the measures of plugins by name, each with its description for a key
    needs: tuple[Need, ...]
    datasets: tuple[str, ...] = ()  # further datasets of the suite whose judgements the analysis reads
    encoder: JSON = None  # the work of the retriever that it encodes texts with, if it names one
    queries_of: tuple[
        tuple[str, str], ...
    ] = ()  # further splits that the analysis reads, each with the step of its queries


@dataclass(frozen=True)
class Plan:
    suite: Suite
    steps: dict[str, Step]  # by id; each step comes after its inputs
    collections: dict[str, Collection]
    rows: tuple[Row, ...]
    analyses: tuple[Analysis, ...] = ()
    rules: dict[str, JSON] = field(default_factory=dict)  # `harness.scoring.rules.Rules` of each collection

    def ancestors(self, ids: Sequence[str], stop_at: Callable[[Step], bool] | None = None) -> set[str]:
        """The steps `ids` and all steps that they read, directly or not. The inputs of a step for which
        `stop_at` is true are not followed; the step itself is in the set."""
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
        """The number of rows that each step serves, by the step's id."""
        counts = dict.fromkeys(self.steps, 0)
        for row in self.rows:
            for step in self.ancestors([row.hits]) if row.hits else ():
                counts[step] += 1
        return counts
