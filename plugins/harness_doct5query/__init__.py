"""docT5query as context: a passage is followed by queries that a T5 predicts for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from harness.plugin import Context, Facts, hookimpl, param


@dataclass(frozen=True)
class DocT5QueryParams:
    model: Path | str = param(
        help="a folder, a hub id (castorini/doc2query-t5-base-msmarco), or package:MODULE/FOLDER"
    )
    revision: str = param("auto", "the branch, tag or commit of a model of the hub")
    queries: int = param(40, "how many queries are sampled for each passage", minimum=1)
    top_k: int = param(10, "each token is drawn from this many most likely tokens", minimum=1)
    passage_length: int = param(512, "how many tokens of a passage are read", minimum=3)
    query_length: int = param(64, "the largest number of tokens of a query", minimum=1)
    seed: int = param(
        0, "the seed of the sampling; a passage's queries depend only on the seed and the text", minimum=0
    )
    device: Literal["auto", "cpu", "cuda"] = param("auto", "where the model runs, in fp32")


def resolve(params: DocT5QueryParams, facts: Facts) -> DocT5QueryParams:
    from harness.toolkit.neural import hardware, models

    model, revision = models.located(params.model, params.revision)
    device = cast("Literal['cpu', 'cuda']", hardware.device(params.device))
    return replace(params, model=model, revision=revision, device=device)


def missing_files(params: DocT5QueryParams) -> Sequence[str]:
    from harness.toolkit.neural import models

    return models.missing_files(params.model, params.revision)


def notes(params: DocT5QueryParams) -> Sequence[str]:
    from harness.toolkit.neural import models

    return models.notes(params.model, params.revision)


@hookimpl
def harness_contexts() -> Iterable[Context]:
    yield Context(
        name="doct5query",
        summary="Puts queries that a T5 predicts for a passage after it (Nogueira and Lin 2019)",
        build="harness_doct5query.augmenter:Augmenter",
        params=DocT5QueryParams,
        needs=("torch", "transformers", "tokenizers", "safetensors"),
        extra="dense",
        libraries=("torch", "transformers", "tokenizers"),
        resolve=resolve,
        missing_files=missing_files,
        notes=notes,
        cores="all",
    )
