"""Plans a suite: a graph of content-addressed steps, with all problems reported before any step runs."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from harness.catalogue import Catalogue
from harness.errors import Problems
from harness.plan import making, plugin_sources, tuning
from harness.plan.dataset_steps import Datasets
from harness.plan.graph import Analysis, Collection, Plan, Row, Step
from harness.plan.guard import Broken
from harness.plan.keys import Digest
from harness.plan.systems import Systems
from harness.problems import Problem
from harness.suite import Chosen, DatasetSpec, Suite, System, made_datasets

__all__ = ["build", "dataset"]


def build(suite: Suite, catalogue: Catalogue, digest: Digest, only: Sequence[str] = ()) -> Plan:
    """The whole graph of a suite. With `only`, rows that no pattern matches are marked as not selected."""
    plugin_sources.digest.cache_clear()  # a notebook may have edited a plugin since the last run
    with Systems(catalogue, digest, timeout=suite.timeout, suite=suite) as planner:
        return _planned(planner, suite, only)


def _planned(planner: Systems, suite: Suite, only: Sequence[str]) -> Plan:
    # a dataset that is not scored is planned when a system is tuned or trained on it
    scored = [spec for spec in suite.datasets if spec.scored]
    for spec in sorted(scored, key=lambda spec: bool(spec.make)):  # made datasets may read the others
        planner.collections[spec.name] = planner.collection(spec)
    collections = {spec.name: planner.collections[spec.name] for spec in scored}
    rows = []
    for spec in scored:
        for system in (system for system in suite.systems if system.scored):
            chosen = _selected(spec.name, system.name, only)
            rows.append(_row(planner, collections[spec.name], system, chosen))
    tuning.refuse_scored(planner)
    analyses = tuple(_analysis(planner, chosen) for chosen in suite.analyses)
    unmatched = [
        pattern for pattern in only
        if not any(_selected(row.dataset, row.system, [pattern]) for row in rows)
    ]  # fmt: skip
    for pattern in unmatched:
        hidden = [system.name for system in suite.systems if not system.scored]
        unscored = any(_selected(spec.name, name, [pattern]) for spec in scored for name in hidden)
        text = f"--only '{pattern}': " + (
            "the system is not scored, so it has no row"
            if unscored
            else "no dataset or system has such a name"
        )
        planner.problems.append(Problem(None, (), text))
    if planner.problems:
        raise Problems(planner.problems)
    rules = {name: planner.rules(collection) for name, collection in collections.items()}
    return Plan(suite, planner.steps, collections, tuple(rows), analyses, rules)


def _analysis(planner: Systems, chosen: Chosen) -> Analysis:
    """The analysis of a suite. Besides the queries of its dataset it may read those of other splits; it then
    has their steps too."""
    analysis = planner.analysis(chosen)
    for name in made_datasets.named(chosen, "splits"):
        try:
            step = making.other(planner, chosen, name).parts["queries"]
            analysis = analysis._replace(queries_of=(*analysis.queries_of, (name, step)))
        except Broken as error:
            lacking = planner.tuned_on.get(name)
            if lacking is not None and lacking.needs:
                analysis = analysis._replace(needs=(*analysis.needs, *lacking.needs))
            elif not planner.problems:
                planner.problems.append(Problem(chosen.place, ("analyses", chosen.name), str(error)))
    return analysis


def dataset(
    spec: DatasetSpec, catalogue: Catalogue, digest: Digest, suite: Suite | None = None
) -> tuple[Collection, dict[str, Step]]:
    """One dataset by itself, with the steps that make it columnar. A made dataset needs its suite."""
    plugin_sources.digest.cache_clear()
    planner = Datasets(catalogue, digest) if suite is None else Systems(catalogue, digest, suite=suite)
    with planner:
        collection = planner.collection(spec)
    if planner.problems:
        raise Problems(planner.problems)
    return collection, planner.steps


def _row(planner: Systems, collection: Collection, system: System, selected: bool) -> Row:
    name, split = collection.spec.name, collection.card.split
    if not collection.parts:
        error = collection.error or str(collection.needs[0])
        return Row(name, split, system.name, system.unit, None, error, selected)
    try:
        output = planner.output(collection, system.name)
    except Broken as broken:
        return Row(name, split, system.name, system.unit, None, str(broken), selected)
    texts = planner.texts(collection, output.context, output.unit)
    labels = None
    rules = planner.rules(collection)
    if rules["by_answers"] and output.unit == "passage":
        described = {"depth": rules["depth"]}
        ids = (output.hits, collection.parts["corpus"], collection.parts["queries"])
        labels = planner.add("label", name, system.name, described, described, ids, ())
    return Row(name, split, system.name, output.unit, output.hits, None, selected, labels, texts)


def _selected(dataset: str, system: str, only: Sequence[str]) -> bool:
    names = (dataset, system, f"{dataset}/{system}")
    return not only or any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in only)
