"""Two collections of C-MTEB with names of their own: the out-of-domain test sets of DuReader-retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.plugin import Official, param
from harness_mteb import MtebParams

SOURCE = "Qiu et al. 2022, table 3"
CITATION = (
    "Qiu et al., DuReader-retrieval: A Large-scale Chinese Benchmark for Passage Retrieval from Web Search "
    "Engine, EMNLP 2022"
)
NOTE = (
    "the release of the paper does not say which {queries:,} samples it drew (section 2.4); C-MTEB's {task} "
    "has as many queries, and that they are the same was not shown"
)


class Named(NamedTuple):
    """What is known about a collection beyond its files."""

    task: str  # the name of the task in C-MTEB
    citation: str
    official: tuple[Official, ...]
    note: str


@dataclass(frozen=True)
class CmedqaParams:
    path: Path | str = param("C-MTEB/CmedqaRetrieval", "the task on the hub, or its folder")
    qrels: Path | str | None = param(
        "C-MTEB/CmedqaRetrieval-qrels",
        "the judgements of the task on the hub, or their folder; null: they are in `path`",
    )
    revision: str = param("auto", "the branch, tag or commit of the task on the hub")


@dataclass(frozen=True)
class CcovidNewsParams:
    path: Path | str = param("C-MTEB/CovidRetrieval", "the task on the hub, or its folder")
    qrels: Path | str | None = param(
        "C-MTEB/CovidRetrieval-qrels",
        "the judgements of the task on the hub, or their folder; null: they are in `path`",
    )
    revision: str = param("auto", "the branch, tag or commit of the task on the hub")


def _named(task: str, counts: dict[str, int | float], passage_characters: float) -> Named:
    of_positives = {"passage_characters.mean": passage_characters}
    official = (Official(SOURCE, counts), Official(f"{SOURCE}, of positives", of_positives, comparable=False))
    return Named(task, CITATION, official, NOTE.format(queries=counts["queries"], task=task))


CMEDQA = _named(
    "CmedqaRetrieval",
    {"queries": 3_999, "positives": 7_527, "positives_per_query.mean": 1.88, "query_characters.mean": 48.47},
    100.58,
)
CCOVID_NEWS = _named(
    "CovidRetrieval",
    {"queries": 949, "positives": 964, "positives_per_query.mean": 1.02, "query_characters.mean": 25.93},
    1430.93,
)


def task_params(params: CmedqaParams | CcovidNewsParams) -> MtebParams:
    return MtebParams(
        path=params.path, revision=params.revision, qrels=params.qrels, split="dev", language="zh"
    )
