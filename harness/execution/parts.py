"""The parts of a step: how many there are and what each does. Both depend on the data, never on the
workers."""

from __future__ import annotations

from harness.plan import keys
from harness.plan.graph import Step
from harness.plan.kinds import CUTTABLE, FORMATS, PART

MOST = 256  # parts that one step can have; a step with more blocks has larger parts


def may_be_cut(step: Step) -> bool:
    """Whether the step can be cut into parts: its kind allows parts, and it does not itself join parts."""
    return step.kind in CUTTABLE and "parts" not in step.work


def ranges(blocks: int) -> list[range]:
    """The blocks of each part. All parts have the same number of blocks, except that the last may have
    fewer."""
    size = max(1, -(-blocks // MOST))
    return [range(start, min(start + size, blocks)) for start in range(0, blocks, size)]


def cut(step: Step, blocks: int) -> tuple[Step, list[Step]]:
    """The step that joins the parts, and the steps that make the parts. The key of a part depends only on the
    key of the whole step, on the method and on the range of blocks."""
    parts = []
    for item in ranges(blocks):
        described = {
            "kind": PART, "format": FORMATS[PART], "of": step.id, "blocks": [item.start, item.stop],
            **({"method": step.described["method"]} if "method" in step.described else {}),
        }  # fmt: skip
        work = {**step.work, "kind": step.kind, "of": step.id, "blocks": [item.start, item.stop]}
        key = keys.key(described)
        parts.append(Step(PART, key, step.dataset, step.subject, described, work, step.inputs, ()))
    return step._replace(work={**step.work, "parts": [part.id for part in parts]}), parts
