"""The step that rewrites queries, and the search of a retriever with rewritten queries."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from harness.collection.queries import Queries
from harness.contracts import IdSearcher, Reporting, Searcher, TermSearcher, VectorSearcher, Writer
from harness.errors import ContractError, check_is
from harness.execution import latency
from harness.execution.task import Outcome, Task, reported
from harness.steps import results
from harness.steps.record import Ref
from harness.steps.rewrite import Rewrite
from harness.steps.texts import IndexedRetriever
from harness.store import rewritten_files
from harness.types import Form, Hits, Ints, Rewritten


def rewrite(step: Rewrite, task: Task) -> Outcome:
    texts, queries, form = task.texts(step.texts), task.queries(step.queries), step.gives
    before = rewritten_of(task, step.before, queries).texts
    assert before is not None
    index_folder = None if step.index is None else task.read(step.index).folder
    searcher = None if step.searcher is None else _opened(step.searcher, form, task)
    writer: Writer = task.built(step.method).open(texts, index_folder, searcher)
    feedback = None if step.hits is None else task.hits(step.hits)

    def write(rows: slice) -> Rewritten:
        hits = feedback and Hits(
            np.asarray(feedback.passages[rows]), np.asarray(feedback.scores[rows]), feedback.unit
        )
        return writer.rewrite(before[rows], hits)

    began, size = time.perf_counter(), rewritten_files.BLOCK
    for start in range(0, len(before), size):
        path = rewritten_files.path_of(task.folder, start, form)
        if not path.exists():
            rows = slice(start, start + size)
            rewritten_files.save(path, checked(write(rows), form, len(before[rows])))
        task.progress(min(start + size, len(before)), len(before))
    seconds = time.perf_counter() - began
    report = dict(writer.report()) if isinstance(writer, Reporting) else {}
    facts = {"form": form, "changed": _changed(before, rewritten_files.load(task.folder, form))}
    sample = latency.measured(task, len(before), lambda query: write(slice(query, query + 1)), seconds)
    return Outcome(facts | reported(report), {"queries": len(before), "rewrite_seconds": seconds, **sample})


def _opened(planned: IndexedRetriever, form: Form, task: Task) -> Searcher:
    folder = task.read(planned.index).folder
    searcher: Searcher = task.built(planned.method).open(task.texts(planned.texts), folder)
    needed: type = TermSearcher if form == "terms" else VectorSearcher
    if not isinstance(searcher, needed):
        raise ContractError(
            f"'{planned.method.name}' says that it takes {form}, but its searcher is no "
            f"harness.contracts.{needed.__name__}"
        )
    return searcher


def _changed(before: Sequence[str], after: Rewritten) -> int | None:
    """How many queries have another text than before; None if the rewritten queries are no texts."""
    if after.texts is None:
        return None
    return sum(one != two for one, two in zip(before, after.texts, strict=True))


def checked(written: Rewritten, form: Form, queries: int) -> Rewritten:
    """The rewritten queries, checked: they have the form that the rewriter's record names, and there are as
    many as `queries` says. Raises ContractError."""
    check_is(written, Rewritten, "rewritten queries")
    values = {"text": written.texts, "terms": written.terms, "vectors": written.vectors}
    if [name for name, value in values.items() if value is not None] != [form]:
        raise ContractError(f"its record says that it gives {form}, and it gave something else")
    rows = values[form]
    if not isinstance(rows, np.ndarray if form == "vectors" else list) or len(rows) != queries:
        raise ContractError(f"it must give {form} for {queries} queries")
    if written.vectors is not None:
        if written.vectors.ndim != 2 or not np.isfinite(written.vectors).all():
            raise ContractError("its vectors must be float32[Q, d] and finite")
    elif written.texts is not None:
        for text in written.texts:
            check_is(text, str, "rewritten texts")
    else:
        _check_terms(written.terms or ())
    return written


def _check_terms(rows: Sequence[dict[str, float]]) -> None:
    for row in rows:
        for term, weight in row.items():
            if not isinstance(term, str) or not 0 < weight < float("inf"):
                raise ContractError(f"the weight of a term must be above 0 and finite: {term!r}: {weight!r}")


def rewritten_of(task: Task, made: Ref[results.Rewritten] | None, queries: Queries) -> Rewritten:
    """The queries as a step has rewritten them; the queries of the dataset if there is no such step."""
    if made is None:
        return Rewritten(texts=queries.texts, ids=queries.ids)
    artifact = task.read(made)
    return rewritten_files.load(artifact.folder, artifact.facts["form"])


def part_of(rewritten: Rewritten, rows: slice) -> Rewritten:
    return Rewritten(
        None if rewritten.texts is None else rewritten.texts[rows],
        None if rewritten.terms is None else rewritten.terms[rows],
        None if rewritten.vectors is None else rewritten.vectors[rows],
        None if rewritten.ids is None else rewritten.ids[rows],
    )


def search(searcher: Searcher, rewritten: Rewritten, k: int, within: Ints | None = None) -> Hits:
    """A retriever's best `k` hits for queries of any form. With `within`, only these positions are scored."""
    if isinstance(searcher, IdSearcher) and rewritten.ids is not None and rewritten.texts is not None:
        return searcher.search_ids(rewritten.ids, rewritten.texts, k, within)
    if rewritten.texts is not None:
        return (
            searcher.search(rewritten.texts, k)
            if within is None
            else searcher.search(rewritten.texts, k, within)
        )
    if rewritten.terms is not None:
        if not isinstance(searcher, TermSearcher):
            raise ContractError("it takes queries of terms, but its searcher is no TermSearcher")
        return searcher.search_terms(rewritten.terms, k, within)
    if not isinstance(searcher, VectorSearcher) or rewritten.vectors is None:
        raise ContractError("it takes queries of vectors, but its searcher is no VectorSearcher")
    return searcher.search_vectors(rewritten.vectors, k, within)
