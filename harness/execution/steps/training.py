"""The steps that make a model: examples with negatives, a part of a training, the choice of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.collection.composed_texts import View
from harness.collection.corpus import Corpus
from harness.collection.judgements import Judged, judging
from harness.collection.queries import Queries, read_judgements, read_queries
from harness.errors import HarnessError
from harness.execution.steps.task import Outcome, Task, reported
from harness.scoring import protocols, score
from harness.scoring.rules import Rules, scores_of
from harness.store import hits_files
from harness.types import Examples, Hits, Pool, Training

if TYPE_CHECKING:
    from harness.types import Floats, Ints

POSITIVES, NEGATIVES = "positives.npz", "negatives.npz"


def examples(task: Task) -> Outcome:
    """The judged positives of each query of a split, and what is left of a run as negatives: nothing that is
    judged positive, nor has the text of a passage that is."""
    read, queries, cut = task.corpus(), task.queries(), task.work["negatives"]
    stored = read_judgements(task.input("judgements").folder)
    good = _positives(judging(read, queries, stored).judged, len(queries.ids), read.passages)
    hits = None
    if cut is not None:
        hits = hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))
    texts = View(read, [], "passage", None)
    bad: list[tuple[Ints, Floats]] = []
    scores: list[Floats] = []
    duplicates = 0
    for query, positives in enumerate(good):
        if hits is None:
            scores.append(np.full(len(positives), np.nan, np.float32))
            bad.append((np.zeros(0, np.int64), np.zeros(0, np.float32)))
            continue
        scores.append(_scores_of(positives, hits, query))
        passages, worth = _cut(hits, query, cut["depth"], cut["below"], cut["above"])
        open_ = ~np.isin(passages, positives)
        passages, worth = passages[open_], worth[open_]
        texts_of_positives = set(texts.take(positives)) if len(positives) else set()
        other = np.array([text not in texts_of_positives for text in texts.take(passages)], np.bool_)
        duplicates += int((~other).sum())
        bad.append((passages[other], worth[other]))
    _write(task.folder / POSITIVES, list(zip(good, scores, strict=True)))
    _write(task.folder / NEGATIVES, bad)
    facts = {
        "queries": len(queries.ids),
        "queries_with_positives": sum(len(positives) > 0 for positives in good),
        "positives": sum(map(len, good)),
        "negatives": sum(len(passages) for passages, _ in bad),
        "queries_without_negatives": sum(len(passages) == 0 for passages, _ in bad),
        "duplicates_of_positives": duplicates,
    }
    return Outcome(facts, {})


def train(task: Task) -> Outcome:
    work = task.work
    before = None if work["before"] is None else task.store.read(work["before"]).folder
    training = Training(
        work["seed"], work["segment"], work["segments"], before,
        lambda done, total, note: task.progress(done, total, note),
    )  # fmt: skip
    report = task.method().train(_joined_examples(task), task.folder, training)
    missing = [part for part in task.record.parts(task.values) if not (task.folder / part).is_dir()]
    if missing:
        raise HarnessError(f"the trainer '{task.record.name}' left no model in {', '.join(missing)}")
    return Outcome(reported(report), {})


def validate(task: Task) -> Outcome:
    """The measure of every checkpoint; the first of equals is chosen."""
    work, read, queries = task.work, task.corpus(), task.queries()
    how = Rules(**work["rules"])
    judged = how.judging(read, queries, read_judgements(task.input("judgements").folder)).judged
    plugin_measures = protocols.measures_of_plugins(task.catalogue)
    column, _ = protocols.column(work["measure"], plugin_measures)
    curve: list[float] = []
    count = 0
    for done, step in enumerate(work["hits"]):
        task.progress(done, len(work["hits"]))
        hits = hits_files.load(task.store.read(step))
        scores = scores_of(
            how, hits, judged, [column._replace(unit=hits.unit)], read, queries, plugin_measures
        )
        count = len(scores.queries)
        curve.append(score.mean(scores.columns[0], np.ones(count, np.bool_)))
    best = int(np.argmax(curve))
    facts = {
        "on": work["on"], "measure": column.label, "queries": count, "curve": curve, "checkpoint": best + 1,
        "model": work["checkpoints"][best],
    }  # fmt: skip
    return Outcome({"validation": facts, "reported": facts}, {})


def _positives(judged: Judged, queries: int, passages: int) -> list[Ints]:
    """int64[n] for each query: the judged positives that the corpus has, ascending."""
    kept = (judged.grade > 0) & (judged.passage < passages)
    order = np.lexsort((judged.passage[kept], judged.query[kept]))
    query, passage = judged.query[kept][order], judged.passage[kept][order]
    return np.split(passage.astype(np.int64), np.searchsorted(query, np.arange(1, queries)))


def _scores_of(positives: Ints, hits: Hits, query: int) -> Floats:
    """float32[n]: what the run gave these passages; NaN where it did not find them."""
    places = {passage: at for at, passage in enumerate(hits.passages[query].tolist())}
    scores = hits.scores[query]
    return np.array(
        [scores[places[passage]] if passage in places else np.nan for passage in positives.tolist()],
        np.float32,
    )


def _cut(hits: Hits, query: int, depth: int, below: float | None, above: float | None) -> tuple[Ints, Floats]:
    """The top of a run between two scores."""
    passages, scores = hits.passages[query][:depth], hits.scores[query][:depth]
    kept = passages >= 0
    if below is not None:
        kept &= scores < below
    if above is not None:
        kept &= scores > above
    return passages[kept], scores[kept]


def _write(path: Path, lists: Sequence[tuple[Ints, Floats]]) -> None:
    bounds = np.cumsum([0, *(len(passages) for passages, _ in lists)], dtype=np.int64)
    passages = np.concatenate([np.zeros(0, np.int64), *(passages for passages, _ in lists)])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in lists)])
    np.savez(path, bounds=bounds, passages=passages.astype(np.int64), scores=scores.astype(np.float32))


def _joined_examples(task: Task) -> Examples:
    """Those of all splits that a model is trained on; a later corpus' positions follow an earlier one's."""
    texts: list[str] = []
    pools: dict[str, list[Pool]] = {POSITIVES: [], NEGATIVES: []}
    views: list[View] = []
    offsets = [0]
    for source in task.work["sources"]:
        made = task.store.read(source["examples"])
        asked = next(step for step in made.described["inputs"] if step.startswith("queries-"))
        queries: Queries = read_queries(task.store.read(asked).folder)
        texts += queries.texts
        views.append(View(Corpus(task.store.read(source["corpus"]).folder), [], "passage", None))
        for name, parts in pools.items():
            with np.load(made.folder / name, allow_pickle=False) as kept:
                parts.append(Pool(kept["bounds"], kept["passages"] + offsets[-1], kept["scores"]))
        offsets.append(offsets[-1] + views[-1].size)

    def texts_at(positions: Ints) -> list[str]:
        which = np.searchsorted(offsets, positions, side="right") - 1
        found = [""] * len(positions)
        for number, view in enumerate(views):
            places = np.flatnonzero(which == number)
            if len(places):
                for place, text in zip(places, view.take(positions[places] - offsets[number]), strict=True):
                    found[place] = text
        return found

    joined = {name: _joined(parts) for name, parts in pools.items()}
    return Examples(
        texts, joined[POSITIVES], joined[NEGATIVES], task.work["take"], task.work["draw"], texts_at
    )


def _joined(parts: Sequence[Pool]) -> Pool:
    starts = np.cumsum([0, *(part.bounds[-1] for part in parts)])
    bounds = [part.bounds[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Pool(
        np.concatenate([np.zeros(1, np.int64), *bounds]),
        np.concatenate([part.passages for part in parts]),
        np.concatenate([part.scores for part in parts]),
    )
