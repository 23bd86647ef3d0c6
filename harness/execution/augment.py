"""The step that computes the context that an augmenter adds to each passage."""

from __future__ import annotations

from collections.abc import Sequence

from harness.collection import context_additions
from harness.contracts import Augmenter
from harness.execution.task import Outcome, Task
from harness.steps.augment import Augment
from harness.store import disk
from harness.store.manifest import Artifact
from harness.types import JSON


def augment(step: Augment, task: Task) -> Outcome:
    facts, words = context_additions.write(
        task.built(step.method), task.corpus(step.corpus), task.folder, task.progress
    )
    return Outcome({"reported": facts}, {"words": words})


def blocks(step: Augment, task: Task) -> int:
    return context_additions.shards(task.corpus(step.corpus))


def part(step: Augment, task: Task, start: int, stop: int) -> Outcome:
    """Augment some shards of documents. The augmenter is matched with the corpus once in each process."""
    read = task.corpus(step.corpus)

    def matched() -> tuple[Augmenter, dict[str, JSON]]:
        augmenter = task.built(step.method)
        return augmenter, context_additions.match(augmenter, read)

    augmenter, match_facts = task.once(matched)
    numbers = range(start, stop)
    changed, words = context_additions.write_shards(augmenter, read, task.folder, numbers, task.progress)
    return Outcome({"changed": list(changed), "match": match_facts}, {"words": words})


def join(step: Augment, task: Task, parts: Sequence[Artifact]) -> Outcome:
    for part in parts:
        for name in part.files:
            disk.link(part.folder / name, task.folder / name)
    changed = [context_additions.Changed(*part.facts["changed"]) for part in parts]
    facts = context_additions.facts(task.corpus(step.corpus), changed, parts[0].facts["match"])
    return Outcome({"reported": facts}, {"words": sum(part.cost["words"] for part in parts)})
