"""Steps in parts: several workers share the steps of one system, and the results are those of one worker."""

import copy
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from ray_clusters import workers
from running import EVERYTHING, Harness, results, until

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
    made = harness.store / "artifacts"
    while not list(made.glob("part-*")):  # again if the parts were joined before the kill
        for folder in made.glob("search-*"):
            shutil.rmtree(folder)
        running = harness.start(*harness.run_arguments("suite.yaml", "--jobs", "2"))
        until(lambda run=running: list(made.glob("part-*")) or run.poll() is not None)
        running.kill()
        running.communicate()
        until(lambda: not workers(str(tmp_path)))
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
