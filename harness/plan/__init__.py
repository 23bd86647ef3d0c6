"""Suite -> a graph of content-addressed steps, with every problem told before anything runs."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from harness.catalogue import Catalogue
from harness.errors import Problems
from harness.graph import Collection, Plan, Row
from harness.keys import Digest
from harness.plan.base import Broken
from harness.plan.systems import Systems
from harness.suite import Suite, System

__all__ = ["build"]


def build(suite: Suite, catalogue: Catalogue, digest: Digest, only: Sequence[str] = ()) -> Plan:
    """The whole graph of a suite. With `only`, rows that no pattern matches are marked as not selected."""
    planner = Systems(suite, catalogue, digest)
    # what is only tuned on is planned when a system tunes on it
    scored = [spec for spec in suite.datasets if spec.scored]
    collections = {spec.name: planner.collection(spec) for spec in scored}
    planner.collections = collections
    depth = _answers_within(suite, catalogue)
    rows = []
    for spec in scored:
        for system in suite.systems:
            chosen = _selected(spec.name, system.name, only)
            rows.append(_row(planner, collections[spec.name], system, chosen, depth))
    analyses = tuple(planner.analysis(chosen) for chosen in suite.analyses)
    unmatched = [
        pattern for pattern in only
        if not any(_selected(row.dataset, row.system, [pattern]) for row in rows)
    ]  # fmt: skip
    planner.problems += [f"--only '{pattern}': no dataset or system has such a name" for pattern in unmatched]
    if planner.problems:
        raise Problems(dict.fromkeys(planner.problems))
    return Plan(suite, planner.steps, collections, tuple(rows), analyses)


def _row(planner: Systems, collection: Collection, system: System, selected: bool, depth: int | None) -> Row:
    """A row with the steps that it needs. `depth` is how many ranks are looked through for answers, if the
    protocol tells relevant passages by them.
    """
    name, split = collection.spec.name, collection.card.split
    if not collection.parts:
        error = collection.error or collection.needs[0]
        return Row(name, split, system.name, system.unit, None, error, selected)
    try:
        output = planner.output(collection, system.name)
    except Broken as broken:
        return Row(name, split, system.name, system.unit, None, str(broken), selected)
    texts = planner.texts(collection, output.context, output.unit)
    labels = None
    if depth is not None and output.unit == "passage":
        described = {"depth": depth}
        ids = (output.hits, collection.parts["corpus"], collection.parts["queries"])
        labels = planner.add("label", f"label · {name} · {system.name}", described, described, ids, ())
    return Row(name, split, system.name, output.unit, output.hits, None, selected, labels, texts)


def _answers_within(suite: Suite, catalogue: Catalogue) -> int | None:
    """How deep answers are looked for, if the suite's protocol does."""
    offers = catalogue.entries["protocols"].get(suite.protocol or "", ())
    protocol = offers[0].record if len(offers) == 1 else None
    return protocol.depth if protocol is not None and protocol.judgements == "answers" else None


def _selected(dataset: str, system: str, only: Sequence[str]) -> bool:
    names = (dataset, system, f"{dataset}/{system}")
    return not only or any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in only)
