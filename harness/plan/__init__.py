"""Plans a suite: a graph of content-addressed steps, with all problems reported before any step runs."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from harness.catalogue import Catalogue
from harness.catalogue.rehearsal import Rehearsals
from harness.errors import Problems
from harness.plan import context as contexts
from harness.plan import datasets, keys, label, methods, models, read, systems
from harness.plan.context import Context
from harness.plan.graph import Analysis, Collection, Graph, Plan, Row, Step, Unplanned
from harness.plan.keys import Digest
from harness.plan.plugin_calls import Broken
from harness.problems import Need, Problem, unknown
from harness.steps.record import Method
from harness.steps.texts import Encoder
from harness.suite import Chosen, DatasetSpec, Suite, System, made_datasets
from harness.types import PARTS, Card, Facts, Inputs

__all__ = ["build", "dataset"]


def build(suite: Suite, catalogue: Catalogue, digest: Digest, only: Sequence[str] = ()) -> Plan:
    """The whole graph of a suite. With `only`, rows that no pattern matches are marked as not selected."""
    with _begun(suite, catalogue, digest, suite.timeout) as context:
        return _planned(context, suite, only)


def dataset(
    spec: DatasetSpec, catalogue: Catalogue, digest: Digest, suite: Suite | None = None
) -> tuple[Collection, dict[str, Step]]:
    """One dataset by itself, with the steps that make it columnar. A made dataset needs its suite."""
    with _begun(suite or contexts.alone(spec), catalogue, digest, None) as context:
        collection = datasets.collection(context, spec)
    if context.problems:
        raise Problems(context.problems)
    return collection, context.graph.steps


@contextmanager
def _begun(suite: Suite, catalogue: Catalogue, digest: Digest, timeout: float | None) -> Iterator[Context]:
    keys.sources.cache_clear()  # a notebook may have edited a plugin since the last run
    rehearsals = Rehearsals(timeout)
    try:
        yield Context(suite, catalogue, digest, rehearsals, timeout, models.planned)
    finally:
        rehearsals.close()


def _planned(context: Context, suite: Suite, only: Sequence[str]) -> Plan:
    # a dataset that is not scored is planned when a system is tuned or trained on it
    scored, known = [spec for spec in suite.datasets if spec.scored], context.memo.collections
    for spec in sorted(scored, key=lambda spec: bool(spec.make)):  # made datasets may read the others
        known[spec.name] = datasets.collection(context, spec)
    collections = {spec.name: known[spec.name] for spec in scored}
    rows = []
    for spec in scored:
        for system in (system for system in suite.systems if system.scored):
            selected = _selected(spec.name, system, only)
            rows.append(_row(context, collections[spec.name], system, selected))
    if not any(collection.parts for collection in known.values()):
        _on_no_data(context, suite)
    datasets.refuse_scored(context)
    analyses = tuple(_analysis(context, chosen, collections) for chosen in suite.analyses)
    _check_patterns(context, only)
    if context.problems:
        raise Unplanned(context.problems, context.graph.steps)
    rules = {name: contexts.rules(context, collection) for name, collection in collections.items()}
    return Plan(suite, context.graph.steps, collections, tuple(rows), analyses, rules)


def _on_no_data(context: Context, suite: Suite) -> None:
    """Plans the systems of a suite whose datasets all lack something, and what its analyses encode with, for
    the problems of these."""
    empty = Method(name="", version="", sources="")
    graph, entry = Graph(), next(iter(context.catalogue.entries["datasets"].values()))[0]
    spec = DatasetSpec("", Chosen(entry, {}, None, None), "keep")
    parts = read.steps(graph, spec, empty, dict.fromkeys(PARTS, Inputs({}, ())), context.digest)
    lacking = Collection(spec, Card(None, "?"), parts, (Need("other", "the dataset's language"),), None)
    scratch = dataclasses.replace(context, graph=graph, memo=contexts.Memo())
    for system in suite.systems:
        with suppress(Broken):
            systems.output(scratch, lacking, system.name)
    for chosen in suite.analyses:
        named_by = chosen.entry.record.encoder
        if named_by is not None and getattr(chosen.params, named_by) is not None:
            with suppress(Broken):
                contexts.helper(scratch, lacking, chosen, named_by)


def _check_patterns(context: Context, only: Sequence[str]) -> None:
    """Notes a problem for each pattern that matches no row."""
    scored = [spec.name for spec in context.suite.datasets if spec.scored]
    for pattern in only:
        chosen = [
            system
            for system in context.suite.systems
            if any(_selected(name, system, [pattern]) for name in scored)
        ]
        if not any(system.scored for system in chosen):
            text = f"--only '{pattern}': " + (
                "the system is not scored, so it has no row"
                if chosen
                else "no dataset or system has such a name"
            )
            context.problems.append(Problem(None, (), text))


def _analysis(context: Context, chosen: Chosen, collections: dict[str, Collection]) -> Analysis:
    """The analysis of a suite. Besides the queries of its dataset it may read those of other splits, and the
    judgements of other datasets."""
    path, record = ("analyses", chosen.name), chosen.entry.record
    names = tuple(str(getattr(chosen.params, name)) for name in record.datasets)
    for name in names:
        if name not in collections:
            text = f"{unknown('dataset', name, set(collections))}; it must be scored"
            context.problems.append(Problem(chosen.place, path, text))
    method, encoders, needs = _of_analysis(context, chosen, collections)
    queries_of = []
    for name in made_datasets.named(chosen, "splits"):
        try:
            queries_of.append((name, datasets.other(context, chosen, name).planned.queries))
        except Broken as error:
            lacking = context.memo.splits.get(name)
            if lacking is not None and lacking.needs:
                needs += lacking.needs
            elif not context.problems:
                context.problems.append(Problem(chosen.place, path, str(error)))
    measures = {name: contexts.plugin_of(context, name) for name in context.catalogue.names("measures")}
    return Analysis(
        name=chosen.name,
        method=method,
        measures={name: plugin for name, plugin in measures.items() if plugin is not None},
        needs=tuple(dict.fromkeys(needs)),
        datasets=names,
        encoders=encoders,
        queries_of=tuple(queries_of),
    )


def _of_analysis(
    context: Context, chosen: Chosen, collections: dict[str, Collection]
) -> tuple[Method, dict[str, Encoder], list[Need]]:
    """The method of an analysis, the retriever that it encodes the texts of each dataset with, if its
    parameters name one, and its needs."""
    named_by = chosen.entry.record.encoder
    given = None if named_by is None else getattr(chosen.params, named_by)
    encoders: dict[str, Encoder] = {}
    needs = methods.missing_modules_of(chosen)
    method = Method(name=chosen.name, version="", sources="")
    noted = len(context.problems)
    try:
        contexts.rehearse(context, chosen, chosen.params)
        with context.guarded(chosen):
            leave_out = () if given is None else (str(named_by),)
            facts = Facts(None, None, "passage")
            method = methods.method(chosen, chosen.params, context.digest, facts, leave_out)
        sound = {name: item for name, item in collections.items() if item.parts is not None}
        for name, collection in sound.items() if given is not None else ():
            encoders[name], more = contexts.helper(context, collection, chosen, str(named_by))
            needs += more
    except Broken as error:
        if len(context.problems) == noted:  # not a user's mistake, which `refuse` has noted
            text = f"{error}; leave it out, and report it to its author"
            context.problems.append(Problem(chosen.place, ("analyses",), text))
    return method, encoders, needs


def _row(context: Context, collection: Collection, system: System, selected: bool) -> Row:
    name, split = collection.spec.name, collection.card.split
    if collection.parts is None:
        error = collection.error or str(collection.needs[0])
        return Row(name, split, system.name, system.unit, None, error, selected)
    try:
        output = systems.output(context, collection, system.name)
    except Broken as broken:
        return Row(name, split, system.name, system.unit, None, str(broken), selected)
    labels, rules = None, contexts.rules(context, collection)
    if rules.by_answers and rules.depth is not None and output.unit == "passage":
        labels = label.step(context.graph, collection, system.name, output.hits, rules.depth).step
    return Row(name, split, system.name, output.unit, output.hits.step, None, selected, labels, output.texts)


def _selected(dataset: str, system: System, only: Sequence[str]) -> bool:
    """Whether a pattern matches the row by its name, or by the name that the suite gives to all systems of a
    grid or of several seeds."""
    names = (dataset, *(each for name in (system.name, system.base) for each in (name, f"{dataset}/{name}")))
    return not only or any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in only)
