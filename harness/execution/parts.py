"""Parts of a step: how many there are and what each does, fixed by the data, never by who works."""

from __future__ import annotations

from harness.plan import keys
from harness.plan.graph import Step
from harness.plan.kinds import CUTTABLE, FORMATS, PART

MOST = 256  # parts of one step: more blocks make larger parts


def may_be_cut(step: Step) -> bool:
    """Whether this is a kind of step that has parts, and is not joined from them already."""
    return step.kind in CUTTABLE and "parts" not in step.work


def ranges(blocks: int) -> list[range]:
    """The blocks of each part: parts of equal size but for the last."""
    size = max(1, -(-blocks // MOST))
    return [range(start, min(start + size, blocks)) for start in range(0, blocks, size)]


def cut(step: Step, blocks: int) -> tuple[Step, list[Step]]:
    """The step that joins the parts, and the steps that make them. A part's key depends on the whole's key
    and on the part's range alone."""
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
