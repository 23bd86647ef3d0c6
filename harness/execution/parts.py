"""The parts of a step: how many there are and what each does. Both depend on the data, never on the
workers."""

from __future__ import annotations

from harness import steps
from harness.plan.graph import Step, step_of

MOST = 256  # parts that one step can have; a step with more blocks has larger parts


def ranges(blocks: int) -> list[range]:
    """The blocks of each part. All parts have the same number of blocks, except that the last may have
    fewer."""
    size = max(1, -(-blocks // MOST))
    return [range(start, min(start + size, blocks)) for start in range(0, blocks, size)]


def cut(step: Step, blocks: int) -> tuple[Step, list[Step]]:
    """The step that joins the parts, and the steps that make the parts. The key of a part depends only on the
    key of the whole step and on the range of blocks."""
    whole = step.record
    assert not isinstance(whole, steps.PartOfStep)
    parts = [
        step_of(
            steps.PartOfStep(of=step.id, start=item.start, stop=item.stop, whole=whole),
            step.dataset,
            step.subject,
        )
        for item in ranges(blocks)
    ]
    return step._replace(parts=tuple(part.id for part in parts)), parts
