"""`--dry-run --estimate`: from what steps have cost, for sizes that were not run; and what cannot fit."""

import collections
import shutil
from pathlib import Path
from typing import Any

import pytest
from running import Harness

from harness.cli import calibration
from harness.execution import run_queue
from harness.execution.estimate import read_all
from harness.store.artifacts import Store
from harness.store.remote import Refused, Remote

Usage = collections.namedtuple("Usage", "total used free")


def suite(documents: int) -> dict[str, Any]:
    return {
        "suite": "estimate",
        "datasets": {"toy": {"toy": {"documents": documents}}},
        "systems": {
            "plain": {"context": ["shout"], "retriever": "overlap"},
            "short": {"of": "plain", "rerank": {"length": {}, "depth": 5}},
        },
        "measures": ["nDCG@10"],
    }


def test_steps_that_never_ran_are_tried_for_a_second_unless_that_costs_money(harness: Harness) -> None:
    harness.suite(suite(20))
    first = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert first.code == 0, first.err
    assert "calibration: 4 steps with 2 queries and 64 passages" in first.err  # short, and unasked
    assert "?" not in first.out
    assert harness.run("suite.yaml").code == 0
    harness.suite(suite(40))
    second = harness.command(
        "run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate", "--jobs", "2"
    )
    assert second.code == 0, second.err
    assert "?" not in second.out
    assert "with 2 at once at least" in second.out
    harness.suite({**suite(40), "systems": {**suite(40)["systems"], "new": {"retriever": "bm25"}}})
    third = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert "calibration: 2 steps" in third.err  # of the method that has not run here
    assert "?" not in third.out
    served = {"retriever": {"embeddings": {"service": {"url": "http://localhost:1/v1", "model": "x"}}}}
    harness.suite({**suite(40), "systems": {**suite(40)["systems"], "paid": served}})
    fourth = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert "calibration" not in fourth.err
    assert "on disk, without the 2 steps that are not known" in fourth.out
    assert "2 steps could not be tried: they train, make a collection, ask a service" in fourth.out


