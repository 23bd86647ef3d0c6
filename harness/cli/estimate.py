"""`harness run --dry-run --estimate`: what a suite will cost, step by step."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Sequence

from harness.cli import arguments as shared
from harness.errors import HarnessError
from harness.execution import progress
from harness.execution.estimate import Estimate, estimates, read_all
from harness.execution.open_dataset import with_rebuilds
from harness.running import index_disk
from harness.running.preparation import Prepared
from harness.steps.read import Read
from harness.store.artifacts import Store
from harness.store.recorded import Listed
from harness.store.remote import Damaged, Refused, Remote
from harness.store.remote_speed import fetch_seconds, push_seconds


def estimated(prepared: Prepared, store: Store, options: argparse.Namespace) -> int:
    """Prints the table of estimates. Raises HarnessError if the disk is too small for the run."""
    listed = listing(prepared, store, options)
    free = shutil.disk_usage(store.root).free
    print("\n".join(table(listed, options.jobs or 1, free)))
    if store.remote is not None or options.engine == "ray":
        print("\n".join(transfer(listed, prepared, store, options.engine == "ray")))
    wanted = sum(item.bytes or 0.0 for item in listed)
    if wanted > free:
        text = f"{wanted / 1e9:.1f} GB are to be written, and {free / 1e9:.1f} GB are free"
        raise HarnessError(f"{store.root}: {text}; choose another disk with --store")
    return 0


def listing(prepared: Prepared, store: Store, options: argparse.Namespace) -> list[Estimate]:
    """The estimates of all steps to do. The datasets are read first, because all estimates depend on their
    sizes. Datasets that the suite makes are not made."""
    planned = prepared.plan
    ancestors = planned.ancestors(prepared.targets)
    data = [id for id, step in planned.steps.items() if id in ancestors and isinstance(step.record, Read)]
    with progress.reporter(sys.stderr) as reporter:
        reporter.planned(len(data), sum(store.has(step) for step in data))
        with _pushing_nothing(store):
            with_rebuilds(planned.steps, data, lambda failures: None, store, reporter, options.jobs or 1)
        todo = [step for step in planned.steps if step in ancestors and not store.has(step)]
        trials = {}
        untried = [item.step.id for item in estimates(planned, read_all(store), todo) if item.seconds is None]
        if options.calibrate or untried:
            from harness import catalogue
            from harness.cli import calibration

            levels = calibration.LEVELS if options.calibrate else calibration.SHORT
            with _pushing_nothing(store), contextlib.nullcontext() if options.calibrate else _offline():
                trials = calibration.calibrate(
                    options.suite, catalogue.load(), store, shared.changes_of(options), options.only,
                    planned, todo if options.calibrate else untried, reporter, levels,
                )  # fmt: skip
    stated = {item.step.id: item.bytes for item in index_disk.indexes(prepared, store)}
    return [
        item if item.bytes is not None else item._replace(bytes=stated.get(item.step.id))
        for item in estimates(planned, read_all(store), todo, trials)
    ]


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """A block in which new workers download no models."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before


@contextlib.contextmanager
def _pushing_nothing(store: Store) -> Iterator[None]:
    """A block in which the store's remote, if it has one, is only read."""
    remote = store.remote
    if remote is None:
        yield
        return
    write, remote.write = remote.write, False
    try:
        yield
    finally:
        remote.write = write


def table(listed: Sequence[Estimate], jobs: int, free: float) -> Iterator[str]:
    yield f"{'time':>9}  {'disk':>9}  {'memory':>9}  step"
    for item in listed:
        cells = (_duration(item.seconds), _size(item.bytes), _size(item.peak_mb and item.peak_mb * 1e6))
        yield "  ".join(f"{cell:>9}" for cell in cells) + f"  {item.step.label}"
    unknown = [item for item in listed if item.seconds is None]
    seconds = [item.seconds or 0.0 for item in listed]
    longest = max(seconds, default=0.0)
    yield ""
    many = f"{len(listed)} steps to do"
    if len(unknown) < len(listed) or not listed:
        written = _size(sum(item.bytes or 0.0 for item in listed))
        processor = _duration(sum(item.cpu_seconds or 0.0 for item in listed))
        known = f", without the {len(unknown)} steps that are not known" if unknown else ""
        yield f"{many}: {_duration(sum(seconds))} of work on a free machine, {written} on disk{known}"
        yield f"{processor} of processor time"
    else:
        yield f"{many}; none of them has run here, and none could be tried"
    if jobs > 1 and len(unknown) < len(listed):
        yield f"with {jobs} at once at least {_duration(max(longest, sum(seconds) / jobs))}"
    yield f"{_size(free)} are free where the store is"
    if unknown:
        advice = "add --calibrate, or run them with --limit or --sample first"
        what = "train, make a collection, ask a service, or lack something here"
        yield f"{len(unknown)} steps could not be tried: they {what}; {advice}"


def transfer(listed: Sequence[Estimate], prepared: Prepared, store: Store, ray: bool) -> Iterator[str]:
    """Lines on the amounts of data that this machine fetches from the remote and pushes to it, and on the
    amount that a Ray node reads at most."""
    remote = store.remote
    sizes = {item.step.id: item.bytes or 0.0 for item in listed}
    remote_steps = set(remote.steps()) if remote is not None and remote.read else set()
    fetched = [_listed(remote, step) for step in sizes if step in remote_steps] if remote is not None else []
    pushed = sum(size for step, size in sizes.items() if step not in remote_steps)
    if remote is not None:
        undamaged = [item for item in fetched if item is not None]
        size = _size(sum(item.size for item in undamaged))
        long = _time_of_fetches(remote, undamaged)
        yield f"{remote.address}: {len(fetched)} of the steps are there, {size} to fetch, {long}"
        if remote.write:
            yield from _pushes(remote, pushed, sum(step not in remote_steps for step in sizes))
    if ray:
        read = {name for item in listed for name in item.step.inputs if item.step.id not in remote_steps}
        total = sum(_bytes_of(name, sizes, store) for name in read)
        shared_by = "the remote" if remote is not None else "a folder"
        yield f"a Ray node reads {_size(total)} through {shared_by} at most, if it does every step"


def _time_of_fetches(remote: Remote, artifacts: Sequence[Listed]) -> str:
    try:
        seconds = fetch_seconds(remote, artifacts)
    except HarnessError as error:  # the remote denies the trial, or cannot be reached
        return f"in an unknown time ({error})"
    return "in an unknown time" if seconds is None else f"in about {_duration(seconds)}"


def _pushes(remote: Remote, size: float, artifacts: int) -> Iterator[str]:
    """Lines on how long so many artifacts of `size` bytes together are pushed."""
    notes: list[str] = []
    remote.note = notes.append
    pushed = f"{_size(size)} will be pushed, in"
    try:
        yield f"{pushed} about {_duration(push_seconds(remote, size, artifacts))}"
    except Refused as error:
        yield f"{remote.address}: takes no artifacts from you ({error}); nothing will be pushed"
    except HarnessError as error:
        yield f"{pushed} an unknown time ({error})"
    yield from notes


def _listed(remote: Remote, step: str) -> Listed | None:
    """The files of an artifact of the remote; None if the list is damaged. A run makes such a step again."""
    try:
        return remote.listed(step)
    except Damaged:
        return None


def _bytes_of(step: str, sizes: dict[str, float], store: Store) -> float:
    if step in sizes:
        return sizes[step]
    return float(store.read(step, trust=True).cost["bytes"]) if store.has(step) else 0.0


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
