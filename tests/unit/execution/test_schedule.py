"""Which step is next: the plan's order, however steps depend on each other, and no step twice."""

import threading
from pathlib import Path
from typing import cast

from step_samples import SAMPLES

from harness import steps
from harness.execution import parts
from harness.execution.progress import Reporter
from harness.execution.schedule import Failure, Idle, Schedule
from harness.plan.graph import Step
from harness.steps import Combine, Search
from harness.steps.record import AnyRecord
from harness.store.artifacts import Store

LONG = 60  # seconds until a thread that waits is given up


def step(name: str, *inputs: Step, kind: type[AnyRecord] = Combine) -> Step:
    return Step(SAMPLES[kind], name, "", "", tuple(item.id for item in inputs))


def blocks(part: Step) -> tuple[int, int]:
    record = cast("steps.PartOfStep", part.record)
    return record.start, record.stop


def schedule(folder: Path, *steps: Step) -> Schedule:
    made = Schedule({item.id: item for item in steps}, Store(folder).open(), Reporter())
    made.want(steps[-1].id)
    return made


def test_a_step_waits_for_what_it_reads(tmp_path: Path) -> None:
    a, b = step("a"), step("b")
    c = step("c", a, b)
    made = schedule(tmp_path, a, b, c)
    assert (made.next(), made.next()) == (a, b)
    made.done(b, False)
    assert made.next(patience=0) is Idle.IDLE
    made.done(a, False)
    assert made.next() == c
    made.done(c, False)
    assert made.next() is None
    assert made.executed == [b.id, a.id, c.id]


def test_what_reads_a_failed_step_fails_with_its_reason(tmp_path: Path) -> None:
    a = step("a")
    b = step("b", a)
    c = step("c", b)
    made = schedule(tmp_path, a, b, c)
    assert made.next() == a
    made.fail(a, Failure(a.id, "broken", False))
    assert made.next() is None
    assert set(made.failures) == {a.id, b.id, c.id}


def test_other_threads_get_steps_while_a_remote_is_asked_for_parts(tmp_path: Path) -> None:
    a, b = step("a", kind=Search), step("b")
    c = step("c", a, b)
    made = schedule(tmp_path, a, b, c)
    assert made.next() == a
    begun: list[Step | None] = []

    def is_made(part: str) -> bool:
        other = threading.Thread(target=lambda: begun.append(made.next(patience=0)), daemon=True)
        other.start()
        other.join(LONG)
        return True

    joined, items = parts.cut(a, 2)
    made.cut(a, joined, items, is_made)
    assert begun == [b, Idle.IDLE]


def test_parts_come_before_the_whole_and_one_that_fails_ends_it(tmp_path: Path) -> None:
    a = step("a", kind=Search)
    b = step("b", a)
    made = schedule(tmp_path, a, b)
    assert made.next() == a
    joined, items = parts.cut(a, 3)
    made.cut(a, joined, items, lambda part: part == items[0].id)  # the first is there already
    assert (made.next(), made.next()) == (items[1], items[2])
    assert made.parts_done(a) == (1, 3)
    made.done(items[2], False)
    assert made.next(patience=0) is Idle.IDLE
    made.again(items[1])
    assert made.next() == items[1]
    made.fail(items[1], Failure(a.id, "broken", False))
    assert made.next() is None
    assert {a.id, b.id} <= set(made.failures)


def test_parts_depend_on_the_step_and_not_on_who_works() -> None:
    a = step("a", kind=Search)
    _, first = parts.cut(a, 10)
    assert [blocks(item) for item in first] == [(i, i + 1) for i in range(10)]
    _, many = parts.cut(a, 1000)
    assert len(many) == 250
    assert blocks(many[-1]) == (996, 1000)
    assert len({item.id for item in (*first, *many)}) == 260
