"""The sections of a suite and their keys. `models.py` and `tuning.py` declare `models` and `tune`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from harness.catalogue import params
from harness.problems import Keys
from harness.suite import made_datasets
from harness.suite.grid import Varied
from harness.suite.keys import (
    DATASET,
    DATASETS_TOGETHER,
    LARGEST,
    MOST,
    PROTOCOL,
    SYSTEM,
    Form,
    by_name,
    key,
    list_of,
    names,
    plugin,
    within,
)
from harness.suite.model import Chosen, DatasetSpec, Rerank, Rewrite, Stage, System
from harness.suite.models import Model, ModelSpec, read
from harness.suite.yaml_nodes import Node
from harness.types import JSON, Unit

NOTHING: tuple[tuple[Any, Varied], ...] = ((None, ()),)  # the only variant of a method that is not given
NO_METHODS: tuple[tuple[tuple[Any, ...], Varied], ...] = (((), ()),)


@dataclass(frozen=True, kw_only=True)
class Method:
    """The keys beside a method."""

    resources: dict[str, float] | None = key(
        None, "what a Ray cluster gives each step: cpus, gpus, memory in gigabytes, or its own", minimum=0
    )


@dataclass(frozen=True, kw_only=True)
class BesideRewriter:
    of: str | None = key(
        None, "the system whose hits the rewriter reads; without it, the system's own", form=SYSTEM
    )


@dataclass(frozen=True, kw_only=True)
class BesideReranker(Method):
    depth: int | None = key(None, "how many hits are re-ranked; without it, all", minimum=1)
    tail: Literal["keep", "drop"] = key("keep", "what happens to the hits below 'depth'")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The keys of every dataset, beside its plugin."""

    unknown_judgements: Literal["keep", "drop", "refuse"] = key(
        "keep", "what happens to judgements of passages that the corpus lacks"
    )
    scored: bool = key(True, "whether it gets rows; with false, something is tuned or trained on it")
    limit: int | None = key(None, "how many queries a trial reads", minimum=1)
    sample: int | None = key(None, "how many passages a trial reads beside the judged ones", minimum=1)


@dataclass(frozen=True, kw_only=True)
class BesideMaker:
    splits: tuple[str, ...] = key((), "the splits that have this stage; without it, all", form=names("split"))


@dataclass(frozen=True, kw_only=True)
class BesideAnalysis:
    together: tuple[str, ...] = key((), "datasets that are drawn in one picture", form=DATASETS_TOGETHER)


BESIDE: dict[str, type] = {  # the keys beside a plugin, by the plugin's kind
    "datasets": Dataset,
    "contexts": Method,
    "retrievers": Method,
    "rewriters": BesideRewriter,
    "rerankers": BesideReranker,
    "combiners": Method,
    "trainers": Method,
    "makers": BesideMaker,
    "analyses": BesideAnalysis,
}
STAGES = Form(made_datasets.stages, list_of(Form(made_datasets.stages, plugin("makers")), 1).schema)


@dataclass(frozen=True, kw_only=True)
class MadeDataset(Dataset):
    """A dataset that the suite makes of another."""

    of: str = key(help="the dataset that it is made of, or DATASET/SPLIT", form=DATASET)
    make: tuple[Stage, ...] = key(help="a list of makers", form=STAGES)


def _method(kind: str) -> Form:
    return Form(lambda forms, node, path: forms.variants(node, path, kind)[1], plugin(kind))


def _methods(kind: str) -> Form:
    return Form(lambda forms, node, path: forms.chain(node, path, kind), list_of(_method(kind)).schema)


