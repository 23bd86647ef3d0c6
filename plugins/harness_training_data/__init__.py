"""Training data of other tools: the command `training-data`, and the retriever `run` of what files list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.plugin import Command, Retriever, hookimpl, param

TRAINING = "training-"  # before a form of training data, because runs have forms of the same names


@dataclass(frozen=True)
class RunParams:
    """The parameters of `run`."""

    file: Path = param(
        help="a run; {dataset} and {split} in the path stand for the dataset and the split that is searched"
    )
    form: Literal[
        "auto", "trec", "msmarco", "rocketqa", "tevatron", "dureader", "training-tevatron",
        "training-sentence-transformers", "training-rocketqa", "training-rocketqa-pairs", "training-msmarco",
        "training-msmarco-ids",
    ] = param(
        "auto", "the form of the file, if its first lines do not show it (docs/exchange.md)"
    )  # fmt: skip
    unknown: Literal["refuse", "skip"] = param(
        "refuse", "if the collection lacks a passage of the file: refuse, or skip the passage and count it"
    )


def of_negatives(file: Path) -> Mapping[str, Any]:
    return {"file": str(file), "unknown": "skip"}


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(
        name="run",
        summary="The ranking of a run file of another tool, or the negatives of its training data",
        build="harness_training_data.retriever:Run",
        params=RunParams,
        queries=("ids",),
        precomputed=True,
        of_file=of_negatives,
    )


@hookimpl
def harness_commands() -> Iterable[Command]:
    yield Command(
        name="training-data",
        summary="write training data in another trainer's form",
        arguments="harness_training_data.command:arguments",
        work="harness_training_data.command:convert",
    )
