"""The one way to open a dataset: makes its missing parts, rebuilds damaged parts, and reads all of them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness import plan
from harness.catalogue import Catalogue
from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, judging
from harness.collection.queries import Queries, read_judgements, read_queries
from harness.errors import HarnessError, StoreError
from harness.execution.engine import NO_LIMITS, Engine, StepLimits, missing_needs
from harness.execution.progress import Reporter
from harness.execution.schedule import REBUILDS, Failure
from harness.execution.workers import LocalWorkers, Workers
from harness.plan import keys
from harness.plan.graph import Collection, Step
from harness.steps.record import method_of
from harness.store.artifacts import Store
from harness.store.manifest import NOT_KEYED, REMOVED, Artifact, Corrupt, Stamp
from harness.store.remote_transfer import fetch_missing, push_all
from harness.suite import DatasetSpec, Suite
from harness.types import JSON, PARTS, Part

T = TypeVar("T")


class Opened(NamedTuple):
    """A collection that has been read and is ready to score on."""

    corpus: Corpus
    queries: Queries
    judged: Judged
    slices: dict[str, NDArray[np.bool_]]  # name -> bool[queries]
    facts: dict[str, JSON]
    contents: dict[str, str]  # part -> digest of the data; it does not depend on the plugin's version


class Unavailable(HarnessError):
    """A dataset that cannot be opened here: its data or its plugin is missing, or reading it failed."""


def open_dataset(
    spec: DatasetSpec, catalogue: Catalogue, store: Store, reporter: Reporter, suite: Suite | None = None
) -> Opened:
    """Plan and open one dataset. A made dataset needs its suite. Raises Unavailable, or HarnessError if the
    dataset's judgements are refused."""
    collection, steps = plan.dataset(spec, catalogue, store.digests.of, suite)
    return open_collection(collection, steps, store, reporter)


def open_collection(
    collection: Collection, steps: Mapping[str, Step], store: Store, reporter: Reporter
) -> Opened:
    """Open a collection of a plan that has these `steps`. Raises as `open_dataset`."""
    return opened(
        made_parts(collection, steps, store, reporter),
        collection.spec.unknown_judgements,
        place_of(collection),
    )


def made_parts(
    collection: Collection, steps: Mapping[str, Step], store: Store, reporter: Reporter
) -> dict[Part, Artifact]:
    """The verified artifacts of a collection. Missing ones are made first. Raises Unavailable."""
    targets = list(collection.targets)
    missing = [*collection.needs, *missing_needs(steps, store, targets)]
    if not targets or missing:
        raise Unavailable(collection.error or str(missing[0]))

    def read(failures: Mapping[str, Failure]) -> dict[Part, Artifact]:
        if failures:
            raise Unavailable("\n".join(dict.fromkeys(failure.reason for failure in failures.values())))
        return read_parts(collection.steps, store)

    with store.leases.held(steps):
        return with_rebuilds(steps, targets, read, store, reporter)


def read_parts(parts: Mapping[Part, str], store: Store) -> dict[Part, Artifact]:
    """The artifacts of these steps, by part, every byte verified. Raises Corrupt."""
    return {part: store.read(step) for part, step in parts.items()}


def opened(parts: Mapping[Part, Artifact], policy: str, where: str) -> Opened:
    """A collection, read from its verified artifacts. `policy` says what happens to judgements of unknown
    passages (keep, drop, refuse); messages begin with `where`. Raises HarnessError for refused judgements,
    if the corpus has none of the judged passages, and if a dataset that is read from its plugin judges
    queries that it does not have (a made one may have dropped them)."""
    corpus = Corpus(parts["corpus"].folder)
    queries = read_queries(parts["queries"].folder)
    judgements = read_judgements(parts["judgements"].folder)
    located = judging(corpus, queries, judgements, drop=policy == "drop")
    read = all(parts[part].id.startswith(f"{part}-") for part in (PARTS[1], PARTS[2]))
    if read and located.of_unknown_queries:
        known = set(queries.ids)
        unknown = [name for name in judgements.query_ids if name not in known]
        what = f"{len(unknown)} judged queries are not among its queries, the first is '{unknown[0]}'"
        raise HarnessError(f"{where}: {what}; a dataset yields judgements of its own queries alone")
    if len(located.missing) and policy == "refuse":
        first = judgements.passage_ids[located.missing[0]]
        what = f"{len(located.missing)} judged passages are not in the corpus, the first is '{first}'"
        advice = "mend the data, or set 'unknown_judgements: keep' or 'drop'"
        raise HarnessError(f"{where}: {what}; {advice}")
    if len(judgements.passage_ids) and len(located.missing) == len(judgements.passage_ids):
        what = f"none of the {len(located.missing)} judged passages is in the corpus"
        first = f"the first is '{judgements.passage_ids[0]}'"
        raise HarnessError(f"{where}: {what}, {first}; check that judgements and corpus have the same ids")
    names = sorted({name for slices in queries.slices for name in slices})
    facts = {
        **parts["corpus"].facts,
        "queries": len(queries.ids),
        "judged_queries": len(np.unique(located.judged.query)),
        "judgements": len(located.judged.query),
        "judgements_of_unknown_passages": located.of_missing,
        "judgements_of_unknown_queries": located.of_unknown_queries,
    }
    return Opened(
        corpus,
        queries,
        located.judged,
        {name: np.array([name in slices for slices in queries.slices]) for name in names},
        facts,
        {str(part): contents_of(artifact) for part, artifact in parts.items()},
    )


