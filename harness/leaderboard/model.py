"""The leaderboard file as types, used by all code that builds, reads, merges or shows a leaderboard."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from harness.findings import Finding
from harness.scoring.limits import Count, Limits, Scored
from harness.types import ColumnUnit, Unit

Origin: TypeAlias = Literal["run", "imported", "published"]
Number: TypeAlias = int | float  # kept as written in the file: 1 is not rewritten as 1.0
NoLatency: TypeAlias = Literal["streaming", "service", "precomputed", "folds", "unmeasured"]
Digits: TypeAlias = Annotated[int, Meta(ge=0, le=30)]

# A key with the default UNSET is missing in files written before it existed, and stays missing.


class Source(Struct, frozen=True):
    """The table of a paper that prints a number, the number as printed, and how many digits this gives."""

    url: str
    table: int
    page: int | None
    section: str
    printed: str
    digits: Digits


class Measure(Struct, frozen=True):
    """The mean of a measure over the scored queries, with its 95 % bootstrap interval. A published number has
    no interval and no count of queries; it cites the tables that print it."""

    mean: float
    ci95: tuple[float, float] | None
    queries: Count | None
    sources: tuple[Source, ...] | UnsetType = UNSET


class Slice(Struct, frozen=True):
    """The measures over the queries of one slice."""

    queries: Count
    measures: dict[str, Measure]


class File(Struct, frozen=True):
    """A file beside the leaderboard, with its SHA-256."""

    path: str
    sha256: str


class Step(Struct, frozen=True, kw_only=True):
    """One step of a row: the method, its resolved parameters, and the plugin that offers it."""

    step: str  # the kind of the step
    key: str
    name: str
    version: str
    sources: str | None
    libraries: dict[str, str]
    params: dict[str, Any]
    uses: list[Any] | UnsetType = UNSET
    training: dict[str, Any] | UnsetType = UNSET  # how a made model was trained: seed, segment, negatives
    plugin: str


class Provenance(Struct, frozen=True):
    """The key of the ranking that was scored, and all steps that led to it."""

    fingerprint: str | None
    seed: Count
    steps: tuple[Step, ...] = ()


class Reported(Struct, frozen=True):
    """Facts that a method reports about its work, such as how many passages it changed."""

    step: str
    method: str
    facts: dict[str, Any]


class Tuning(Struct, frozen=True, kw_only=True):
    """A tuned parameter, or several tuned together: the values tried, the score of each, and the value chosen
    (for each fold, if there are folds). Values that are not numbers, or that set several parameters, are
    texts: `k1=0.9, b=0.4`."""

    key: str
    on: str
    curve: tuple[Number, ...]
    folds: tuple[Number | str, ...] | None
    measure: str
    parameter: str
    queries: Count
    slices: dict[str, list[Number]]
    value: Number | str | None
    values: tuple[Number | str, ...]
    learned: tuple[dict[str, Any], ...] | UnsetType = (
        UNSET  # for each fold, the model of a value for each query
    )

    def __post_init__(self) -> None:
        if len(self.values) != len(self.curve):
            raise ValueError(f"has {len(self.values)} values and {len(self.curve)} scores")
        if self.value is None and not self.folds:
            raise ValueError("has neither a value nor folds")


class Latency(Struct, frozen=True):
    """The milliseconds that a query takes alone, through all stages of a system one after the other."""

    p50: Number
    p95: Number
    queries: Count | UnsetType = UNSET  # the number of queries that were measured


class ContextCost(Struct, frozen=True):
    """The time that one context-augmenter of a row took, and its speed."""

    seconds: Number
    words_per_second: Number


class ServiceCost(Struct, frozen=True, omit_defaults=True):
    """What a row's own steps requested from services. The price of `unsure` requests is unknown; each counts
    with the most that it may have cost."""

    requests: Count
    unsure: Count
    input_tokens: Count
    output_tokens: Count
    money: Number
    kept: Count  # answers that came from the store
    retries: dict[str, Count]  # by reason
    cached_tokens: Count = 0  # of the input tokens: those that the services had in their caches


class Cost(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the first executions of a row's own steps cost. All fields are missing if nothing was executed."""

    seconds: Number | None = None
    cpu_seconds: Number | None = None
    peak_mb: Number | None = None
    energy_joules: Number | None = None  # of the machine during the steps; None if it has no counters
    bytes: Count | None = None
    compile_seconds: Number | None = None  # spent once for each store; not part of `seconds`
    tuning_seconds: Number | None = None  # finding the tuned values; not part of `seconds`
    training_tokens_per_second: Number | None = None  # of the last training of its models
    training_peak_mb: Number | None = None
    training_energy_joules: Number | None = None  # of the machine while the row's models were made
    training_seconds: Number | None = None  # making the row's models, with their negatives and validation
    contexts: dict[str, ContextCost] | None = None
    augment_seconds: Number | None = None
    index_seconds: Number | None = None
    rewrite_seconds: Number | None = None
    search_seconds: Number | None = None
    combine_seconds: Number | None = None
    rerank_seconds: Number | None = None
    search_latency_ms: Latency | None = None
    no_latency: NoLatency | None = None  # why there is none
    services: ServiceCost | None = None
    machine: str | None = None  # where the row was run, if rows of several machines were merged


