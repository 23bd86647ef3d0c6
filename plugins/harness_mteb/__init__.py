"""The dataset `mteb`: a retrieval task of MTEB on the hub, or of BEIR in a folder or zip."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.plugin import Dataset, Meant, hookimpl, param


@dataclass(frozen=True)
class MtebParams:
    path: Path | str = param(
        help="a dataset of the hub, such as mteb/scifact; or the path of a folder or .zip, beginning "
        "with '.', '/' or '~'"
    )
    revision: str = param("auto", "the branch, tag or commit on the hub; its commit is part of the key")
    qrels: Path | str | None = param(
        None, "where the judgements are, if not in `path`, such as C-MTEB/CmedqaRetrieval-qrels"
    )
    subset: str | None = param(
        None, "the subset, if the task has several: en reads en-corpus, en-queries and en-qrels"
    )
    split: str = param("test", "the split of the judgements; its queries are those with a judgement")
    language: str | None = param(
        None, "the language of the passages (ISO 639-1); null: the one that the dataset's README names"
    )
    query_language: str | None = param(None, "the language of the queries, if it is another")
    exclude_self: bool = param(
        False, "removes a passage with the query's id from the results, as BEIR and some tasks of MTEB do"
    )

    def __post_init__(self) -> None:
        for name, pattern in (("split", r"[\w.-]+"), ("revision", r"[\w./-]+"), ("subset", r"[\w.-]+")):
            value = getattr(self, name)
            if value is not None and (not re.fullmatch(pattern, value) or ".." in value):
                raise ValueError(f"{name} '{value}' is no plain name; write it like test, main or en")
        for name in ("path", "qrels"):
            value = getattr(self, name)
            if isinstance(value, str) and not re.fullmatch(r"[\w.-]+/[\w.-]+", value):
                raise ValueError(
                    f"{name} '{value}' is no name; write OWNER/NAME as on the hub, or begin a path with ./"
                )
        for name in ("language", "query_language"):
            code = getattr(self, name)
            if code is not None and not re.fullmatch("[a-z]{2}", code):
                raise ValueError(f"{name} '{code}' is no language code; write it like en or zh")


def missing_files(params: Any) -> list[str]:
    """The package huggingface-hub, if a dataset of the hub is named and the package is missing."""
    named = isinstance(params.path, str) or isinstance(params.qrels, str)
    if not named or importlib.util.find_spec("huggingface_hub") is not None:
        return []
    what = f"the dataset {params.path} of the hub needs huggingface-hub"
    return [f"{what}: pip install 'passage-harness[hub]', or name a folder"]


def build_cmedqa(params: Any) -> Any:
    from harness_mteb import named
    from harness_mteb.source import Mteb

    return Mteb(named.task_params(params), named.CMEDQA)


def build_ccovid_news(params: Any) -> Any:
    from harness_mteb import named
    from harness_mteb.source import Mteb

    return Mteb(named.task_params(params), named.CCOVID_NEWS)


def from_word(word: str, language: str | None) -> Meant | None:
    """A dataset of MTEB on the hub, perhaps with a split: `mteb/scifact/test`."""
    owner, _, rest = word.partition("/")
    name, _, split = rest.partition("/")
    if owner not in ("mteb", "C-MTEB") or not name or Path(owner, name).is_dir():
        return None
    given = {"split": split, "language": language}
    return Meant({"path": f"{owner}/{name}", **{key: value for key, value in given.items() if value}})


@hookimpl
def harness_datasets() -> Iterable[Dataset]:
    from harness_mteb.named import CcovidNewsParams, CmedqaParams  # imported here: it needs MtebParams

    yield Dataset(
        name="cmedqa",
        summary="cMedQA: medical questions, out of DuReader-retrieval's domain (Qiu et al. 2022)",
        build=build_cmedqa,
        params=CmedqaParams,
        missing_files=missing_files,
    )
    yield Dataset(
        name="ccovid-news",
        summary="cCOVID-News: questions on news of COVID-19, out of DuReader-retrieval's domain",
        build=build_ccovid_news,
        params=CcovidNewsParams,
        missing_files=missing_files,
    )
    yield Dataset(
        name="mteb",
        summary="Retrieval tasks of MTEB and BEIR: datasets of the hub, folders of them, BEIR's zip files",
        build="harness_mteb.source:Mteb",
        params=MtebParams,
        missing_files=missing_files,
        from_word=from_word,
    )
