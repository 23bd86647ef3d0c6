"""The sizes of collections that the store has, and of those that a plan will make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from harness import steps
from harness.execution.alike import Alike, alike, record_in
from harness.plan.graph import Plan
from harness.steps.record import AnyRecord
from harness.steps.sizes import CorpusSize, Sizes
from harness.store.manifest import Artifact
from harness.types import Part


def sizes_of(artifacts: Mapping[str, Artifact]) -> Sizes:
    """The sizes of all parts that the store has."""
    corpora: dict[str, CorpusSize] = {}
    queries: dict[str, int] = {}
    texts: dict[str, int] = {}
    for step, artifact in artifacts.items():
        record, facts = artifact.record, artifact.facts
        part = part_of(record)
        if part == "corpus":
            corpora[step] = CorpusSize(facts["passages"], facts["candidates"], facts["documents"])
        elif part == "queries":
            queries[step] = facts["queries"]
        elif isinstance(record, steps.Examples):
            queries[step] = facts["queries_with_positives"]
        elif isinstance(record, steps.Index):
            texts[step] = facts["texts"]
    return Sizes(corpora, queries, texts)


def part_of(record: AnyRecord) -> Part | None:
    """The part of a collection that a step makes."""
    if isinstance(record, steps.MadePart):
        return record.part
    if isinstance(record, steps.ReadCorpus | steps.Subset):
        return "corpus"
    return "queries" if isinstance(record, steps.ReadQueries) else None


def kept_by_makers(artifacts: Mapping[str, Artifact]) -> dict[Alike, dict[str, float]]:
    """The share of passages, documents and queries that the makers left in the collections that they have
    changed so far, by kind and parameters of the maker."""
    before: dict[Alike, Counter[str]] = {}
    after: dict[Alike, Counter[str]] = {}
    for artifact in artifacts.values():
        if isinstance(artifact.record, steps.Make):
            key, facts = alike(artifact.record, record_in(artifacts)), artifact.facts["made"]
            before.setdefault(key, Counter()).update(facts["before"])
            after.setdefault(key, Counter()).update(facts["after"])
    return {key: {name: after[key][name] / count for name, count in counts.items() if count}
            for key, counts in before.items()}  # fmt: skip


def with_made(sizes: Sizes, plan: Plan, kept: Mapping[Alike, Mapping[str, float]]) -> Sizes:
    """`sizes` with the parts that the plan's steps will make. The share that a maker leaves is taken from
    `kept`. Without such a share, a made part is taken to be as large as the part that it is made of."""
    corpora, queries = dict(sizes.corpora), dict(sizes.queries)
    for id, step in plan.steps.items():
        record, share = step.record, dict[str, float]()
        if isinstance(record, steps.MadePart):
            maker = plan.steps[record.stage.step].record
            share = dict(kept.get(alike(maker, record_in(plan.steps)), {}))
        before, part = _before(record, plan), part_of(record)
        if part == "corpus" and id not in corpora and before in corpora:
            size = corpora[before]
            left = [share.get(name, 1.0) for name in ("passages", "passages", "documents")]
            corpora[id] = CorpusSize(
                *(max(1, round(count * share_left)) for count, share_left in zip(size, left, strict=True))
            )
            if isinstance(record, steps.Subset):
                most = max(1, queries.get(record.queries.step, 0) * record.depth)
                corpora[id] = corpora[id]._replace(candidates=min(corpora[id].candidates, most))
        elif id not in queries and before in queries:
            queries[id] = max(1, round(queries[before] * share.get("queries", 1.0)))
    return Sizes(corpora, queries, sizes.texts)


def _before(record: AnyRecord, plan: Plan) -> str:
    """The id of the part that a part is made of, or that examples are listed of; "" if there is none."""
    if isinstance(record, steps.Subset):
        return record.corpus.step
    if isinstance(record, steps.Examples):
        return record.queries.step
    if isinstance(record, steps.MadePart):
        maker = plan.steps[record.stage.step].record
        ref = maker.reads.of(record.part) if isinstance(maker, steps.Make) else None
        return "" if ref is None else ref.step
    return ""
