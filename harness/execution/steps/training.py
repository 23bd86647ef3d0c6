"""The steps that make a model: examples with negatives, a segment of a training, the choice of a
checkpoint."""

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
from harness.plan.kinds import of_kind
from harness.scoring import protocols, score
from harness.scoring.rank_agreement import kendall_tau
from harness.scoring.rules import Rules, scores_of
from harness.store import hits_files
from harness.types import JSON, Examples, Hits, Pool, Training

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from harness.types import Floats, Ints

POSITIVES, NEGATIVES, UNDENOISED = "positives.npz", "negatives.npz", "undenoised.npz"
FILLING, CHOOSING = 1, 2  # the purposes of random numbers; part of their seeds


def examples(task: Task) -> Outcome:
    """Write the judged positives of each query of a split, and the negatives from the top of a run. A
    negative is not judged positive, and does not have the text of a positive. Two queries with the same text
    have the positives of both."""
    read, queries, cut = task.corpus(), task.queries(), task.work["negatives"]
    judged = judging(read, queries, read_judgements(task.input("judgements").folder)).judged
    good = _positives(judged, queries.texts, read.passages, task.work["level"])
    texts = View(read, [], "passage", None)
    if cut is None:
        silent = [np.full(len(positives), np.nan, np.float32) for positives in good]
        none = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * len(good)
        _write(task.folder / POSITIVES, list(zip(good, silent, strict=True)))
        _write(task.folder / NEGATIVES, none)
        return Outcome({**_counts(good, none), "duplicates_of_positives": 0}, {})
    hits = hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))
    positives: list[tuple[Ints, Floats]] = []
    negatives: list[tuple[Ints, Floats]] = []
    undenoised: list[tuple[Ints, Floats]] = []
    candidates = np.flatnonzero(read.candidate)
    duplicates = trusted = filled = 0
    for query, known in enumerate(good):
        passages, scores = _top(hits, query, cut["depth"])
        if cut["positives_above"] is not None and len(known):
            graded = judged.passage[judged.query == query]
            sure = (scores > cut["positives_above"]) & ~np.isin(passages, graded)
            trusted += int(sure.sum())
            known = np.union1d(known, passages[sure])
        positives.append((known, _scores_of(known, hits, query)))
        unlike, same = _unlike(passages, known, texts)
        duplicates += same
        passages, scores = passages[unlike], scores[unlike]
        undenoised.append((passages, scores))
        within = np.ones(len(passages), np.bool_)
        if cut["below"] is not None:
            within &= scores < cut["below"]
        if cut["above"] is not None:
            within &= scores > cut["above"]
        passages, scores = passages[within], scores[within]
        if len(passages) < cut["fill"] and len(known):
            drawn = np.random.default_rng([FILLING, query]).permutation(candidates)[: 2 * cut["fill"] + 16]
            drawn = drawn[~np.isin(drawn, passages)]
            drawn = drawn[_unlike(drawn, known, texts)[0]][: cut["fill"] - len(passages)]
            filled += len(drawn)
            passages = np.concatenate([passages, drawn])
            scores = np.concatenate([scores, np.full(len(drawn), np.nan, np.float32)])
        negatives.append((passages, scores))
    _write(task.folder / POSITIVES, positives)
    _write(task.folder / NEGATIVES, negatives)
    if cut["undenoised"]:
        _write(task.folder / UNDENOISED, undenoised)
    facts = {
        **_counts([known for known, _ in positives], negatives),
        "duplicates_of_positives": duplicates,
        "positives_by_score": trusted,
        "random_negatives": filled,
    }
    return Outcome(facts, {})


def _counts(good: Sequence[Ints], bad: Sequence[tuple[Ints, Floats]]) -> dict[str, int]:
    return {
        "queries": len(good),
        "queries_with_positives": sum(len(positives) > 0 for positives in good),
        "positives": sum(map(len, good)),
        "negatives": sum(len(passages) for passages, _ in bad),
        "queries_without_negatives": sum(len(passages) == 0 for passages, _ in bad),
    }


def _unlike(passages: Ints, known: Ints, texts: View) -> tuple[NDArray[np.bool_], int]:
    """bool[n]: which passages are neither known positives nor have the text of one; and how many passages are
    left out only because of their text."""
    known_texts = set(texts.take(known)) if len(known) else set()
    other = ~np.isin(passages, known)
    unlike = other & np.array([text not in known_texts for text in texts.take(passages)], np.bool_)
    return unlike, int((other & ~unlike).sum())


def train(task: Task) -> Outcome:
    work = task.work
    before = None if work["before"] is None else task.store.read(work["before"]).folder
    measured: dict[str, JSON] = {}
    training = Training(
        work["seed"], work["segment"], work["segments"], before,
        lambda done, total, note: task.progress(done, total, note), measured.update,
    )  # fmt: skip
    report = task.method().train(_joined_examples(task), task.folder, training)
    missing = [part for part in task.record.parts(task.values) if not (task.folder / part).is_dir()]
    if missing:
        raise HarnessError(f"the trainer '{task.record.name}' left no model in {', '.join(missing)}")
    return Outcome(reported(report), measured)