class Row(Struct, frozen=True, kw_only=True):
    """A row: one system on one dataset."""

    dataset: str
    split: str
    system: str
    recipe: str | UnsetType = UNSET  # the system without its seed, if its models have several seeds
    unit: Unit
    protocol: str | None
    origin: Origin
    status: Literal["ok", "failed"]
    error: str | None
    flags: tuple[str, ...]
    measures: dict[str, Measure]
    slices: dict[str, Slice]
    scored: Scored
    limits: dict[str, Limits] | UnsetType = UNSET
    reported: tuple[Reported, ...] | UnsetType = UNSET
    tuning: tuple[Tuning, ...] | UnsetType = UNSET
    files: dict[str, File]
    provenance: Provenance
    cost: Cost

    @property
    def name(self) -> str:
        """The row's name in messages."""
        return f"{self.dataset} / {self.system}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: the flags, and how many queries have no hits."""
        if not self.scored.unanswered:
            return self.flags
        count = self.scored.unanswered
        return (
            *self.flags,
            f"{count:,} of its queries {'has' if count == 1 else 'have'} no hits: each scores 0",
        )


def published_row(
    *, dataset: str, split: str, system: str, protocol: str | None, measures: dict[str, Measure],
    reported: tuple[Reported, ...] = (),
) -> Row:  # fmt: skip
    """A row that cites or claims means. Nothing of it was run or scored here."""
    return Row(
        dataset=dataset, split=split, system=system, unit="passage", protocol=protocol, origin="published",
        status="ok", error=None, flags=(), measures=measures, slices={}, scored=Scored(), limits={},
        reported=reported, tuning=(), files={}, provenance=Provenance(None, 0), cost=Cost(),
    )  # fmt: skip


class AverageRow(Struct, frozen=True):
    """The means of a system over a group of datasets. `queries` of a measure counts those of all datasets."""

    system: str
    origin: Origin
    measures: dict[str, Measure]


class Average(Struct, frozen=True):
    """The means over a group of datasets, for the systems that have a row on each of them."""

    name: str
    datasets: tuple[str, ...]
    rows: tuple[AverageRow, ...]


class DroppedPart(Struct, frozen=True):
    """What a stage of making a dataset left out, and why."""

    what: str
    why: str
    count: Count


class MadeStage(Struct, frozen=True, kw_only=True):
    """A stage of making a dataset: the maker, with counts before and after it."""

    maker: str
    params: dict[str, Any]
    before: dict[str, Count]
    after: dict[str, Count]
    dropped: tuple[DroppedPart, ...]
    facts: dict[str, Any]
    judges: dict[Literal["person", "machine"], Count] | UnsetType = UNSET  # counts of decisions by judge


class Dataset(Struct, frozen=True, kw_only=True):
    """A dataset as it was read. The digests distinguish its data from other data of the same name."""

    name: str
    split: str
    plugin: str | None
    params: dict[str, Any]
    language: str | None
    query_language: str | None
    licence: str | None
    citation: str | None
    url: str | None
    notes: tuple[str, ...] | UnsetType = UNSET
    unknown_judgements: Literal["keep", "drop", "refuse"] | UnsetType = UNSET
    limited: dict[str, Count] | UnsetType = UNSET  # in a trial: the limits on queries and passages
    counts: dict[str, Count]
    digests: dict[str, str]  # part -> the key of the step that read it
    made: tuple[MadeStage, ...] | UnsetType = UNSET  # the stages, if the suite makes the dataset
    contents: dict[str, str] | UnsetType = UNSET  # part -> digest of its content, for any plugin


class Column(Struct, frozen=True):
    label: str
    measure: str
    unit: ColumnUnit
    says: str


class Beside(Struct, frozen=True, rename={"split": "as"}):
    """A published leaderboard whose rows may be shown beside rows of another split."""

    published: str
    split: str


class SuiteFacts(Struct, frozen=True, kw_only=True):
    """The settings of a suite that decide the numbers of its leaderboard."""

    digest: str
    depth: Annotated[int, Meta(ge=1)] | None
    seed: Count
    protocol: str | None
    measures: tuple[str, ...]
    averages: dict[str, tuple[str, ...]] | UnsetType = UNSET  # name -> datasets
    beside: tuple[Beside, ...] | UnsetType = UNSET


class Environment(
    Struct, frozen=True, kw_only=True, omit_defaults=True, rename={"harness": "passage-harness"}
):
    """The versions and the machine that made the rows. All fields are missing if they are not known, as for
    rows from elsewhere."""

    harness: str | None = None
    python: str | None = None
    libraries: dict[str, str] | None = None
    system: str | None = None
    cpu: str | None = None
    cores: int | str | None = None  # a text if the merged machines differ
    merged: tuple[Environment, ...] | None = None


class Board(Struct, frozen=True, kw_only=True):
    """A leaderboard. The same inputs give the same one, apart from `environment` and the rows' `cost`."""

    schema: str
    name: str
    description: str
    suite: SuiteFacts
    datasets: tuple[Dataset, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    averages: tuple[Average, ...] | UnsetType = UNSET
    analyses: tuple[Finding, ...] | UnsetType = UNSET
    environment: Environment
