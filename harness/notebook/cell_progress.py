"""Shows the progress of a run as a bar in a notebook cell."""

from __future__ import annotations

import html
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from harness.execution.progress import Reporter

if TYPE_CHECKING:
    from harness.plan.graph import Step

EVERY = 0.2  # seconds between two updates


def in_notebook() -> bool:
    """Whether this code runs in a kernel that shows HTML."""
    shell = sys.modules.get("IPython")
    current = shell.get_ipython() if shell is not None else None
    return current is not None and hasattr(current, "kernel")


class Cell(Reporter):
    """A progress bar for all steps, with the running steps and notes below it. At the end of the run only the
    notes stay."""

    def __init__(self, display: Any = None) -> None:
        self._lock = threading.Lock()
        self._total = self._count = self._reused = 0
        self._working: dict[str, str] = {}
        self._notes: list[str] = []
        self._drawn = 0.0
        self._display = display or _displayed()

    def planned(self, total: int, reused: int) -> None:
        self._total, self._reused = total - reused, reused
        self._draw(True)

    def more(self, left: int) -> None:
        self._total = self._count + left

    def started(self, step: Step) -> None:
        self._working[step.id] = step.label
        self._draw()

    def progress(self, step: Step, done: int, total: int | None, note: str = "") -> None:
        share = f" of {total:,}" if total else ""
        self._working[step.id] = f"{step.label}: {done:,}{share}" + (f", {note}" if note else "")
        self._draw()

    def done(self, step: Step, reused: bool, compiled: float = 0.0) -> None:
        self._count += 1
        self._working.pop(step.id, None)
        self._draw()

    def failed(self, step: Step, reason: str) -> None:
        self.done(step, False)
        self.note(f"{step.label}: FAILED: {reason}")

    def scored(self, done: int, total: int) -> None:
        self._working["scoring"] = f"scoring: {done:,} of {total:,} rows"
        self._draw()

    def note(self, text: str) -> None:
        self._notes.append(text)
        self._draw(True)

    def close(self) -> None:
        self._working.clear()
        self._display.update(_Html(_paragraphs(self._notes)))

    def _draw(self, now: bool = False) -> None:
        with self._lock:
            if not now and time.monotonic() - self._drawn < EVERY:
                return
            self._drawn = time.monotonic()
            most = max(self._total, self._count, 1)
            label = f"{self._count} of {self._total} steps" + (
                f", {self._reused} reused" if self._reused else ""
            )
            bar = f"<progress max='{most}' value='{self._count}' aria-label='steps'></progress> {label}"
            lines = [*self._notes, *dict(self._working).values()]
            self._display.update(_Html(bar + _paragraphs(lines)))


class _Html:
    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return ""


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<div style='opacity:.75'>{html.escape(line)}</div>" for line in lines)


def _displayed() -> Any:
    from importlib import import_module

    return import_module("IPython.display").display(_Html(""), display_id=True)