def validate(task: Task) -> Outcome:
    """Measure every checkpoint and choose the best one; the first of equals is chosen."""
    work, read, queries = task.work, task.corpus(), task.queries()
    how = Rules(**work["rules"])
    judged = how.judging(read, queries, read_judgements(task.input("judgements").folder)).judged
    plugin_measures = protocols.measures_of_plugins(task.catalogue)
    column, _ = protocols.column(work["measure"], plugin_measures)

    def measured(steps: Sequence[str], begun: int = 0) -> tuple[list[float], int]:
        curve, count = list[float](), 0
        for done, step in enumerate(steps, begun):
            task.progress(done, len(work["hits"]) + len(work["whole"]))
            hits = hits_files.load(task.store.read(step))
            columns = [column._replace(unit=hits.unit)]
            scores = scores_of(how, hits, judged, columns, read, queries, plugin_measures)
            count = len(scores.queries)
            curve.append(score.mean(scores.columns[0], np.ones(count, np.bool_)))
        return curve, count

    curve, count = measured(work["hits"])
    best = int(np.argmax(curve))
    facts = {
        "on": work["on"], "measure": column.label, "queries": count, "curve": curve, "checkpoint": best + 1,
        "model": work["checkpoints"][best],
    }  # fmt: skip
    if work["subset"]:
        facts["corpus"] = {**work["subset"], "candidates": int(read.candidate.sum()), "comparable": False}
    if work["whole"]:
        facts["whole"], _ = measured(work["whole"], len(curve))
        facts["kendall_tau"] = kendall_tau(curve, facts["whole"])
    return Outcome({"validation": facts, "reported": facts}, {})


def _positives(judged: Judged, texts: Sequence[str], passages: int, level: int) -> list[Ints]:
    """int64[n] for each query: the judged positives that are in the corpus, ascending. Queries with the same
    text share theirs."""
    kept = (judged.grade >= level) & (judged.passage < passages)
    first: dict[str, int] = {}
    number_of = np.array([first.setdefault(text, number) for number, text in enumerate(texts)], np.int64)
    query, passage = number_of[judged.query[kept]], judged.passage[kept]
    order = np.lexsort((passage, query))
    lists = np.split(passage[order].astype(np.int64), np.searchsorted(query[order], np.arange(1, len(texts))))
    return [np.unique(lists[number]) for number in number_of.tolist()]


def _scores_of(positives: Ints, hits: Hits, query: int) -> Floats:
    """float32[n]: the scores that the run gave these passages for the query; NaN for a passage that the run
    did not find."""
    places = {passage: at for at, passage in enumerate(hits.passages[query].tolist())}
    scores = hits.scores[query]
    return np.array(
        [scores[places[passage]] if passage in places else np.nan for passage in positives.tolist()],
        np.float32,
    )


def _top(hits: Hits, query: int, depth: int) -> tuple[Ints, Floats]:
    passages, scores = hits.passages[query][:depth], hits.scores[query][:depth]
    return passages[passages >= 0], scores[passages >= 0]


def _write(path: Path, lists: Sequence[tuple[Ints, Floats]]) -> None:
    bounds = np.cumsum([0, *(len(passages) for passages, _ in lists)], dtype=np.int64)
    passages = np.concatenate([np.zeros(0, np.int64), *(passages for passages, _ in lists)])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in lists)])
    np.savez(path, bounds=bounds, passages=passages.astype(np.int64), scores=scores.astype(np.float32))


def _joined_examples(task: Task) -> Examples:
    """The examples of all splits that a model is trained on. The positions of each corpus follow those of the
    corpus before it."""
    texts: list[str] = []
    share = task.work["share"]
    pools: dict[str, list[Pool]] = {POSITIVES: [], NEGATIVES: [], **({UNDENOISED: []} if share else {})}
    views: list[View] = []
    offsets = [0]
    for source in task.work["sources"]:
        made = task.store.read(source["examples"])
        queries_step = of_kind("queries", made.described["inputs"])[0]
        queries: Queries = read_queries(task.store.read(queries_step).folder)
        texts += queries.texts
        views.append(View(Corpus(task.store.read(source["corpus"]).folder), [], "passage", None))
        for name, parts in pools.items():
            with np.load(made.folder / name, allow_pickle=False) as kept:
                parts.append(Pool(kept["bounds"], kept["passages"] + offsets[-1], kept["scores"]))
        offsets.append(offsets[-1] + views[-1].size)

    def texts_at(positions: Ints) -> list[str]:
        which = np.searchsorted(offsets, positions, side="right") - 1
        taken = [""] * len(positions)
        for number, view in enumerate(views):
            places = np.flatnonzero(which == number)
            if len(places):
                for place, text in zip(places, view.take(positions[places] - offsets[number]), strict=True):
                    taken[place] = text
        return taken

    joined = {name: _joined(parts) for name, parts in pools.items()}
    if task.work["queries"] is not None:
        known = np.flatnonzero(np.diff(joined[POSITIVES].bounds))
        # the chosen queries do not depend on the seed of the training
        kept = np.sort(np.random.default_rng(CHOOSING).permutation(known)[: task.work["queries"]])
        texts = [texts[query] for query in kept.tolist()]
        joined = {name: _chosen(pool, kept) for name, pool in joined.items()}
    drawing = (task.work["take"], task.work["draw"], texts_at, joined.get(UNDENOISED), share)
    return Examples(texts, joined[POSITIVES], joined[NEGATIVES], *drawing)


def _chosen(pool: Pool, queries: Ints) -> Pool:
    lists = [pool.of(query) for query in queries.tolist()]
    bounds = np.cumsum([0, *(len(passages) for passages, _ in lists)], dtype=np.int64)
    none = (np.zeros(0, np.int64), np.zeros(0, np.float32))
    passages, scores = (np.concatenate(parts) for parts in zip(none, *lists, strict=True))
    return Pool(bounds, passages, scores)


def _joined(parts: Sequence[Pool]) -> Pool:
    starts = np.cumsum([0, *(part.bounds[-1] for part in parts)])
    bounds = [part.bounds[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Pool(
        np.concatenate([np.zeros(1, np.int64), *bounds]),
        np.concatenate([part.passages for part in parts]),
        np.concatenate([part.scores for part in parts]),
    )