def contents_of(artifact: Artifact) -> str:
    """One digest of all files of an artifact. It is equal for equal data, whatever version made them."""
    return keys.key({name: file.sha256 for name, file in artifact.files.items()})


def place_of(collection: Collection) -> str:
    """The place of a collection in the suite, for messages about it."""
    return f"{collection.spec.chosen.place}: datasets.{collection.spec.name}"


def with_rebuilds(
    steps: Mapping[str, Step],
    targets: Iterable[str],
    read: Callable[[Mapping[str, Failure]], T],
    store: Store,
    reporter: Reporter,
    jobs: int = 1,
    limits: StepLimits = NO_LIMITS,
    workers: Workers | None = None,
) -> T:
    """Make the targets, then return `read(failures)`. If `read` raises Corrupt, the damaged artifact is made
    again and `read` is called again, `REBUILDS` times at most for one artifact. The same is done if `read`
    fails in any way while another run removes an artifact. Steps run on the `workers`, or in `jobs` processes
    of this machine."""
    wanted, rebuilt = list(targets), Counter[str]()
    at_work: Workers = workers or LocalWorkers(store, jobs)
    while True:
        fetch_missing(store, steps, wanted, reporter.note)
        executed, failures = Engine(steps, store, at_work, reporter, limits).run(wanted)
        gone = without_key(steps, store) if executed and store.remote is not None else ()
        pushed = [step for step in executed if not at_work.has_pushed(step) and step not in gone]
        push_all(store, pushed, reporter.note)
        try:
            return _read_whole(read, failures, store, store.stamps(steps))
        except Corrupt as error:
            rebuilt[error.step] += 1
            if rebuilt[error.step] > REBUILDS or error.step not in steps:
                raise StoreError(f"{store.root}: {error}, again and again; check the disk") from error
            reporter.note(f"{steps[error.step].label}: {error.reason}; it is made again")
            if not store.is_whole(error.step):  # another run may have made it again
                store.discard(error.step)
            wanted = [*wanted, error.step]  # `read` may read artifacts that no step needs, for their costs


def without_key(steps: Mapping[str, Step], store: Store) -> set[str]:
    """The steps whose results no later run may use, because a method behind them noted that it depends on
    more than its key holds. `steps` are in the order of the plan."""
    gone: set[str] = set()
    for step in steps.values():
        if not gone.isdisjoint(step.inputs):
            gone.add(step.id)
        elif method_of(step.record) is not None and store.has(step.id):
            with contextlib.suppress(Corrupt):
                gone.update([step.id] if store.read(step.id, trust=True).facts.get(NOT_KEYED) else ())
    return gone


def _read_whole(
    read: Callable[[Mapping[str, Failure]], T], failures: Mapping[str, Failure], store: Store,
    stamps: Mapping[str, Stamp],
) -> T:  # fmt: skip
    """The result of `read`. Raises Corrupt if it fails and another run has removed an artifact since `stamps`
    was made: then `read` found a part of its input alone."""
    try:
        return read(failures)
    except Corrupt:
        raise
    except Exception as error:
        removed = store.removed_since(stamps)
        if removed is None:
            raise
        raise Corrupt(removed, REMOVED) from error
