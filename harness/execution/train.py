"""The step that does one segment of a training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from harness.collection.composed_texts import View
from harness.errors import HarnessError
from harness.execution.examples import JUDGED, NEGATIVES, POSITIVES, UNDENOISED
from harness.execution.task import Outcome, Task, reported
from harness.steps.train import Train
from harness.types import JSON, Examples, Ints, Pool, Training

CHOOSING = 2  # the purpose of random numbers; part of their seeds


def train(step: Train, task: Task) -> Outcome:
    before = None if step.before is None else task.read(step.before).folder
    measured: dict[str, JSON] = {}
    training = Training(
        step.seed, step.segment, step.segments, before,
        lambda done, total, note: task.progress(done, total, note), measured.update,
    )  # fmt: skip
    report = task.built(step.method).train(_joined_examples(step, task), task.folder, training)
    record, values = task.record_of(step.method), task.values(step.method)
    missing = [part for part in record.parts(values) if not (task.folder / part).is_dir()]
    if missing:
        raise HarnessError(f"the trainer '{record.name}' left no model in {', '.join(missing)}")
    return Outcome(reported(report), measured)


def _joined_examples(step: Train, task: Task) -> Examples:
    """The examples of all splits that a model is trained on. Each corpus' positions follow the last one's."""
    texts: list[str] = []
    more = [*([UNDENOISED] if step.share or step.apart else []), *([JUDGED] if step.apart else [])]
    pools: dict[str, list[Pool]] = {name: [] for name in (POSITIVES, NEGATIVES, *more)}
    views: list[View] = []
    offsets = [0]
    for source in step.sources:
        made = task.read(source.examples)
        texts += task.queries(source.queries).texts
        views.append(View(task.corpus(source.corpus), [], "passage", None))
        for name, parts in pools.items():
            with np.load(made.folder / name, allow_pickle=False) as kept:
                parts.append(Pool(kept["bounds"], kept["passages"] + offsets[-1], kept["scores"]))
        offsets.append(offsets[-1] + views[-1].size)

    def read(positions: Ints, of: Callable[[View, Ints], list[str]]) -> list[str]:
        which = np.searchsorted(offsets, positions, side="right") - 1
        taken = [""] * len(positions)
        for number, view in enumerate(views):
            places = np.flatnonzero(which == number)
            if len(places):
                for place, text in zip(places, of(view, positions[places] - offsets[number]), strict=True):
                    taken[place] = text
        return taken

    joined = {name: _joined(parts) for name, parts in pools.items()}
    if step.queries is not None:
        known = np.flatnonzero(np.diff(joined[POSITIVES].bounds))
        # the chosen queries do not depend on the seed of the training
        kept = np.sort(np.random.default_rng(CHOOSING).permutation(known)[: step.queries])
        texts = [texts[query] for query in kept.tolist()]
        joined = {name: _chosen(pool, kept) for name, pool in joined.items()}
    return Examples(
        texts, joined[POSITIVES], joined[NEGATIVES], step.take, step.draw,
        lambda positions: read(positions, View.take),
        joined.get(UNDENOISED), step.share, joined.get(JUDGED), step.apart,
        lambda positions: read(positions, _titles),
    )  # fmt: skip


def _titles(view: View, positions: Ints) -> list[str]:
    return view.corpus.titles(view.corpus.document_of[positions])


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
