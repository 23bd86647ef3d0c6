"""The work of a step, as the counts that its cost grows with; and which steps cost alike for equal work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from harness import made_models
from harness.plan.graph import Plan, Step
from harness.plan.kinds import MAKE, METHODS, PART, PARTS, RANKINGS, kind_of
from harness.store.manifest import Artifact
from harness.types import JSON

Work = tuple[float, ...]
Described = Mapping[str, JSON]
DescribedOf = Callable[[str], Described | None]  # what is in the key of a step, by the step's id
Key = tuple[str, ...]  # kind and method of a step, then its parameters and the unit of its texts


class CorpusSize(NamedTuple):
    passages: int  # all, of which context is made
    candidates: int  # passages that can be retrieved
    documents: int


class Sizes(NamedTuple):
    """The sizes of the parts of datasets, by the id of the part's step."""

    corpora: dict[str, CorpusSize]
    queries: dict[str, int]  # of examples too: how many queries have a positive


def sizes_of(artifacts: Mapping[str, Artifact]) -> Sizes:
    """The sizes of all parts that the store has."""
    sizes = Sizes({}, {})
    for step, artifact in artifacts.items():
        kind, facts = artifact.described["kind"], artifact.facts
        if kind == "corpus":
            sizes.corpora[step] = CorpusSize(facts["passages"], facts["candidates"], facts["documents"])
        elif kind in ("queries", "examples"):
            sizes.queries[step] = facts["queries" if kind == "queries" else "queries_with_positives"]
    return sizes


def kept_by_makers(artifacts: Mapping[str, Artifact]) -> dict[Key, dict[str, float]]:
    """The share of passages, documents and queries that the makers left in the collections that they have
    changed so far, by kind and parameters of the maker."""
    before: dict[Key, Counter[str]] = {}
    after: dict[Key, Counter[str]] = {}
    for artifact in artifacts.values():
        if artifact.described["kind"] == MAKE:
            key, facts = key_of(artifact.described, described_in(artifacts)), artifact.facts["made"]
            before.setdefault(key, Counter()).update(facts["before"])
            after.setdefault(key, Counter()).update(facts["after"])
    return {key: {name: after[key][name] / count for name, count in counts.items() if count}
            for key, counts in before.items()}  # fmt: skip


def with_made(sizes: Sizes, plan: Plan, kept: Mapping[Key, Mapping[str, float]]) -> Sizes:
    """`sizes` with the parts that the plan's steps will make. The share that a maker leaves is taken from
    `kept`. Without such a share, a made part is taken to be as large as the part that it is made of."""
    corpora, queries = dict(sizes.corpora), dict(sizes.queries)
    for id, step in plan.steps.items():
        before = _before(step, plan)
        maker = plan.steps.get(step.work.get("made", ""))
        share = {} if maker is None else kept.get(key_of(maker.described, described_in(plan.steps)), {})
        if step.kind == "corpus" and id not in corpora and before in corpora:
            passages, candidates, documents = corpora[before]
            left = [share.get(name, 1.0) for name in ("passages", "passages", "documents")]
            counts = zip((passages, candidates, documents), left, strict=True)
            corpora[id] = CorpusSize(*(max(1, round(count * part)) for count, part in counts))
            if "subset" in step.work:
                ranked = next((count for part, count in queries.items() if part in step.inputs), 0)
                most = max(1, ranked * step.work["subset"])
                corpora[id] = corpora[id]._replace(candidates=min(corpora[id].candidates, most))
        elif step.kind in ("queries", "examples") and id not in queries and before in queries:
            queries[id] = max(1, round(queries[before] * share.get("queries", 1.0)))
    return Sizes(corpora, queries)


def _before(step: Step, plan: Plan) -> str:
    """The id of the part that a part is made of; "" if it is not made of another."""
    kind = "queries" if step.kind == "examples" else step.kind
    inputs = step.inputs
    if "made" in step.work:
        reads = plan.steps[step.work["made"]].work["reads"]
        inputs = (reads[kind],) if kind in reads else ()
    return next((name for name in inputs if kind_of(name) == kind), "")


