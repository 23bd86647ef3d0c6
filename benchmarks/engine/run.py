"""Measures the engine's own cost: parts of a step without work, here and on Ray, and scheduling many
steps."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

from harness import catalogue, steps
from harness.execution import requests, workers
from harness.execution.progress import Reporter
from harness.execution.schedule import Schedule
from harness.plan.graph import Step
from harness.running import preparation, suite_run
from harness.store import disk
from harness.store.artifacts import Store

ROOT = Path(__file__).parents[2]
STEPS, PARTS = 10_000, 200
SUITE = """
suite: overhead
datasets: {toy: {toy: {documents: 12}}}
systems: {plain: {retriever: overlap}}
measures: [nDCG@10]
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ray", action="store_true", help="also on a Ray cluster of this machine")
    options = parser.parse_args()
    sys.path.append(str(ROOT / "tests" / "toys"))
    os.environ["PYTHONPATH"] = str(ROOT / "tests" / "toys")  # for the processes that Ray starts
    with tempfile.TemporaryDirectory() as folder:
        print(f"scheduling {STEPS:,} steps: {scheduling(Path(folder, 'schedule')):.2f} s")
        print(f"a small file written and synced: {1000 * synced(Path(folder)):.1f} ms")
        store, step = searched(Path(folder))
        show("one process of this machine", workers.LocalWorkers(store, 1), step)
        if options.ray:
            from harness.execution.ray_workers import RayWorkers

            cluster = RayWorkers(store, None, 1)
            try:
                show("one worker on Ray", cluster, step, PARTS)
            finally:
                cluster.close()


def scheduling(folder: Path) -> float:
    """The seconds to hand out all steps, each of which reads two others."""
    names = [f"part-{i:064x}" for i in range(STEPS)]
    inputs = [(names[i // 2], names[i // 3]) if i > 2 else () for i in range(STEPS)]
    nothing = steps.PartOfStep(of="", start=0, stop=0)
    listed = {name: Step(nothing, name.partition("-")[2], "", "", inputs[i]) for i, name in enumerate(names)}
    schedule = Schedule(listed, Store(folder).open(), Reporter())
    began = time.perf_counter()
    for name in names:
        schedule.want(name)
    while (step := schedule.next()) is not None:
        schedule.done(step, False)
    return time.perf_counter() - began


def synced(folder: Path) -> float:
    """The median seconds to write and sync a small file. A part syncs four files and three folders."""
    taken = []
    for _ in range(50):
        began = time.perf_counter()
        disk.replace_file(folder / "synced", b"x")
        taken.append(time.perf_counter() - began)
    return sorted(taken)[25]


def searched(folder: Path) -> tuple[Store, Step]:
    """A store with all artifacts that a search of twelve queries reads, and the step of that search."""
    suite = folder / "suite.yaml"
    suite.write_text(SUITE, encoding="utf-8")
    store = Store(folder / "store").open()
    prepared = preparation.read(suite, catalogue.load(), store)
    suite_run.execute(prepared, store, folder / "out", Reporter())
    return store, next(step for step in prepared.plan.steps.values() if step.kind == "search")


def show(where: str, chosen: workers.Workers, search: Step, first: int = 0) -> None:
    """Print the median and the longest time of a part without queries, in one warm worker."""
    worker, taken, whole = chosen.start(search), [], cast("steps.Search", search.record)
    for number in range(first, first + PARTS):
        part = steps.PartOfStep(of=f"search-{number:064x}", start=0, stop=0, whole=whole)
        request = requests.encode(requests.Execute(f"part-{part.key}", part))
        began = time.perf_counter()
        worker.send(request)
        while (event := worker.event(60.0)) is not None and event["event"] not in ("done", "failed", "died"):
            pass
        assert event is not None
        assert event["event"] == "done", event
        taken.append(time.perf_counter() - began)
    worker.close()
    late = sorted(taken[10:])
    middle, slowest = 1000 * late[len(late) // 2], 1000 * late[-1]
    print(f"{where}: {middle:.1f} ms for a part without work, the slowest {slowest:.0f} ms")


if __name__ == "__main__":
    main()