@dataclass(frozen=True)
class SystemKeys:
    """The keys of a system. The methods are read as variants, one for each point of a grid."""

    context: Sequence[tuple[tuple[Chosen, ...] | None, Varied]] = key(
        NOTHING, "what each passage gets from its document", form=_methods("contexts"), meant_by=("augment",)
    )
    queries: Sequence[tuple[tuple[Rewrite, ...], Varied]] = key(
        NO_METHODS, "rewriters of queries", form=_methods("rewriters"), meant_by=("rewrite", "rewriters")
    )
    retriever: Sequence[tuple[Chosen | None, Varied]] = key(
        NOTHING, "the method that indexes and searches", form=_method("retrievers"), meant_by=("search",)
    )
    unit: Unit = key("passage", "what the retriever ranks")
    of: tuple[str, ...] = key((), "the systems that it is built on", form=names("system"))
    combine: Sequence[tuple[Chosen | None, Varied]] = key(
        NOTHING, "what fuses several systems", form=_method("combiners"), meant_by=("fuse", "fusion")
    )
    rerank: Sequence[tuple[tuple[Rerank, ...], Varied]] = key(
        NO_METHODS, "re-rankers, one after the other", form=_methods("rerankers"), meant_by=("rerankers",)
    )
    scored: bool = key(True, "whether it gets rows")


@dataclass(frozen=True)
class BesideRows:
    """Published rows that may stand beside the suite's rows although their split is another."""

    published: str = key(help="the name of a published leaderboard")
    as_: str = key(help="the split of this suite's datasets")


class AnalysisOf(NamedTuple):
    chosen: Chosen
    together: tuple[str, ...]
    path: Keys


def _analysis(forms: Any, node: Node, path: Keys) -> AnalysisOf | None:
    beside, variants = forms.variants(node, path, "analyses", fan=False)
    return AnalysisOf(variants[0][0], beside.together, path) if variants else None


_dataset: JSON = {"anyOf": [plugin("datasets"), params.schema(MadeDataset), {"type": "null"}]}
_list: JSON = {"type": "array", "items": {"$ref": "#/$defs/datasets/anyOf/0"}, "minItems": 1}
DATASETS = Form(
    lambda forms, node, path: tuple(forms.datasets(node)),
    {"anyOf": [{"type": "object", "additionalProperties": _dataset, "minProperties": 1}, _list]},
)
SYSTEMS = Form(
    lambda forms, node, path: forms.systems(node),
    {"type": "object", "additionalProperties": params.schema(SystemKeys), "minProperties": 1},
)
MODELS = Form(read, by_name(within(Model)).schema)
ANALYSES = list_of(Form(_analysis, plugin("analyses")))


@dataclass(frozen=True)
class SuiteKeys:
    """The keys of a suite."""

    suite: str = key("", "the leaderboard's name; without it, the name of the suite's folder")
    description: str = key("", "a sentence or two, shown above the leaderboard")
    include: tuple[str, ...] = key((), "suites whose content this suite takes over", form=names("suite"))
    datasets: tuple[DatasetSpec, ...] | None = key(None, "what to run on", form=DATASETS)
    systems: tuple[System, ...] | None = key(None, "what to run", form=SYSTEMS)
    models: tuple[ModelSpec, ...] = key((), "models that the suite trains", form=MODELS)
    measures: tuple[str, ...] = key((), "what to measure", form=names("measure"), meant_by=("metrics",))
    protocol: str | None = key(None, "the measures of a paper; instead of 'measures'", form=PROTOCOL)
    averages: dict[str, tuple[str, ...]] | None = key(
        None, "means over groups of datasets", form=by_name(DATASETS_TOGETHER)
    )
    beside: tuple[BesideRows, ...] = key(
        (), "published rows of another split", form=list_of(within(BesideRows))
    )
    analyses: tuple[AnalysisOf, ...] = key((), "tables and pictures", form=ANALYSES)
    depth: int = key(1000, "how many results are kept for each query", minimum=1, maximum=MOST)
    seed: int = key(0, "of the bootstrap", minimum=0, maximum=LARGEST)
    timeout: float | None = key(None, "seconds that one step may take", minimum=0.001)
    memory: float | None = key(None, "gigabytes that one step may hold", minimum=0.001)
