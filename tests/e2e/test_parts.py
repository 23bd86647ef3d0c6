"""Steps in parts: several workers share the steps of one system, and the results are those of one worker."""

from __future__ import annotations

import copy
import shutil
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from running import EVERYTHING, Harness, results

LARGE: dict[str, Any] = {**copy.deepcopy(EVERYTHING), "datasets": {"toy": {"toy": {"documents": 300}}}}


def artifacts(harness: Harness) -> dict[str, Any]:
    """The files and facts of every artifact."""
    manifests = [orjson.loads(path.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0])
                 for path in sorted((harness.store / "artifacts").glob("*/manifest.json"))]  # fmt: skip
    return {manifest["step"]: (manifest["files"], manifest["facts"]) for manifest in manifests}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    harness = Harness(tmp_path_factory.mktemp("alone"))
    harness.suite(LARGE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return harness


@pytest.mark.slow
def test_artifacts_and_results_are_the_same_with_several_workers(tmp_path: Path, alone: Harness) -> None:
    harness = Harness(tmp_path)
    harness.suite(LARGE)
    ran = harness.run("suite.yaml", "--jobs", "3")
    assert ran.code == 0, ran.err
    assert results(harness.out) == results(alone.out)
    assert artifacts(harness) == artifacts(alone)


@pytest.mark.slow
def test_a_killed_run_keeps_its_finished_parts(tmp_path: Path, alone: Harness) -> None:
    harness = Harness(tmp_path)
    harness.suite(LARGE)
    shutil.copytree(alone.store, harness.store)
    for folder in (harness.store / "artifacts").glob("search-*"):
        shutil.rmtree(folder)
    running = harness.start(
        "run", "suite.yaml", "--store", harness.store, "--out", harness.out, "--jobs", "2"
    )
    deadline = time.monotonic() + 60
    while not list((harness.store / "artifacts").glob("part-*")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    running.kill()
    running.communicate()
    ran = harness.run("suite.yaml", "--jobs", "2")
    assert ran.code == 0, ran.err
    assert results(harness.out) == results(alone.out)
    assert artifacts(harness) == artifacts(alone)


@pytest.mark.slow
def test_a_part_that_fails_fails_its_row_once(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    broken = {"retriever": {"overlap": {"fault": "nan"}}}
    harness.suite({**LARGE, "systems": {"plain": {"retriever": "overlap"}, "broken": broken}})
    ran = harness.run("suite.yaml", "--jobs", "2")
    assert ran.code == 1
    assert ran.err.count("FAILED") == 1
    assert "part ·" not in ran.err