def work_of(described: Described, described_of: DescribedOf, sizes: Sizes) -> Work | None:
    """The work of a step: for context and indexes the texts, for re-ranking the pairs, for searches the
    queries and the queries times texts, for training the texts that are read, for making the passages and the
    queries, otherwise the queries. None if it is not known."""
    kind, inputs = described["kind"], described["inputs"]
    if kind in PARTS:
        return None if "method" in described else (1.0,)  # made parts are links to files
    if kind == MAKE:
        passages = [sizes.corpora[name].passages for name in inputs if name in sizes.corpora]
        asked = [sizes.queries[name] for name in inputs if name in sizes.queries]
        return (float(sum(passages)), float(sum(asked))) if passages or asked else None
    if kind == "train":
        return _of_training(described, sizes)
    queries = sizes.queries.get(_nearest(described, "queries", described_of))
    corpus = sizes.corpora.get(_nearest(described, "corpus", described_of))
    if kind not in METHODS:
        if queries is None:
            return None
        depth = (described.get("negatives") or {}).get("depth", 1)  # of a step with examples
        return (float(queries * depth * max(1, sum(kind_of(name) in RANKINGS for name in inputs))),)
    if corpus is None or (queries is None and kind not in ("augment", "index")):
        return None
    if kind == "augment":
        return (float(corpus.passages),)
    texts = float(corpus.documents if _unit(described, described_of) == "document" else corpus.candidates)
    if kind == "index":
        return (texts,)
    assert queries is not None
    if kind == "search":
        return (float(queries), queries * texts)
    if kind == "rerank":
        return (float(queries * min(described["depth"], texts)),)
    return (float(queries),)


def work_done(artifact: Artifact, artifacts: Mapping[str, Artifact], sizes: Sizes) -> Work | None:
    """The work of a finished step, from what it has counted. None if it is not known."""
    described, cost, facts = artifact.described, artifact.cost, artifact.facts
    kind = described["kind"]
    if kind == PART:  # of a step that is not joined yet
        return None
    if kind == "index":
        return (float(facts["texts"]),)
    if kind == "augment":
        return (float(facts["reported"]["passages"]),)
    if kind == "search":
        index = next((artifacts[name] for name in described["inputs"] if name in artifacts), None)
        if index is None or "texts" not in index.facts:
            return None
        return (float(cost["queries"]), float(cost["queries"]) * index.facts["texts"])
    if kind == "rerank":
        return (float(cost["pairs"]),)
    if kind in METHODS:
        return (float(cost["queries"]),) if "queries" in cost else None
    return work_of(described, described_in(artifacts), sizes)


def _of_training(described: Described, sizes: Sizes) -> Work | None:
    """The texts that a segment of a training reads in one epoch: a query, a positive and its negatives for
    each example. The epochs are among the trainer's parameters."""
    sources = [name for name in described["inputs"] if kind_of(name) == "examples"]
    if not all(name in sizes.queries for name in sources):
        return None
    lists = sum(sizes.queries[name] for name in sources)
    if described["queries"] is not None:
        lists = min(lists, described["queries"])
    return (lists * (2.0 + described["take"]) / described["segment"][1],)


def key_of(described: Described, described_of: DescribedOf) -> Key:
    """What steps of the same cost for the same work have in common. A trained model costs what the model
    costs from which its training starts."""
    method, unit = described.get("method", {}), described.get("texts", {}).get("unit", "")
    params = {name: _started(value, described_of) for name, value in method.get("params", {}).items()}
    return described["kind"], str(method.get("name")), str(sorted(params.items())), unit


def _started(value: JSON, described_of: DescribedOf) -> JSON:
    """Parameters with each trained model replaced by the model from which its training starts: the trainer's
    parameter `init_PART`, else `init`."""
    if isinstance(value, list | tuple):
        return [_started(item, described_of) for item in value]
    reference = made_models.STEP.fullmatch(value) if isinstance(value, str) else None
    if reference is None:
        return value
    described = described_of(reference[1])
    if described is not None and described["kind"] == "validate":
        trained = next(name for name in described["inputs"] if kind_of(name) == "train")
        described = described_of(trained)
    params = {} if described is None else described["method"]["params"]
    start = params.get(f"init_{reference[2]}", params.get("init"))
    return value if start is None else _started(start, described_of)


def described_in(steps: Mapping[str, Step | Artifact]) -> DescribedOf:
    return lambda id: steps[id].described if id in steps else None


def _nearest(described: Described, kind: str, described_of: DescribedOf) -> str:
    """The id of the first part of a kind that a step reads, directly if it does; "" if there is none."""
    level: list[str] = list(described["inputs"])
    while level:
        part = next((name for name in level if kind_of(name) == kind), None)
        if part is not None:
            return part
        level = list(dict.fromkeys(name for step in level for name in _inputs(described_of(step))))
    return ""


def _inputs(described: Described | None) -> Iterable[str]:
    return () if described is None else described["inputs"]


def _unit(described: Described, described_of: DescribedOf) -> str:
    index = next((name for name in described["inputs"] if kind_of(name) == "index"), "")
    texts = described.get("texts") or (described_of(index) or {}).get("texts", {})
    return str(texts.get("unit", "passage"))
