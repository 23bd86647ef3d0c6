"""`harness run --dry-run --estimate`: what a suite will cost, step by step."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence

from harness.errors import HarnessError
from harness.execution import progress
from harness.execution.estimate import Estimate, estimates, sizes_of
from harness.execution.open_dataset import with_rebuilds
from harness.plan.kinds import PARTS
from harness.runner import Prepared
from harness.store.artifacts import Store


def estimated(prepared: Prepared, store: Store, jobs: int) -> int:
    """Reads the datasets, because all estimates depend on their sizes, and prints the table of estimates.
    Raises HarnessError if the disk is too small for what will be written."""
    planned, reporter = prepared.plan, progress.reporter(sys.stderr)
    ancestors = planned.ancestors(prepared.targets)
    data = [step for step in planned.steps if step in ancestors and planned.steps[step].kind in PARTS]
    reporter.planned(len(data), sum(store.has(step) for step in data))
    try:
        with_rebuilds(planned.steps, data, lambda failures: None, store, reporter, jobs)
    finally:
        reporter.close()
    todo = [step for step in planned.steps if step in ancestors and not store.has(step)]
    listed = estimates(planned, store, todo, sizes_of(planned, store))
    free = shutil.disk_usage(store.root).free
    print("\n".join(table(listed, jobs, free)))
    wanted = sum(item.bytes or 0.0 for item in listed)
    if wanted > free:
        text = f"{wanted / 1e9:.1f} GB are to be written, and {free / 1e9:.1f} GB are free"
        raise HarnessError(f"{store.root}: {text}; choose another disk with --store")
    return 0


def table(listed: Sequence[Estimate], jobs: int, free: float) -> Iterator[str]:
    yield f"{'time':>9}  {'disk':>9}  {'memory':>9}  step"
    for item in listed:
        cells = (_duration(item.seconds), _size(item.bytes), _size(item.peak_mb and item.peak_mb * 1e6))
        yield "  ".join(f"{cell:>9}" for cell in cells) + f"  {item.step.label}"
    unknown = [item for item in listed if item.seconds is None]
    seconds = [item.seconds or 0.0 for item in listed]
    longest = max(seconds, default=0.0)
    yield ""
    written = _size(sum(item.bytes or 0.0 for item in listed))
    yield f"{len(listed)} steps to do: {_duration(sum(seconds))} of work, {written} on disk"
    if jobs > 1:
        yield f"with {jobs} at once at least {_duration(max(longest, sum(seconds) / jobs))}"
    yield f"{_size(free)} are free where the store is"
    if unknown:
        advice = "try them with --limit or --sample first"
        yield f"{len(unknown)} steps are of methods that have not run here; {advice}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _size(size: float | None) -> str:
    if size is None:
        return "?"
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
