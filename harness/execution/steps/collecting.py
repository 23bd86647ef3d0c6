"""The steps of a made dataset: a stage changes some parts, and each changed part is then a step of its
own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.maker_input import MakerInput, Parts
from harness.collection.queries import (
    read_judgements,
    read_queries,
    write_judgements,
    write_queries,
)
from harness.contracts import Encoding
from harness.errors import ContractError, HarnessError, check_is
from harness.execution.steps.task import Outcome, Task
from harness.plan.kinds import PARTS
from harness.store import hits_files
from harness.types import JSON, Document, Made, Part

if TYPE_CHECKING:
    from harness.contracts import Source
    from harness.types import Floats

KEPT = "kept"  # the folder of files that a stage keeps beside the parts, such as those of a pool


def make(task: Task) -> Outcome:
    """Execute one stage of a made dataset. Raises ContractError if the parts that it returns are not those
    that its record names, or if it judges queries that the collection does not have."""
    work, name = task.work, task.record.name
    shutil.rmtree(task.folder, ignore_errors=True)  # a stage does not go on with the files of a killed run
    working = task.folder / "working"
    working.mkdir(parents=True)
    data = MakerInput(
        **_parts(task, work["reads"]),
        **{key: work[key] for key in ("language", "query_language", "split")},
        **work["source"],
        dataset=work["of"],
        folder=working,
        runs={system: hits_files.load(task.store.read(step)) for system, step in work["runs"].items()},
        others={
            other: Parts(
                **_parts(task, other_work["parts"]),
                **{key: other_work[key] for key in ("language", "query_language", "split")},
            )
            for other, other_work in work["others"].items()
        },
        encode=encoder(task),
        progress=task.progress,
    )
    made = task.method().make(data)
    check_is(made, Made, "what a maker returns")
    returned = {part for part, value in zip(PARTS, made, strict=True) if value is not None}
    if returned != set(task.record.changes):
        what = f"it returns {', '.join(sorted(returned)) or 'nothing'}"
        raise ContractError(f"{what}, and its record changes {', '.join(task.record.changes)}")
    written = _write(made, task)
    after = {part: task.folder / part for part in returned}
    if "queries" in returned or "judgements" in returned:
        _check_asked(task, after)
    if (working / KEPT).is_dir():
        (working / KEPT).replace(task.folder / KEPT)
    shutil.rmtree(working)
    before = {part: task.store.read(step).folder for part, step in work["reads"].items()}
    facts = {
        "maker": name,
        "before": _counts(before),
        "after": {**_counts(before), **_counts(after)},
        "written": written,
        **data.tally.facts(),
    }
    return Outcome({"made": facts}, {})


def part(task: Task) -> Outcome:
    """Make a part that a stage has made into the artifact of a step of its own, as other datasets have it.
    The files are the same; they are hard links where possible."""
    source = task.store.read(task.work["made"])
    for path in sorted((source.folder / task.kind).rglob("*")):
        target = task.folder / path.relative_to(source.folder / task.kind)
        if path.is_dir():
            target.mkdir(exist_ok=True)
            continue
        target.unlink(missing_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)
    return Outcome(dict(source.facts["made"]["written"][task.kind]), {})


class _Documents:
    """The documents that a stage returned, as a source that the writer of corpora can read."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = documents

    def documents(self) -> Iterator[Document]:
        return iter(self._documents)


def _write(made: Made, task: Task) -> dict[str, JSON]:
    """Write the parts in the order that makers rely on: documents, queries, judgements. Returns the facts of
    each part."""
    written: dict[str, JSON] = {}
    if made.documents is not None:
        source = cast("Source", _Documents(made.documents))
        written["corpus"] = corpus.write(source, task.folder / "corpus", task.progress)
    if made.queries is not None:
        written["queries"] = write_queries(made.queries, _folder(task, "queries"))
    if made.judgements is not None:
        written["judgements"] = write_judgements(made.judgements, _folder(task, "judgements"))
    return written


def _folder(task: Task, name: str) -> Path:
    (task.folder / name).mkdir()
    return task.folder / name


def _check_asked(task: Task, after: Mapping[Part, Path]) -> None:
    """Check that every judgement is of a query of the collection, if the stage reads or makes both parts.
    Raises ContractError."""
    folders = {part: task.store.read(step).folder for part, step in task.work["reads"].items()}
    folders |= after
    if "queries" not in folders or "judgements" not in folders:
        return
    query_ids = set(read_queries(folders["queries"]).ids)
    unknown = [query for query in read_judgements(folders["judgements"]).query_ids if query not in query_ids]
    if unknown:
        what = f"{len(unknown)} judged queries are not asked, the first is '{unknown[0]}'"
        raise ContractError(f"{what}; a maker drops the judgements of the queries that it drops")


def _counts(folders: Mapping[Part, Path]) -> dict[str, int]:
    """How many documents, passages, queries, judgements and positives these parts hold."""
    counts: dict[str, int] = {}
    if "corpus" in folders:
        read = Corpus(folders["corpus"])
        counts |= {"documents": read.documents, "passages": read.passages}
    if "queries" in folders:
        counts["queries"] = len(read_queries(folders["queries"]).ids)
    if "judgements" in folders:
        grades = read_judgements(folders["judgements"]).grade
        counts |= {"judgements": len(grades), "positives": int(np.count_nonzero(grades > 0))}
    return counts


def _parts(task: Task, steps: Mapping[Part, str]) -> dict[str, Any]:
    folders = {part: task.store.read(step).folder for part, step in steps.items()}
    return {
        "read_corpus": Corpus(folders["corpus"]) if "corpus" in folders else None,
        "read_queries": read_queries(folders["queries"]) if "queries" in folders else None,
        "read_judgements": read_judgements(folders["judgements"]) if "judgements" in folders else None,
    }


def encoder(task: Task) -> Callable[[Sequence[str], bool], Floats] | None:
    """The function that turns texts into the vectors of the retriever that the step's maker or analysis
    names, or None if it names none. Raises HarnessError for a retriever without vectors."""
    work = task.work.get("encoder")
    if work is None:
        return None
    retriever = task.method(work)
    if not isinstance(retriever, Encoding):
        name = work["method"]["name"]
        raise HarnessError(
            f"the retriever '{name}' gives no vectors of texts; name one that does, as 'dense'"
        )
    return retriever.encode
