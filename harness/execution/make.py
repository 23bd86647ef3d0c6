"""The steps of a made dataset: each part that a stage changes is a step of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from harness.collection import corpus
from harness.collection.corpus import Corpus
from harness.collection.held_texts import HeldTexts
from harness.collection.maker_input import MakerInput, Parts
from harness.collection.queries import read_judgements, read_queries, write_judgements, write_queries
from harness.contracts import Encoding, Source
from harness.errors import ContractError, HarnessError, check_is
from harness.execution import checked
from harness.execution.task import Outcome, Task
from harness.steps import make as steps
from harness.steps.make import MadePart, Make
from harness.steps.texts import Encoder
from harness.types import JSON, PARTS, Document, Floats, Made, Part

KEPT = "kept"  # the folder of files that a stage keeps beside the parts, such as those of a pool


def make(step: Make, task: Task) -> Outcome:
    """Execute one stage of a made dataset. Raises ContractError if the parts that it returns are not those
    that its record names, or if it judges queries that the collection does not have."""
    record, origin = task.record_of(step.method), step.origin
    assert origin is not None
    shutil.rmtree(task.folder, ignore_errors=True)  # a stage does not go on with the files of a killed run
    working = task.folder / "working"
    working.mkdir(parents=True)
    data = MakerInput(
        **_parts(task, step.reads),
        licence=origin.licence,
        citation=origin.citation,
        url=origin.url,
        dataset=origin.dataset,
        folder=working,
        runs={system: task.hits(hits) for system, hits in step.runs.items()},
        others={name: Parts(**_parts(task, other)) for name, other in step.others.items()},
        encode=None if step.encoder is None else encoding(step.encoder, task),
        score=None if step.scorer is None else scoring(step.scorer, task, step.reads.language),
        progress=task.progress,
    )
    made = task.built(step.method).make(data)
    check_is(made, Made, "what a maker returns")
    returned = {part for part, value in zip(PARTS, made, strict=True) if value is not None}
    if returned != set(record.changes):
        what = f"it returns {', '.join(sorted(returned)) or 'nothing'}"
        raise ContractError(f"{what}, and its record changes {', '.join(record.changes)}")
    written = _write(made, task)
    after = {part: task.folder / part for part in returned}
    if "queries" in returned or "judgements" in returned:
        _check_asked(step, task, after)
    if (working / KEPT).is_dir():
        (working / KEPT).replace(task.folder / KEPT)
    shutil.rmtree(working)
    before = _folders(task, step.reads)
    facts = {
        "maker": record.name,
        "before": _counts(before),
        "after": {**_counts(before), **_counts(after)},
        "written": written,
        **data.tally.facts(),
    }
    return Outcome({"made": facts}, {})


def made_part(step: MadePart, task: Task) -> Outcome:
    """Make a part that a stage has made into the artifact of a step of its own, as other datasets have it.
    The files are the same; they are hard links where possible."""
    source = task.read(step.stage)
    for path in sorted((source.folder / step.part).rglob("*")):
        target = task.folder / path.relative_to(source.folder / step.part)
        if path.is_dir():
            target.mkdir(exist_ok=True)
            continue
        target.unlink(missing_ok=True)
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)
    return Outcome(dict(source.facts["made"]["written"][step.part]), {})


class _Documents:
    """The documents that a stage returned, as a source that the writer of corpora can read."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = documents

    def documents(self) -> Iterator[Document]:
        return iter(self._documents)


def _write(made: Made, task: Task) -> dict[str, JSON]:
    """Write the parts in the order that makers rely on: documents, queries, judgements. Returns facts."""
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


def _check_asked(step: Make, task: Task, after: Mapping[Part, Path]) -> None:
    """Raises ContractError for a judgement without its query, if the stage reads or makes both parts."""
    folders = {**_folders(task, step.reads), **after}
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


def _folders(task: Task, parts: steps.Parts) -> dict[Part, Path]:
    refs = {part: parts.of(part) for part in PARTS}
    return {part: task.read(ref).folder for part, ref in refs.items() if ref is not None}


def _parts(task: Task, parts: steps.Parts) -> dict[str, Any]:
    return {
        "read_corpus": None if parts.corpus is None else task.corpus(parts.corpus),
        "read_queries": None if parts.queries is None else task.queries(parts.queries),
        "read_judgements": None if parts.judgements is None else task.judgements(parts.judgements),
        "language": parts.language,
        "query_language": parts.query_language,
        "split": parts.split,
    }


def encoding(encoder: Encoder, task: Task) -> Callable[[Sequence[str], bool], Floats]:
    """The function that turns texts into the vectors of a retriever. Raises HarnessError if it has none."""
    retriever = task.built(encoder.method)
    if not isinstance(retriever, Encoding):
        name = encoder.method.name
        raise HarnessError(
            f"the retriever '{name}' gives no vectors of texts; name one that does, as 'dense'"
        )
    return retriever.encode


def scoring(
    scorer: Encoder, task: Task, language: str | None
) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    """The function that scores pairs of texts with a re-ranker, which is built once."""
    reranker = task.built(scorer.method)
    held: list[str] = []  # the second texts of the pairs, which the re-ranker reads by position
    opened = reranker.open(HeldTexts(held, language), None)

    def score(firsts: Sequence[str], seconds: Sequence[str]) -> Floats:
        held[:] = list(dict.fromkeys(seconds))
        position = {text: number for number, text in enumerate(held)}
        asked = {text: row for row, text in enumerate(dict.fromkeys(firsts))}
        rows: list[dict[int, int]] = [{} for _ in asked]  # of each first: position -> column
        for first, second in zip(firsts, seconds, strict=True):
            columns = rows[asked[first]]
            columns.setdefault(position[second], len(columns))
        candidates = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for row, columns in enumerate(rows):
            candidates[row, : len(columns)] = list(columns)
        scores = checked.scores(opened.score(list(asked), candidates), candidates)
        pairs = zip(firsts, seconds, strict=True)
        values = [scores[asked[one], rows[asked[one]][position[other]]] for one, other in pairs]
        return np.array(values, np.float32)

    return score
