"""Nodes and engines that die: the suite ends in the same bytes, and nothing is left behind."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from ray_clusters import LARGE, started, undisturbed, workers
from running import Harness, finished, results

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.extras]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return undisturbed(tmp_path_factory.mktemp("alone"))


@pytest.mark.parametrize("seed", range(2))
def test_a_node_that_dies_takes_nothing_with_it(tmp_path: Path, alone: dict[str, bytes], seed: int) -> None:
    (tmp_path / "nodes").mkdir()
    with started(tmp_path / "nodes", 2) as cluster:
        harness = Harness(tmp_path)
        harness.suite(LARGE)
        remote = (tmp_path / "remote").as_uri()
        options = ["--engine", "ray", "--address", cluster.address, "--remote", remote]
        running = harness.start(*harness.run_arguments("suite.yaml", *options))
        deadline = time.monotonic() + 100
        while not workers() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(random.Random(seed).uniform(0, 6))
        cluster.remove_node(sorted(cluster.worker_nodes, key=id)[seed % 2], allow_graceful=False)
        ran = finished(running, 200)
        assert ran.code == 0, ran.err
    assert results(harness.out) == alone


def test_an_engine_that_dies_leaves_no_process_and_what_was_done(
    tmp_path: Path, alone: dict[str, bytes]
) -> None:
    (tmp_path / "nodes").mkdir()
    with started(tmp_path / "nodes", 2) as cluster:
        harness = Harness(tmp_path)
        harness.suite(LARGE)
        options = ["--engine", "ray", "--address", cluster.address]
        running = harness.start(*harness.run_arguments("suite.yaml", *options))
        deadline = time.monotonic() + 100
        while not list((harness.store / "artifacts").glob("search-*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        running.kill()
        running.communicate()
        while workers() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not workers()
        done = {path.name for path in (harness.store / "artifacts").glob("[!p]*")}
        ran = harness.run("suite.yaml", *options)
        assert ran.code == 0, ran.err
        assert f"{len(done)} reused" in ran.err
    assert results(harness.out) == alone
