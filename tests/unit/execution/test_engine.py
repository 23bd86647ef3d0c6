"""A worker process as the engine sees it: what it says, prints and dies of, and nothing left open."""

import gc
import os
import resource
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from step_samples import alone

from harness.execution import worker_handle as module
from harness.execution.engine import MOVES, Engine, StepLimits
from harness.execution.progress import Reporter
from harness.execution.worker_handle import Child
from harness.plan.graph import Step
from harness.steps import Label
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt

LONG = 120  # seconds until what must come is given up, whatever else the machine does
SAY = "import os, sys, time; line = os.fdopen(int(sys.argv[3]), 'w', buffering=1);"


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Starts a child that runs this program instead of the worker's."""
    started: list[Child] = []

    def start(program: str) -> Child:
        monkeypatch.setattr(module, "BOOT", SAY + program)
        started.append(Child(Store(tmp_path), 1))
        return started[-1]

    gc.collect()  # files that other tests have left are closed now, and not while this test runs
    before = open_files()
    yield start
    for child in started:
        child.close()
    assert open_files() == before


def test_a_process_with_more_than_1024_open_files_hears_its_children(start) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limits[1] != resource.RLIM_INFINITY and limits[1] < 2048:
        pytest.skip("this system allows fewer open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, limits[1]))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        child = start("print('{\"event\": 1}', file=line, flush=True); print('a word', flush=True)")
        assert child.event(LONG) == {"event": 1}
        assert child.event(LONG) == {"event": "died"}
        assert child.output() == "a word"
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_events_come_whole_and_in_order_however_they_are_cut(start) -> None:
    parts = ['{"ev', 'ent": 1}\n{"event"', ": 2}\n"]
    program = f"[(line.write(part), line.flush(), time.sleep(0.05)) for part in {parts!r}]; time.sleep(600)"
    child = start(program)
    assert [child.event(LONG), child.event(LONG)] == [{"event": 1}, {"event": 2}]
    assert child.event(0.2) is None
    assert child.process.poll() is None  # it did not wait for the end of the process


def test_what_has_come_counts_though_the_time_is_over(start) -> None:
    child = start("line.write('{\"event\": 1}\\n'); line.flush(); time.sleep(600)")
    assert select.select([child.events], [], [], LONG)[0]
    assert child.event(0) == {"event": 1}  # as when this thread got no core in time
    assert child.event(0) is None


def test_what_it_said_before_it_died_is_heard_first(start) -> None:
    child = start('line.write(\'{"event": "done"}\\n\'); line.flush(); os._exit(0)')
    child.process.wait()
    assert child.event(None) == {"event": "done"}
    assert child.event(None) == {"event": "died"}
    assert child.cause() == "its process ended with code 0"


def test_a_death_is_noticed_though_a_fork_holds_the_pipes(start) -> None:
    child = start("os.fork() or time.sleep(600); os.kill(os.getpid(), 11)")
    assert child.event(LONG) == {"event": "died"}
    assert child.cause() == "its process died of SIGSEGV"


def test_a_large_request_to_a_dead_or_deaf_child_does_not_raise(start) -> None:
    child = start("pass")
    child.process.wait()
    child.send(b"x" * 300_000)
    assert child.event(LONG) == {"event": "died"}


def test_a_line_that_is_no_event_counts_as_a_death_and_the_cause_is_told(start) -> None:
    child = start("line.write('hello\\n'); line.flush(); time.sleep(600)")
    assert child.event(LONG) == {"event": "died"}
    assert child.cause() == "its process closed its pipe to the harness"


def test_the_end_of_endless_output_is_kept_and_waiting_is_not_prolonged(start) -> None:
    prints = "os.write(1, b'y' * 65536)"
    child = start(f"{prints}; line.write('{{\"event\": 1}}\\n'); [{prints} for _ in iter(int, 1)]")
    assert child.event(LONG) == {"event": 1}
    assert child.event(0.5) is None
    assert 0 < len(child.output()) <= module.OUTPUT_TAIL


def test_killing_ends_the_whole_group(start) -> None:
    child = start("pid = os.fork(); line.write('{\"event\": %d}\\n' % pid) if pid else 0; time.sleep(600)")
    below = child.event(LONG)["event"]
    child.kill()
    child.process.wait()
    deadline = time.monotonic() + LONG
    while runs(below) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(below)
    assert child.cause() == "its process was killed (out of memory?)"
    assert child.process.returncode == -signal.SIGKILL


def test_a_process_that_is_ending_is_waited_for_and_one_that_lives_is_not(
    start, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, alive = start("os._exit(3)"), start("os.close(line.fileno()); time.sleep(600)")
    while Path(f"/proc/{ended.process.pid}/cmdline").read_bytes():  # as while it gives up its memory
        time.sleep(0.01)
    wait, seconds = ended.process.wait, []
    monkeypatch.setattr(ended.process, "wait", lambda timeout=None: [seconds.append(timeout), wait()][1])
    assert ended.cause() == "its process ended with code 3"
    assert seconds == [module.ENDING_SECONDS]
    assert alive.event(LONG) == {"event": "died"}
    assert alive.cause() == "its process closed its pipe to the harness"


SLOW = (
    "import faulthandler, signal;"
    "signal.signal(signal.SIGUSR1, lambda *_: (time.sleep(0.8), faulthandler.dump_traceback(2)));"
    "line.write('{\"event\": 1}\\n'); time.sleep(600)"
)


def test_a_stack_is_waited_for_however_slowly_it_comes(start) -> None:
    child = start(SLOW)
    assert child.event(LONG) == {"event": 1}
    child.print_stack()
    assert module.STACK_ENDS.decode() in child.output()


def test_a_process_that_prints_no_stack_is_waited_for_a_while_only(start) -> None:
    killed_by_it = start("line.write('{\"event\": 1}\\n'); os.fork() or time.sleep(600); time.sleep(600)")
    assert killed_by_it.event(LONG) == {"event": 1}
    killed_by_it.print_stack()  # a fork holds the pipe open
    assert killed_by_it.output() == ""
    deep, printed = module.STACK_BEGINS, module.STACK_ENDS
    assert [module.has_stack(b"", waited) for waited in (1, 10, 20)] == [False, False, True]
    assert [module.has_stack(deep, waited) for waited in (1, 3)] == [False, True]
    assert module.has_stack(deep + printed, 0)


class Lost:
    """A worker whose machine is lost while it works."""

    steps = 0

    def __init__(self, **event: object) -> None:
        self.last = {"event": "gone", "reason": "the node died", **event}
        self.closed = False

    def send(self, request: bytes) -> None: ...

    def event(self, timeout: float | None, memory: float | None) -> dict[str, object]:
        return self.last

    def output(self) -> str:
        return ""

    def kill(self) -> None: ...

    def close(self) -> None:
        self.closed = True


class Notes(Reporter):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def engine_of(step: Step, folder: Path, done: object = lambda step: None) -> Engine:
    """An engine that has handed out its only step."""
    workers = SimpleNamespace(
        count=1, idle_seconds=None, shares=lambda step: False, done=done, joined=lambda parts: None
    )
    engine = Engine({step.id: step}, Store(folder).open(), workers, Notes())
    engine.schedule.want(step.id)
    engine.schedule.next()
    return engine


SMALL = alone(Label)


def test_a_step_that_a_lost_machine_had_pushed_is_not_done_again(tmp_path: Path) -> None:
    engine, worker = engine_of(SMALL, tmp_path), Lost(pushed=True)
    assert engine._execute(SMALL, worker) is None
    assert worker.closed
    assert len(engine.schedule) == 0
    assert engine.schedule.failures == {}


def test_a_step_whose_artifact_was_lost_on_its_way_is_done_again(tmp_path: Path) -> None:
    def done(step: Step) -> None:
        raise Corrupt(step.id, "the remote has lost it")

    engine = engine_of(SMALL, tmp_path, done)
    for _ in range(MOVES):
        assert engine._execute(SMALL, Lost(event="done", reused=False)) is None
        assert engine.schedule.next() == SMALL
    assert len(engine.reporter.notes) == MOVES
    assert engine._execute(SMALL, Lost(event="done", reused=False)) is None
    reason = engine.schedule.failures[SMALL.id].reason
    assert reason.endswith(f"its worker was lost {MOVES + 1} times: the remote has lost it")


def test_the_deadline_moves_while_numba_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("harness.execution.engine.time", SimpleNamespace(monotonic=lambda: now[0]))
    limits: list[float | None] = []

    class Worker:
        """Works for 3 s, compiles for 100 s, and works on. It never ends."""

        steps = 0
        events: ClassVar = [("started", 0), ("compiling", 3), ("compiled", 100), ("progress", 1)]

        def send(self, request: bytes) -> None: ...

        def event(self, timeout: float | None, memory: float | None) -> dict[str, object] | None:
            limits.append(timeout)
            if not self.events:
                return None
            kind, seconds = self.events.pop(0)
            now[0] += seconds
            return {"event": kind, "done": 1, "total": 2, "note": ""}

        def output(self) -> str:
            return ""

        def print_stack(self) -> None: ...

        kill = close = print_stack

    engine = engine_of(SMALL, tmp_path)
    engine.limits = StepLimits(timeout=10)
    assert engine._execute(SMALL, Worker()) is None
    assert limits == [None, 10, None, 7, 6]
    assert engine.schedule.failures[SMALL.id].reason.endswith("took longer than the timeout of 10 s")


def test_progress_without_end_does_not_prolong_the_timeout(tmp_path: Path) -> None:
    class Chatty(Lost):
        def event(self, timeout: float | None, memory: float | None) -> dict[str, object]:
            kind = "started" if timeout is None else "progress"
            return {"event": kind, "done": 5, "total": 5, "note": ""}

        def print_stack(self) -> None: ...

    engine = engine_of(SMALL, tmp_path)
    engine.limits = StepLimits(timeout=0.2)
    assert engine._execute(SMALL, Chatty()) is None
    assert engine.schedule.failures[SMALL.id].reason.endswith("took longer than the timeout of 0.2 s")
