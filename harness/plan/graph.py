"""The plan as data: a graph of content-addressed steps, and the rows that are scored from these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, cast

from harness.errors import Problems
from harness.problems import Need, Problem
from harness.records import IndexBytes
from harness.steps import AnyKind
from harness.steps.record import AnyRecord, Method, Record, Ref, Uses
from harness.steps.results import Corpus, Hits, Judgements, Queries
from harness.steps.rules import Rules
from harness.steps.texts import Encoder, IndexedRetriever, Texts
from harness.suite import DatasetSpec, Suite
from harness.types import Card, Part, Unit

Result = TypeVar("Result")


class Step(NamedTuple):
    """A step of the plan: its record, with what the plan knows of it."""

    record: AnyKind
    key: str  # SHA-256 of what is keyed of the record
    dataset: str
    subject: str  # the system, or the method with its parameters; empty for the parts of a dataset
    inputs: tuple[str, ...]  # the steps that the record refers to
    needs: tuple[Need, ...] = ()  # the needs of the step and of its inputs
    parts: tuple[str, ...] = ()  # of a step that several workers share: the steps that it joins
    index_bytes: IndexBytes | None = None  # of an index whose method says what it takes on disk

    @property
    def kind(self) -> str:
        return self.record.kind

    @property
    def id(self) -> str:
        return f"{self.kind}-{self.key}"

    @property
    def label(self) -> str:
        """The step as people read it: `index · scifact · bm25 (k1=0.9)`."""
        return " · ".join(filter(None, (self.kind, self.dataset, self.subject)))


def step_of(record: AnyRecord, dataset: str = "", subject: str = "", needs: Sequence[Need] = ()) -> Step:
    """The one maker of steps: its key and its inputs follow from the record."""
    return Step(cast("AnyKind", record), record.key, dataset, subject, record.inputs, tuple(needs))


class Graph:
    """The steps of a plan. `add` is the only way in."""

    def __init__(self, steps: Mapping[str, Step] | None = None) -> None:
        self.steps = dict(steps or {})  # by id; each step comes after its inputs

    def add(
        self,
        record: Record[Result],
        dataset: str,
        subject: str = "",
        needs: Sequence[Need] = (),
        index_bytes: IndexBytes | None = None,
    ) -> Ref[Result]:
        """Add a step unless there is one with its key."""
        step = step_of(record, dataset, subject)._replace(index_bytes=index_bytes)
        inherited = [need for name in step.inputs for need in self.steps[name].needs]
        step = step._replace(needs=tuple(dict.fromkeys([*needs, *inherited])))
        self.steps.setdefault(step.id, step)
        return Ref(step.id)

    def record(self, ref: Ref[Any] | str) -> AnyKind:
        return self.steps[ref if isinstance(ref, str) else ref.step].record


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
    texts: Texts | None = None  # the texts that the system's first retriever of passages reads

    @property
    def steps(self) -> tuple[str, ...]:
        """The ids of the steps that a run executes for the row; empty if it has no hits."""
        return tuple(step for step in (self.hits, self.labels) if step is not None)


class Parts(NamedTuple):
    """The steps that make a dataset columnar."""

    corpus: Ref[Corpus]
    queries: Ref[Queries]
    judgements: Ref[Judgements]

    @property
    def steps(self) -> dict[Part, str]:
        """The ids of the steps by part."""
        refs: dict[Part, Ref[Any]] = {
            "corpus": self.corpus, "queries": self.queries, "judgements": self.judgements
        }  # fmt: skip
        return {part: ref.step for part, ref in refs.items()}


class Collection(NamedTuple):
    """A dataset of the suite as planned: its card and the steps that make it columnar."""

    spec: DatasetSpec
    card: Card
    parts: Parts | None  # None if the dataset's plugin failed, or lacks something
    needs: tuple[Need, ...]
    error: str | None
    stages: tuple[str, ...] = ()  # of a made dataset: the `make` steps in order

    @property
    def planned(self) -> Parts:
        """The parts of a collection that has them."""
        assert self.parts is not None
        return self.parts

    @property
    def steps(self) -> dict[Part, str]:
        """The ids of the steps of the parts; empty if there are none."""
        return {} if self.parts is None else self.parts.steps

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of all steps that a run executes for the dataset: its parts, and its stages, which may
        change no part."""
        return (*self.steps.values(), *self.stages)


class Output(NamedTuple):
    """A planned system, as the systems that build on it need it."""

    hits: Ref[Hits]
    texts: Texts  # that the system's first input that ranks passages reads
    searcher: IndexedRetriever | None = None  # how to search again, if the hits are a retriever's own
    needs: tuple[Need, ...] = ()  # of the searcher

    @property
    def unit(self) -> Unit:
        return self.texts.unit


class Analysis(NamedTuple):
    """An analysis of the suite, with the data that its steps share. There is one step for each dataset."""

    name: str
    method: Method
    measures: dict[str, Uses]  # the measures of plugins, by name
    needs: tuple[Need, ...]
    datasets: tuple[str, ...] = ()  # further datasets of the suite whose judgements the analysis reads
    encoders: Mapping[str, Encoder] = {}  # by dataset: the retriever that it encodes texts with
    queries_of: tuple[tuple[str, Ref[Queries]], ...] = ()  # further splits that the analysis reads


class Unplanned(Problems):
    """The problems of a suite that cannot be planned, and the steps that could be."""

    def __init__(self, problems: Iterable[Problem | str], steps: Mapping[str, Step]) -> None:
        super().__init__(problems)
        self.steps = steps


@dataclass(frozen=True)
class Plan:
    suite: Suite
    steps: dict[str, Step]  # by id; each step comes after its inputs
    collections: dict[str, Collection]
    rows: tuple[Row, ...]
    analyses: tuple[Analysis, ...] = ()
    rules: dict[str, Rules] = field(default_factory=dict)  # of each collection

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
