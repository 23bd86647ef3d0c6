"""Runs beside `harness cache gc` on one store: they end with the results of a run that nothing disturbs."""

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from running import EVERYTHING, Harness, finished, results, until

from harness.store.artifacts import Store

SUITE = {**EVERYTHING, "analyses": ["slices", "depth", "jaccard", "cut"]}
DEEPER = {**SUITE, "depth": 25}  # shares a part of the steps
SUITES = [SUITE, DEEPER] * 3


GC = ("cache", "gc", "--unused-for", "0", "--store")
# the command, again and again until it is killed, in one process, which saves the imports
AGAIN = """
import sys, time
from harness import cli
while cli.main(sys.argv[1:]) == 0:
    time.sleep(0.02)
"""


@contextmanager
def collecting(harness: Harness) -> Iterator[list[str]]:
    """Removes what is unused, again and again until the body ends. What was said is then in the list."""
    Store(harness.store).open()
    lines: list[str] = []
    log = harness.folder / "collected"
    command = [sys.executable, "-u", "-c", AGAIN, *GC, str(harness.store)]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            yield lines
            assert process.poll() is None, log.read_text()
        finally:
            process.kill()
    lines += log.read_text().splitlines()


def undisturbed(harness: Harness, suite: dict[str, Any]) -> dict[str, bytes]:
    alone = Harness(harness.folder / f"alone-{suite['depth']}", here=True)
    alone.folder.mkdir()
    alone.suite(suite)
    ran = alone.run()
    assert ran.code == 0, ran.err
    return results(alone.out)


def test_gc_keeps_what_a_run_that_is_under_way_needs(harness: Harness) -> None:
    expected = undisturbed(harness, SUITE)
    harness.suite(SUITE)
    gate = harness.folder / "gate"
    run = harness.start(*harness.run_arguments(), OVERLAP_WAITS_FOR=str(gate))
    until(lambda: list(harness.store.glob("partial/index-*")))
    before = sorted((harness.store / "artifacts").iterdir())
    kept = f"{len(before)} artifacts are kept, because runs that are under way read them"
    assert harness.command(*GC, harness.store).out.splitlines() == [kept, "0 B freed"]
    assert sorted((harness.store / "artifacts").iterdir()) == before
    gate.touch()
    ran = finished(run)
    assert ran.code == 0, ran.err
    assert "made again" not in ran.err
    assert results(harness.out) == expected
    assert "kept" not in harness.command(*GC, harness.store).out
    assert list((harness.store / "artifacts").iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(10_800)
def test_runs_beside_gc_agree_with_one_that_is_alone(harness: Harness, exhaustive: bool) -> None:
    """50 rounds of six runs with `--hypothesis-profile=exhaustive`, else one."""
    expected = {suite["depth"]: undisturbed(harness, suite) for suite in (SUITE, DEEPER)}
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    for number in range(50 if exhaustive else 1):
        places = [Harness(harness.folder / f"round-{number}-{i}") for i in range(len(SUITES))]
        runs = []
        with collecting(harness) as lines:
            for place, suite in zip(places, SUITES, strict=True):
                time.sleep(chance.uniform(0, 5))  # at times no run is under way, and gc removes everything
                place.folder.mkdir()
                place.suite(suite)
                runs.append(place.start(*place.run_arguments("suite.yaml", "--store", harness.store)))
            ended = [finished(run) for run in runs]
        removed, kept = (sum(word in line for line in lines) for word in ("removed", "kept"))
        again = sum(ran.err.count("made again") for ran in ended)
        print(f"seed {seed}, round {number}: {removed} removed, {kept} times some kept, {again} made again")
        for ran, place, suite in zip(ended, places, SUITES, strict=True):
            assert ran.code == 0, ran.err
            assert results(place.out) == expected[suite["depth"]]
            shutil.rmtree(place.folder)