def test_a_calibration_gives_every_step_an_estimate_and_does_none_of_them(harness: Harness) -> None:
    harness.suite(suite(40))
    asked = ("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    calibrated = harness.command(*asked, "--calibrate")
    assert calibrated.code == 0, calibrated.err
    assert "calibration: 4 steps with 2 queries and 64 passages" in calibrated.err
    assert "4 steps to do" in calibrated.out
    assert "?" not in calibrated.out
    refused = harness.command("run", "suite.yaml", "--store", harness.store, "--calibrate")
    assert (refused.code, "add --dry-run --estimate" in refused.err) == (2, True)


def test_an_estimate_tells_what_goes_to_and_from_the_remote(harness: Harness, tmp_path: Path) -> None:
    harness.suite(suite(20))
    remote = ("--remote", (tmp_path / "remote").as_uri())
    assert harness.run("suite.yaml", *remote).code == 0
    fresh = str(tmp_path / "other")
    asked = ("run", "suite.yaml", "--store", fresh, "--dry-run", "--estimate", *remote)
    told = harness.command(*asked)
    assert told.code == 0, told.err
    assert "4 of the steps are there" in told.out
    assert "MB to fetch, in about " in told.out
    assert "0.0 MB will be pushed, in about 0.0 s" in told.out
    assert "a Ray node reads" in harness.command(*asked, "--engine", "ray").out
    damaged = next((tmp_path / "remote" / "steps").glob("search-*"))
    damaged.write_bytes(b"{")
    assert harness.command(*asked).code == 0


def test_an_estimate_changes_nothing_on_the_remote(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.suite(suite(20))
    remote = Remote((tmp_path / "remote").as_uri())
    asked = (
        "run",
        "suite.yaml",
        "--store",
        harness.store,
        "--dry-run",
        "--estimate",
        "--remote",
        remote.given,
    )
    tried: list[int] = []
    write = Remote.try_writing

    def writing(self: Remote, data: bytes) -> float:
        tried.append(len(data))
        return write(self, data)

    monkeypatch.setattr(Remote, "try_writing", writing)
    ran = harness.command(*asked)
    assert "will be pushed, in about" in ran.out, ran.err
    assert len(tried) == 1
    assert [*remote.entries("steps"), *remote.entries("pieces")] == []

    def refused(self: Remote, path: str, data: bytes) -> None:
        raise Refused("403")

    monkeypatch.setattr(Remote, "_write", refused)
    ran = harness.command(*asked)
    assert "0 of the steps are there, 0.0 MB to fetch, in about 0.0 s" in ran.out, ran.err
    assert "takes no artifacts from you (403); nothing will be pushed" in ran.out
    assert ran.code == 0
    count = len(tried)
    assert "pushed" not in harness.command(*asked, "--no-push").out
    assert len(tried) == count


def test_a_collection_is_estimated_and_not_made(harness: Harness) -> None:
    made = suite(40)
    made["datasets"] = {
        "raw": {"toy": {"documents": 40}, "scored": False},
        "toy": {"of": "raw", "make": [{"join-paragraphs": {"limit": 300}}, "strip-titles"]},
    }
    harness.suite(made)
    asked = ("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    first = harness.command(*asked)
    assert first.code == 0, first.err
    assert not list((harness.store / "artifacts").glob("make-*"))
    calibrated = harness.command(*asked, "--calibrate")
    assert calibrated.code == 0, calibrated.err
    assert "make · toy · join-paragraphs" in calibrated.out
    assert "?" not in calibrated.out
    assert "processor time" in calibrated.out


def test_what_the_disk_cannot_hold_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.suite(suite(20))
    assert harness.run("suite.yaml").code == 0
    harness.suite(suite(40))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9 - 1100, 1100))
    monkeypatch.setattr("harness.store.disk.NEARLY_FULL", 0)
    ran = harness.command("run", "suite.yaml", "--store", harness.store, "--dry-run", "--estimate")
    assert ran.code == 2
    assert "are to be written" in ran.err
    assert "Traceback" not in ran.err


def test_an_estimate_is_of_a_dry_run(harness: Harness) -> None:
    harness.suite(suite(20))
    ran = harness.command("run", "suite.yaml", "--store", harness.store, "--estimate")
    assert ran.code == 2
    assert "add --dry-run" in ran.err


@pytest.mark.parametrize(("seconds", "known"), [
    ([0.5, 0.6], False),
    ([0.6, 1.9], False),  # a busy machine
    ([0.5, 2.1], True),
    ([9.0, 18.5], False),
    ([15.0, 20.5], True),  # long enough, whatever the first took
])  # fmt: skip
def test_a_step_is_known_once_its_work_outweighs_its_start(seconds: list[float], known: bool) -> None:
    assert calibration._is_known(seconds) is known


@pytest.mark.parametrize(("clock", "queued", "seconds"), [
    (3.0, None, 3.0),  # a system that does not count waits
    (30.0, 27.0, 3.0),  # a busy machine
    (61.0, 58.0, float("inf")),  # the user has waited long enough
])  # fmt: skip
def test_a_busy_machine_makes_no_step_seem_long(clock: float, queued: float | None, seconds: float) -> None:
    cost = {"seconds": clock} | ({} if queued is None else {"queued_seconds": queued})
    assert calibration._seconds(cost) == seconds


@pytest.mark.skipif(not run_queue.THREADS.exists(), reason="only Linux counts waits")
def test_every_step_of_a_run_counts_its_waits_for_a_core(harness: Harness) -> None:
    harness.suite(suite(20))
    assert harness.run("suite.yaml").code == 0
    costs = [artifact.cost for artifact in read_all(Store(harness.store)).values()]
    assert len(costs) == 7
    assert all(0 <= cost["queued_seconds"] <= cost["seconds"] for cost in costs)
