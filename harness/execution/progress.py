"""Shows the progress of a run: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Self

from harness.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from harness.plan.graph import Step

EVERY = 10.0  # seconds between two lines about the same step


class Reporter:
    """Receives the events of a run. Its methods may be called from several threads at once. This one shows
    nothing: it is for `run(..., quiet=True)` in notebooks, and for tests."""

    def planned(self, total: int, reused: int) -> None: ...
    def more(self, left: int) -> None: ...
    def started(self, step: Step) -> None: ...
    def progress(self, step: Step, done: int, total: int | None, note: str = "") -> None: ...
    def done(self, step: Step, reused: bool, compiled: float = 0.0) -> None: ...
    def failed(self, step: Step, reason: str) -> None: ...
    def scored(self, done: int, total: int) -> None: ...
    def note(self, text: str) -> None: ...
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@dataclass
class _AtWork:
    """A step at work, with what is known of its progress."""

    step: Step
    began: float
    printed: float  # when its last line was printed
    done: int | None = None
    total: int | None = None
    note: str = ""
    # the first count that it reported, and when. The speed counts from there: before it lie what a killed run
    # left, and loading
    first: tuple[int, float] | None = None

    def line(self, now: float) -> str:
        if self.done is None or self.first is None:
            return f"        {self.step.label}: at work for {_duration(now - self.began)}"
        share = f" of {self.total:,} ({100 * self.done // self.total} %)" if self.total else ""
        before, since = self.first
        rate = (self.done - before) / (now - since) if self.done > before and now > since else 0.0
        speed = f", {rate:,.0f} a second" if rate >= 1 else f", {60 * rate:,.1f} a minute" if rate else ""
        left = f", {_duration((self.total - self.done) / rate)} left" if self.total and rate else ""
        more = f", {self.note}" if self.note else ""
        return f"        {self.step.label}: {self.done:,}{share}{speed}{left}{more}"


class Lines(Reporter):
    """A reporter that prints a line when a step ends, and every `EVERY` seconds one for each step at work."""

    def __init__(self, out: IO[str]) -> None:
        self.out = out
        self.total = self.count = 0
        self.at_work: dict[str, _AtWork] = {}
        self.printed_scores: float | None = None
        self.lock = threading.RLock()
        self.ticker: threading.Thread | None = None

    def planned(self, total: int, reused: int) -> None:
        self.total = total - reused
        self.note(f"{total} steps: {reused} reused, {self.total} to do")

    def more(self, left: int) -> None:
        self.total = self.count + left

    def started(self, step: Step) -> None:
        now = time.monotonic()
        with self.lock:
            self.at_work[step.id] = _AtWork(step, now, now)
            if self.ticker is None:
                self.ticker = threading.Thread(target=self._tick, daemon=True)
                self.ticker.start()

    def _tick(self) -> None:
        """Prints the lines that are due, as long as a step is at work."""
        while True:
            time.sleep(EVERY / 20)
            with self.lock:
                for item in self.at_work.values():
                    self._print_due(item)
                if not self.at_work:
                    self.ticker = None
                    return

    def _print_due(self, item: _AtWork) -> None:
        now = time.monotonic()
        if now - item.printed > EVERY * 0.9:
            item.printed = now
            self.note(item.line(now))

    def progress(self, step: Step, done: int, total: int | None, note: str = "") -> None:
        with self.lock:
            item = self.at_work.get(step.id)
            if item is not None:
                item.done, item.total, item.note = done, total, note
                item.first = item.first or (done, time.monotonic())
                self._print_due(item)

    def done(self, step: Step, reused: bool, compiled: float = 0.0) -> None:
        item = self.at_work.get(step.id)
        taken = time.monotonic() - item.began if item else 0.0
        once = f", {compiled:.1f} s of it compiling, once a store" if compiled >= 1 else ""
        self._count(step, "made by another run" if reused else f"{taken:.1f} s{once}")

    def failed(self, step: Step, reason: str) -> None:
        self._count(step, f"FAILED: {reason}")

    def _count(self, step: Step, text: str) -> None:
        with self.lock:
            self.at_work.pop(step.id, None)
            self.count += 1
            number = self.count
        self.note(f"[{number}/{max(number, self.total)}] {step.label}: {text}")

    def scored(self, done: int, total: int) -> None:
        now = time.monotonic()
        self.printed_scores = self.printed_scores or now
        if now - self.printed_scores > EVERY:
            self.printed_scores = now
            self.note(f"        scored {done} of {total} rows")

    def note(self, text: str) -> None:
        with self.lock:
            print(printable(text), file=self.out, flush=True)

    def close(self) -> None:
        with self.lock:
            self.at_work.clear()  # an interrupted run leaves steps that never end


class Live(Reporter):
    """A reporter that shows a progress bar for the whole run and one for each step at work."""

    def __init__(self, display: Progress) -> None:
        self.display = display
        self.whole: TaskID | None = None
        self.bars: dict[str, TaskID] = {}
        self.display.start()

    def planned(self, total: int, reused: int) -> None:
        label = f"[bold]steps ({reused} of {total} reused)" if reused else "[bold]steps"
        self.whole = self.display.add_task(label, total=total, completed=reused)

    def more(self, left: int) -> None:
        if self.whole is not None:
            task = self.display.tasks[0]
            self.display.update(self.whole, total=max(task.total or 0, task.completed + left))

    def started(self, step: Step) -> None:
        self.bars[step.id] = self.display.add_task(_plain(step.label), total=None)

    def progress(self, step: Step, done: int, total: int | None, note: str = "") -> None:
        if step.id in self.bars:
            label = f"{step.label}, {note}" if note else step.label
            self.display.update(self.bars[step.id], completed=done, total=total, description=_plain(label))

    def done(self, step: Step, reused: bool, compiled: float = 0.0) -> None:
        self._end(step)

    def failed(self, step: Step, reason: str) -> None:
        self._end(step)
        self.note(f"{step.label}: FAILED: {reason}")

    def _end(self, step: Step) -> None:
        if step.id in self.bars:
            self.display.remove_task(self.bars.pop(step.id))
        if self.whole is not None:
            self.display.advance(self.whole)

    def scored(self, done: int, total: int) -> None:
        if "scored" not in self.bars:
            self.bars["scored"] = self.display.add_task("scoring, rows", total=total)
        self.display.update(self.bars["scored"], completed=done)

    def note(self, text: str) -> None:
        self.display.console.print(printable(text), markup=False, highlight=False)

    def close(self) -> None:
        self.display.stop()


def reporter(out: IO[str] | None = None) -> Reporter:
    """The reporter that fits the stream `out`: a live display on a terminal, lines elsewhere."""
    out = out or sys.stderr
    if not out.isatty():
        return Lines(out)
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """A column with the items per second, once the speed is known."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f}/s" if speed and speed >= 1 else "", style="progress.data.speed")

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    ]
    return Live(Progress(*columns, console=Console(file=out), transient=True))


def _duration(seconds: float) -> str:
    """A duration as text, such as `40 s`, `3 min` or `2 h 10 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
