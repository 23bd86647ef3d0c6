"""Executes one step of the plan in a worker: a pure function of its inputs on a shared store."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from harness import additions, compiling, corpus, hitsfile, params, ranking, topics
from harness.catalogue import Catalogue
from harness.contracts import Reporting, Scorer, Searcher
from harness.corpus import Corpus
from harness.errors import ContractError
from harness.store import Artifact, Store
from harness.texts import View
from harness.types import JSON, Batch, Hits, Unit

if TYPE_CHECKING:
    from harness.types import Floats, Ints

QUERIES = 1024  # searched in one call
PAIRS = 65536  # scored by a re-ranker in one call, about
SAMPLE = 50  # queries searched one at a time, for latency
SAMPLE_SECONDS = 5.0

Progress = Callable[[int, int | None], None]


class Outcome(NamedTuple):
    facts: dict[str, JSON]  # depend on the inputs alone
    cost: dict[str, JSON]  # measured


class Texts(View):
    """A view whose reader's progress is shown: what it has read, or what it says itself."""

    def __init__(
        self, read: Corpus, stages: Sequence[additions.Additions], unit: Unit, language: str | None,
        show: Progress,
    ) -> None:  # fmt: skip
        super().__init__(read, stages, unit, language)
        self._show, self._own = show, False

    def batches(self, size: int = 8192, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        done = start
        for batch in super().batches(size, start, stop):
            yield batch
            done += len(batch.texts)
            if not self._own:
                self._show(done, len(self))

    def progress(self, done: int) -> None:
        self._own = True
        self._show(done, len(self))


@dataclass
class Task:
    """One step to do: what the plan said of it, where to write, what to read from."""

    kind: str
    work: dict[str, JSON]
    folder: Path
    store: Store
    catalogue: Catalogue
    progress: Progress

    @property
    def record(self) -> Any:
        """The plugin's record."""
        return self.record_of(self.work)

    def record_of(self, work: JSON) -> Any:
        return self.catalogue.find(work["method"]["kind"], work["method"]["name"]).record

    def method(self, work: JSON = None) -> Any:
        """The plugin's method, built from its parameters; that of this step unless another's is given."""
        said, record = (work or self.work)["method"], self.record_of(work or self.work)
        values, problems = params.convert(record.params, said["params"], Path("/"))
        if problems:
            raise ContractError(
                f"the parameters of '{record.name}' did not survive planning: {problems[0].text}"
            )
        return record.build(values)

    def input(self, kind: str) -> Artifact:
        """The first input of that kind, verified."""
        return self.store.read(next(step for step in self.work["inputs"] if step.startswith(f"{kind}-")))

    def corpus(self) -> Corpus:
        return Corpus(self.input("corpus").folder)

    def texts(self, work: JSON = None) -> Texts:
        said = (work or self.work)["texts"]
        stages = [additions.Additions(self.store.read(step).folder) for step in said["stages"]]
        read = Corpus(self.store.read(said["corpus"]).folder)
        return Texts(read, stages, said["unit"], said["language"], self.progress)

    def queries(self) -> topics.Queries:
        return topics.read_queries(self.input("queries").folder)


def execute(task: Task) -> Outcome:
    """Do the step. Its time is told without that of compiling, which is told beside it."""
    compiled = compiling.watch(task.record.libraries)
    began = time.perf_counter()
    outcome = EXECUTORS[task.kind](task)
    total, spent = time.perf_counter() - began, compiled()
    cost = {"seconds": total - spent, **({"compile_seconds": spent} if spent else {}), **outcome.cost}
    return Outcome(outcome.facts, cost)


def _corpus(task: Task) -> Outcome:
    return Outcome(corpus.write(task.method(), task.folder, task.progress), {})


def _queries(task: Task) -> Outcome:
    return Outcome(topics.write_queries(task.method().queries(), task.folder), {})


def _judgements(task: Task) -> Outcome:
    return Outcome(topics.write_judgements(task.method().judgements(), task.folder), {})


def _augment(task: Task) -> Outcome:
    return Outcome(additions.write(task.method(), task.corpus(), task.folder, task.progress), {})


def _index(task: Task) -> Outcome:
    texts = task.texts()
    task.progress(0, len(texts))
    reported = task.method().index(texts, task.folder)
    return Outcome({"texts": len(texts), **_reported(reported)}, {})


def _search(task: Task) -> Outcome:
    texts, queries, depth = task.texts(), task.queries(), task.work["depth"]
    searcher: Searcher = task.method().open(texts, task.input("index").folder)
    excluded = _excluded(texts.corpus, queries, texts.unit)
    found, seconds = [], 0.0
    for start in range(0, len(queries.texts), QUERIES):
        asked = queries.texts[start : start + QUERIES]
        out = excluded[start : start + QUERIES] if excluded else None
        extra = max((len(item) for item in out), default=0) if out else 0
        began = time.perf_counter()
        hits = searcher.search(asked, depth + extra)
        seconds += time.perf_counter() - began
        hits = hits._replace(unit=texts.unit)  # a retriever's hits count what its texts count
        found.append(_canonical(hits, texts.corpus, depth, len(asked), depth + extra, out))
        task.progress(start + len(asked), len(queries.texts))
    facts = hitsfile.save(task.folder, hitsfile.joined(found, texts.unit), task.work["inputs"])
    facts |= _reported(searcher.report() if isinstance(searcher, Reporting) else None)
    sample = _latency(searcher, queries.texts, depth)
    return Outcome(facts, {"queries": len(queries.texts), "search_seconds": seconds, **sample})


def _combine(task: Task) -> Outcome:
    read, queries, depth = task.corpus(), task.queries(), task.work["depth"]
    inputs = [hitsfile.load(task.store.read(step)) for step in hitsfile.among(task.work["inputs"])]
    # spreading a document over its passages may bring an excluded one back
    excluded = _excluded(read, queries, task.work["unit"])
    extra = max((len(item) for item in excluded), default=0) if excluded else 0
    again = {int(i): _opened_again(task, said) for i, said in task.work.get("within", {}).items()}
    began = time.perf_counter()
    if again:
        rescore = functools.partial(_rescored, task, again, queries)
        hits = task.method().combine(inputs, depth + extra, read.structure(), rescore)
    else:
        hits = task.method().combine(inputs, depth + extra, read.structure())
    seconds = time.perf_counter() - began
    _check_unit(hits, task.work["unit"])
    hits = _canonical(hits, read, depth, len(queries.texts), depth + extra, excluded)
    facts = hitsfile.save(task.folder, hits, task.work["inputs"])
    return Outcome(facts, {"queries": len(queries.texts), "combine_seconds": seconds})


def _opened_again(task: Task, said: JSON) -> tuple[Texts, Searcher]:
    """A retriever of another step over its index."""
    texts = task.texts(said)
    return texts, task.method(said).open(texts, task.store.read(said["index"]).folder)


def _rescored(
    task: Task, again: Mapping[int, tuple[Texts, Searcher]], queries: topics.Queries, i: int, positions: Ints
) -> Hits:
    """`harness.contracts.Rescore`: what the i-th input makes of these positions."""
    texts, searcher = again[i]
    excluded = _excluded(texts.corpus, queries, texts.unit)
    if positions.shape[:1] != (len(queries.texts),):
        raise ContractError(f"positions of the shape {positions.shape} for {len(queries.texts)} queries")
    found, width = [], positions.shape[1]
    for start in range(0, len(queries.texts), QUERIES):
        block = slice(start, start + QUERIES)
        asked, out = queries.texts[block], excluded[block] if excluded else None
        hits = searcher.search(asked, width, positions[block])._replace(unit=texts.unit)
        found.append(_canonical(hits, texts.corpus, width, len(asked), width, out))
        task.progress(start + len(asked), len(queries.texts))
    return hitsfile.joined(found, texts.unit)


def _rerank(task: Task) -> Outcome:
    texts, queries = task.texts(), task.queries()
    hits = hitsfile.load(task.store.read(hitsfile.among(task.work["inputs"])[0]))
    depth = task.work["depth"]
    folder = task.input("index").folder if task.work["indexed"] else None
    scorer: Scorer = task.method().open(texts, folder)
    head = hits.passages[:, :depth]
    rows = max(1, PAIRS // max(1, head.shape[1]))
    scores = np.zeros(head.shape, np.float32)
    seconds = 0.0
    for start in range(0, len(queries.texts), rows):
        asked, candidates = queries.texts[start : start + rows], head[start : start + rows]
        began = time.perf_counter()
        scores[start : start + rows] = _checked_scores(scorer.score(asked, candidates), candidates)
        seconds += time.perf_counter() - began
        task.progress(start + len(asked), len(queries.texts))
    width = head.shape[1]
    reranked = _canonical(Hits(head, scores, hits.unit), texts.corpus, width, len(head), width, None)
    if task.work["tail"] == "keep":
        reranked = hitsfile.with_tail(reranked, hits)
    facts = hitsfile.save(task.folder, reranked, task.work["inputs"])
    facts |= _reported(scorer.report() if isinstance(scorer, Reporting) else None)
    pairs = int((head >= 0).sum())
    return Outcome(facts, {"queries": len(queries.texts), "pairs": pairs, "rerank_seconds": seconds})


EXECUTORS: dict[str, Callable[[Task], Outcome]] = {
    "corpus": _corpus,
    "queries": _queries,
    "judgements": _judgements,
    "augment": _augment,
    "index": _index,
    "search": _search,
    "combine": _combine,
    "rerank": _rerank,
}


def _canonical(
    hits: Hits, read: Corpus, depth: int, queries: int, asked: int, excluded: Sequence[Ints] | None
) -> Hits:
    document = hits.unit == "document"
    size = read.documents if document else read.passages
    ranks = read.document_rank if document else read.id_rank
    found = ranking.canonical(
        hits, size=size, rank_of_id=ranks, depth=depth, exclude=excluded, queries=queries, asked=asked
    )
    strange = ~read.candidate[found.passages] & (found.passages >= 0) if not document else np.zeros(0)
    if strange.any():
        row, column = np.argwhere(strange)[0]
        text = f"query {row}: the position {found.passages[row, column]} is no candidate"
        raise ContractError(f"{text}; only what `batches` yields may be returned")
    return found


def _excluded(read: Corpus, queries: topics.Queries, unit: Unit) -> list[Ints] | None:
    """The positions that the harness takes out of each query's ranking; ids that are not in the corpus
    exclude nothing. A document is excluded with the last of its passages."""
    if not any(queries.exclude):
        return None
    found = read.positions([name for ids in queries.exclude for name in ids])
    ends = np.cumsum([len(ids) for ids in queries.exclude])
    each = [positions[positions >= 0] for positions in np.split(found, ends[:-1])]
    return [_whole_documents(read, positions) for positions in each] if unit == "document" else each


def _whole_documents(read: Corpus, positions: Ints) -> Ints:
    """Those documents all of whose passages are among the positions."""
    documents, counts = np.unique(read.document_of[np.unique(positions)], return_counts=True)
    whole: Ints = documents[counts == np.diff(read.first)[documents]].astype(np.int64)
    return whole


def _check_unit(hits: Hits, unit: Unit) -> None:
    if hits.unit != unit:
        raise ContractError(f"hits that count {hits.unit}s; {unit}s are expected")


def _checked_scores(scores: Floats, candidates: Ints) -> Floats:
    if scores.shape != candidates.shape:
        raise ContractError(f"scores of the shape {scores.shape} for candidates of {candidates.shape}")
    return np.where(candidates >= 0, scores, np.float32(-np.inf)).astype(np.float32)


def _latency(searcher: Searcher, queries: Sequence[str], depth: int) -> dict[str, JSON]:
    """Percentiles over a seeded sample of queries, searched one at a time, once the method is warm."""
    if not queries:
        return {}
    order = np.random.default_rng(0).permutation(len(queries))[:SAMPLE]
    taken: list[float] = []
    began = time.perf_counter()
    for i in order.tolist():
        start = time.perf_counter()
        searcher.search([queries[i]], depth)
        taken.append((time.perf_counter() - start) * 1000)
        if time.perf_counter() - began > SAMPLE_SECONDS:
            break
    p50, p95 = np.percentile(taken, [50, 95]).tolist()
    return {"latency_ms": {"p50": p50, "p95": p95, "queries": len(taken)}}


def _reported(facts: Mapping[str, JSON] | None) -> dict[str, JSON]:
    """What a method tells of its work, if it tells anything; it must be plain JSON."""
    if not facts:
        return {}
    try:
        return {"reported": orjson.loads(orjson.dumps(dict(facts)))}
    except (TypeError, ValueError) as error:
        raise ContractError(f"facts that are no JSON: {error}") from error
