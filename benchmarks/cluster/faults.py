"""Kills nodes and drivers at random moments, beside an S3 that fails at random, and compares every result."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests" / "e2e"), str(ROOT)]

from faulty_s3 import KEYS, Faulty, Shares, Watch, served  # noqa: E402
from ray_clusters import LARGE, MEMORY, started, undisturbed, workers  # noqa: E402
from running import Harness, Ran, alive, finished, results  # noqa: E402

SHARES = Shares(error=0.03, late=0.03, silent=0.003, lost=0.003)
NODES = 2
RUN_SECONDS = 580.0
GONE_SECONDS = 60.0  # the processes of a dead node or driver must be gone after this time
STARTS = 5  # how often a new node is started until it answers


class Trial(NamedTuple):
    """One kill, and how the suite ended."""

    killed: str
    seconds: float  # from the first step to the kill
    hit: bool  # whether the run was still on
    same: bool
    code: int
    torn: list[str]  # artifacts that were visible but not whole
    left: int  # processes that stayed
    repeated: int  # steps that were done again although the remote had them
    took: float
    moved: int  # steps that were moved to another node, with a note
    requests: dict[str, int]


class Underway(NamedTuple):
    """A run of the suite that is to be disturbed."""

    harness: Harness
    options: list[str | Path]
    running: Any
    watch: Watch
    moment: float  # seconds after the first step began
    hit: bool  # whether the run was still on at that moment
    began: float  # the clock when the first step began
    before: dict[str, int]  # the requests to the S3 before the run, by kind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=30, help="nodes to kill")
    parser.add_argument("--drivers", type=int, default=20, help="drivers to kill")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="a file for one JSON line per kill")
    options = parser.parse_args()
    os.environ.update(KEYS)
    with tempfile.TemporaryDirectory(prefix="harness-faults-") as name, served(options.seed) as s3:
        folder = Path(name)
        for each in ("alone", "nodes"):
            (folder / each).mkdir()
        alone = undisturbed(folder / "alone")
        with started(folder / "nodes", NODES) as cluster:
            lab = Lab(folder, s3, cluster, alone, random.Random(options.seed))
            lab.work = lab.undisturbed_seconds()
            print(f"undisturbed, without faults: {lab.work:.1f} s from the first step to the end", flush=True)
            s3.shares = SHARES
            kinds: list[Callable[[int], Trial]] = [lab.node] * options.nodes + [lab.driver] * options.drivers
            random.Random(options.seed).shuffle(kinds)
            trials = []
            for number, kind in enumerate(kinds):
                trial = kind(number)
                trials.append(trial)
                print(f"{number + 1}/{len(kinds)} {json.dumps(trial._asdict())}", flush=True)
                if options.log is not None:
                    with options.log.open("a") as log:
                        log.write(json.dumps(trial._asdict()) + "\n")
        left = alive(f"HARNESS_NODE_STORE={folder / 'nodes'}")
    for killed in ("node", "driver"):
        chosen = [trial for trial in trials if trial.killed == killed]
        print(
            f"{killed}: {len(chosen)} killed, {sum(t.hit for t in chosen)} during a run; the same bytes "
            f"{sum(t.same for t in chosen)} times; torn {sum(len(t.torn) for t in chosen)}; processes left "
            f"{sum(t.left for t in chosen)}; finished steps repeated {sum(t.repeated for t in chosen)}; "
            f"steps moved {sum(t.moved for t in chosen)}"
        )
    print(f"processes left after the cluster's end: {len(left)}")
    if left or not all(t.same and not t.torn and not t.left and not t.repeated for t in trials):
        sys.exit(1)


class Lab:
    """A cluster, an S3, and the results of the suite on one machine, with which all others are compared."""

    def __init__(
        self, folder: Path, s3: Faulty, cluster: Any, alone: dict[str, bytes], draw: random.Random
    ) -> None:
        self.folder, self.s3, self.cluster, self.alone, self.draw = folder, s3, cluster, alone, draw
        self.work = 0.0  # seconds from the first step to the end, undisturbed

    def undisturbed_seconds(self) -> float:
        harness, options = self.person("undisturbed")
        running = harness.start(*options)
        self.begun(running)
        began = time.monotonic()
        ran = finished(running, RUN_SECONDS)
        assert ran.code == 0, ran.err
        assert results(harness.out) == self.alone
        return time.monotonic() - began

    def person(self, name: str) -> tuple[Harness, list[str | Path]]:
        """A harness with an empty store, and the arguments that run the suite."""
        for store in (self.folder / "nodes").iterdir():  # otherwise a node would reuse steps of earlier runs
            shutil.rmtree(store)
        harness = Harness(self.folder / name)
        harness.folder.mkdir()
        harness.suite(LARGE)
        ray = ["--engine", "ray", "--address", self.cluster.address, "--remote", self.s3.address(name)]
        return harness, harness.run_arguments("suite.yaml", *ray)

    def begun(self, running: Any) -> None:
        while not self.workers() and running.poll() is None:
            time.sleep(0.02)

    def workers(self, store: str = "") -> list[int]:
        return workers(str(self.folder / "nodes" / store))

    @contextlib.contextmanager
    def underway(self, name: str) -> Iterator[Underway]:
        """A run at a random moment after its first step began, beside a watch of its remote."""
        moment = self.draw.uniform(0, self.work)
        before = dict(self.s3.counts)
        with Watch(self.s3.address(name, sound=True)) as watch:
            harness, options = self.person(name)
            running = harness.start(*options)
            self.begun(running)
            began = time.monotonic()
            time.sleep(moment)
            hit = running.poll() is None
            yield Underway(harness, options, running, watch, moment, hit, began, before)

    def node(self, number: int) -> Trial:
        with self.underway(f"node-{number}") as run:
            victim = self.draw.choice(sorted(self.cluster.worker_nodes, key=lambda node: node.node_id))
            self.cluster.remove_node(victim, allow_graceful=False)
            left = self.left(victim.node_id[:16])
            self.new_node()
            ran = finished(run.running, RUN_SECONDS)
        return self.trial("node", run, ran, left, 0, time.monotonic() - run.began)

    def new_node(self) -> None:
        """Start a node in place of the killed one. On a busy machine Ray may find it slow to answer; that
        says nothing of the harness, so it is tried again."""
        for attempt in range(STARTS):
            try:
                self.cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
                return
            except Exception as error:  # Ray raises several kinds
                if attempt == STARTS - 1:
                    raise
                print(f"a new node did not start ({error}); trying again", flush=True)

    def driver(self, number: int) -> Trial:
        with self.underway(f"driver-{number}") as run:
            run.running.send_signal(signal.SIGKILL)
            run.running.communicate()
            left = self.left("")
            done = [step for step in run.watch.check() if not step.startswith("part-")]
            ran = finished(run.harness.start(*run.options), RUN_SECONDS)
            reused = re.search(r"(\d+) reused", ran.err)
        repeated = max(0, len(done) - int(reused[1])) if reused else len(done)
        return self.trial("driver", run, ran, left, repeated, time.monotonic() - run.began)

    def left(self, store: str) -> int:
        """The number of processes that still execute steps on a store after at most GONE_SECONDS."""
        until = time.monotonic() + GONE_SECONDS
        while (left := self.workers(store)) and time.monotonic() < until:
            time.sleep(0.1)
        return len(left)

    def trial(self, killed: str, run: Underway, ran: Ran, left: int, repeated: int, took: float) -> Trial:
        same = ran.code == 0 and results(run.harness.out) == self.alone
        if not same:
            print(ran.err, flush=True)
        requests = {name: count - run.before.get(name, 0) for name, count in self.s3.counts.items()}
        moved = ran.err.count("it is done on another")
        return Trial(
            killed,
            round(run.moment, 2),
            run.hit,
            same,
            ran.code,
            run.watch.torn,
            left,
            repeated,
            round(took, 1),
            moved,
            requests,
        )


if __name__ == "__main__":
    main()
