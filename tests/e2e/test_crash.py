"""Killed at any moment, a run leaves no process behind, and a rerun gives an undisturbed run's results."""

import os
import random
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from running import EVERYTHING, FAULTS, Harness, alive, children, finished, living, results, until

PARENT, WORKER, BOTH = "the parent", "the worker", "both"


def kill(process: subprocess.Popen[str], whom: str) -> None:
    """`kill -9`; whoever has ended already is spared."""
    below = children(process.pid)
    groups = [] if whom == PARENT else below
    for group in groups:
        kill_group(group)
    if whom != WORKER:
        kill_group(process.pid)


def kill_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def kill_at_a_random_moment(harness: Harness, chance: random.Random, longest: float) -> str:
    """Start a run and kill some of it; says what was done."""
    moment, whom = chance.uniform(0.0, longest), chance.choice((PARENT, WORKER, BOTH))
    jobs = chance.choice(("1", "2"))
    mark = uuid.uuid4().hex
    process = harness.start(*harness.run_arguments("suite.yaml", "--jobs", jobs), A_RUN=mark)
    time.sleep(moment)
    kill(process, whom)
    code = finished(process).code
    assert living(f"A_RUN={mark}") == []
    return f"{whom} after {moment:.3f} s of at most {longest:.3f}, --jobs {jobs}, exit code {code}"


def kills(
    harness: Harness, expected: dict[str, bytes], seed: int, rounds: int, each: int,
    suite: Any = EVERYTHING, finished_store: Path | None = None,
) -> None:  # fmt: skip
    """Rounds of several kills on one store, each ended by a rerun that must give the same results. With a
    finished store every second round begins with a random half of its artifacts."""
    chance = random.Random(seed)
    began = time.monotonic()
    for i in range(rounds):
        place = Harness(harness.folder / f"round-{i}")
        place.folder.mkdir()
        place.suite(suite)
        if finished_store is not None and i % 2:
            shutil.copytree(finished_store, place.store)
            stored = sorted((place.store / "artifacts").iterdir())
            for lost in chance.sample(stored, len(stored) // 2):
                shutil.rmtree(lost)
        longest = 1.5 if i == 0 else (time.monotonic() - began) / i / (each + 1) * 1.2
        for _ in range(each):
            print(f"seed {seed}, round {i}: {kill_at_a_random_moment(place, chance, longest)}")
        ran = place.run()
        assert ran.code == 0, ran.err
        assert "again and again" not in ran.err
        assert results(place.out) == expected
        assert list(place.out.rglob(".*")) == []
        assert list((place.store / "partial").iterdir()) == []
        shutil.rmtree(place.folder)


def test_a_run_killed_at_random_moments_is_finished_by_a_rerun(
    harness: Harness, undisturbed: dict[str, bytes]
) -> None:
    kills(harness, undisturbed, seed=random.randrange(10**6), rounds=1, each=2)


def test_a_rerun_removes_what_a_kill_just_after_a_step_left(everything: Harness) -> None:
    assert everything.run().code == 0
    finished_step = next((everything.store / "artifacts").iterdir())
    (everything.store / "partial" / finished_step.name).mkdir()
    assert everything.run().code == 0
    assert list((everything.store / "partial").iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_kills_on_fresh_and_half_finished_stores_with_analyses(harness: Harness, exhaustive: bool) -> None:
    """150 kills with `--hypothesis-profile=exhaustive`, else 30."""
    suite = {**EVERYTHING, "analyses": ["depth", "jaccard", "cut"]}
    whole = Harness(harness.folder / "whole")
    whole.folder.mkdir()
    whole.suite(suite)
    ran = whole.run()
    assert ran.code == 0, ran.err
    seed = random.randrange(10**6)
    rounds = 75 if exhaustive else 15
    kills(harness, results(whole.out), seed, rounds, each=2, suite=suite, finished_store=whole.store)


def hanging(harness: Harness, retriever: object) -> subprocess.Popen[str]:
    """A run whose method hangs, and has begun to."""
    systems = {"good": {"retriever": "overlap"}, "hangs": {"retriever": retriever}}
    harness.suite({**EVERYTHING, "systems": systems})
    process = harness.start(*harness.run_arguments(), A_RUN=str(harness.folder), PYTHONPATH=FAULTS)
    artifacts, partial = harness.store / "artifacts", harness.store / "partial"
    until(lambda: len(list(artifacts.glob("*"))) == 5 and list(partial.glob("index-*")))
    time.sleep(0.3)
    assert process.poll() is None
    assert len(alive(f"A_RUN={harness.folder}")) >= 2
    return process


@pytest.mark.parametrize("how", ["hang", "children"])
def test_no_worker_outlives_its_parent(harness: Harness, how: str) -> None:
    retriever = {"overlap": {"fault": "hang"}} if how == "hang" else {"bad": {"how": how}}
    process = hanging(harness, retriever)
    process.kill()
    finished(process)
    assert living(f"A_RUN={harness.folder}") == []


@pytest.mark.parametrize("whole_group", [False, True])
@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_a_run_in_one_line_and_a_rerun_goes_on(
    harness: Harness, number: signal.Signals, code: int, word: str, whole_group: bool
) -> None:
    process = hanging(harness, {"overlap": {"fault": "hang"}})
    os.killpg(process.pid, number) if whole_group else process.send_signal(number)
    ran = finished(process)
    assert ran.code == code
    lines = ran.err.splitlines()
    assert lines[-1] == f"{word}; finished steps are kept: run it again to go on"
    progress = ("[", "    ")  # of a step that is done, and of one that takes long
    assert not [line for line in lines[:-1] if not line.startswith(progress) and "steps:" not in line]
    assert ran.out == ""
    assert living(f"A_RUN={harness.folder}") == []
    harness.suite({**EVERYTHING, "systems": {"good": {"retriever": "overlap"}}})
    again = harness.run(TOY_COUNTS=str(harness.folder / "counts"))
    assert again.code == 0, again.err
    assert not (harness.folder / "counts").exists()  # all that had been done was used


def test_a_worker_killed_between_two_steps_fails_neither(harness: Harness) -> None:
    harness.suite({**EVERYTHING, "systems": {"plain": {"retriever": "overlap"}}})
    ran = harness.run(PYTHONPATH=FAULTS, KILL_WORKERS_BETWEEN_STEPS="1")
    assert ran.code == 0, ran.err
