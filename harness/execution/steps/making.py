"""The steps that write a collection in columnar form, and the context that an augmenter adds to it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import numpy as np

from harness.collection import context_additions, corpus, corpus_write, limited
from harness.collection.judgements import judging
from harness.collection.limited import Limits
from harness.collection.queries import read_judgements, write_judgements, write_queries
from harness.contracts import Augmenter
from harness.errors import ContractError
from harness.execution.steps import collecting
from harness.execution.steps.task import Outcome, Task
from harness.store import disk, hits_files
from harness.store.manifest import Artifact
from harness.types import JSON


def corpus_(task: Task) -> Outcome:
    if "made" in task.work:
        return collecting.part(task)
    if "subset" in task.work:
        return _subset(task)
    source, limits = task.method(), limits_of(task)
    if limits.passages is None:
        return Outcome(corpus.write(source, task.folder, task.progress), {})
    sample = limited.Sample(source, limits)
    return Outcome(corpus_write.write_rows(sample.rows(), sample.locate, task.folder, task.progress), {})


def _subset(task: Task) -> Outcome:
    """Write the same corpus with fewer candidates: the top of a run, and the judged passages."""
    whole, queries = task.input("corpus"), task.queries()
    read = corpus.Corpus(whole.folder)
    hits = hits_files.load(task.store.read(hits_files.among(task.work["inputs"])[0]))
    judged = judging(read, queries, read_judgements(task.input("judgements").folder)).judged
    kept = np.zeros(read.passages, np.bool_)
    top = hits.passages[:, : task.work["subset"]]
    kept[top[top >= 0]] = True
    kept[judged.passage[judged.passage < read.passages]] = True
    kept &= read.candidate
    for path in sorted([*whole.folder.glob("*.arrow"), *whole.folder.glob("*.npy")]):
        shutil.copyfile(path, task.folder / path.name)
    np.save(task.folder / "candidate.npy", kept, allow_pickle=False)
    return Outcome({**whole.facts, "candidates": int(kept.sum())}, {})


def queries(task: Task) -> Outcome:
    if "made" in task.work:
        return collecting.part(task)
    return Outcome(write_queries(limited.queries(task.method(), limits_of(task)), task.folder), {})


def judgements(task: Task) -> Outcome:
    """Write the judgements of a dataset. Raises ContractError for a judgement of a query that the dataset
    does not have."""
    if "made" in task.work:
        return collecting.part(task)
    source = task.method()
    facts = write_judgements(limited.judgements(source, limits_of(task)), task.folder)
    query_ids = {query.id for query in source.queries()}
    unknown = [query for query in read_judgements(task.folder).query_ids if query not in query_ids]
    if unknown:
        what = f"{len(unknown)} judged queries are not among its queries, the first is '{unknown[0]}'"
        raise ContractError(f"{what}; a dataset yields judgements of its own queries alone")
    return Outcome(facts, {})


def limits_of(task: Task) -> Limits:
    limited = task.work.get("limited", {})
    return Limits(limited.get("queries"), limited.get("passages"))


def augment(task: Task) -> Outcome:
    facts, words = context_additions.write(task.method(), task.corpus(), task.folder, task.progress)
    return Outcome({"reported": facts}, {"words": words})


def augment_blocks(task: Task) -> int:
    return context_additions.shards(task.corpus())


def augment_part(task: Task, start: int, stop: int) -> Outcome:
    """Augment some shards of documents. The augmenter is matched with the corpus once in each process."""
    read = task.corpus()

    def matched() -> tuple[Augmenter, dict[str, JSON]]:
        augmenter = task.method()
        return augmenter, context_additions.match(augmenter, read)

    augmenter, match_facts = task.once(matched)
    numbers = range(start, stop)
    changed, words = context_additions.write_shards(augmenter, read, task.folder, numbers, task.progress)
    return Outcome({"changed": list(changed), "match": match_facts}, {"words": words})


def augment_join(task: Task, parts: Sequence[Artifact]) -> Outcome:
    for part in parts:
        for name in part.files:
            disk.link(part.folder / name, task.folder / name)
    changed = [context_additions.Changed(*part.facts["changed"]) for part in parts]
    facts = context_additions.facts(task.corpus(), changed, parts[0].facts["match"])
    return Outcome({"reported": facts}, {"words": sum(part.cost["words"] for part in parts)})
