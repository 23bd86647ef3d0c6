"""Nodes and engines that die, beside an S3 that fails: the suite ends in the same bytes, and nothing is left."""

import random
import time
from pathlib import Path

import pytest
from faulty_s3 import Faulty, Shares, Watch
from ray_clusters import LARGE, started, undisturbed, workers
from running import FAULTS, Harness, finished, results, until

pytest.importorskip("ray")
pytest.importorskip("moto")
pytestmark = [pytest.mark.slow, pytest.mark.extras]

SHARES = Shares(error=0.03, late=0.03, silent=0.002, lost=0.002)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return undisturbed(tmp_path_factory.mktemp("alone"))


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file without which no node can make an index."""
    monkeypatch.setenv("OVERLAP_WAITS_FOR", str(tmp_path / "gate"))
    return tmp_path / "gate"


@pytest.mark.parametrize("seed", range(2))
def test_a_node_that_dies_takes_nothing_with_it(
    tmp_path: Path, alone: dict[str, bytes], s3: Faulty, seed: int, gate: Path
) -> None:
    (tmp_path / "nodes").mkdir()
    with started(tmp_path / "nodes", 2) as cluster, Watch(s3.address("team", sound=True)) as watch:
        harness = Harness(tmp_path)
        harness.suite(LARGE)
        s3.shares = SHARES
        options = ["--engine", "ray", "--address", cluster.address, "--remote", s3.address("team")]
        running = harness.start(*harness.run_arguments("suite.yaml", *options))
        until(lambda: workers(str(tmp_path)))
        time.sleep(random.Random(seed).uniform(0, 1))
        gate.touch()  # so that the run cannot have ended
        cluster.remove_node(sorted(cluster.worker_nodes, key=id)[seed % 2], allow_graceful=False)
        ran = finished(running, 500)
        assert ran.code == 0, ran.err
    assert watch.torn == []
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
        until(lambda: list((harness.store / "artifacts").glob("search-*")))
        running.kill()
        running.communicate()
        until(lambda: not workers(str(tmp_path)))
        done = {path.name for path in (harness.store / "artifacts").glob("[!p]*")}
        ran = harness.run("suite.yaml", *options)
        assert ran.code == 0, ran.err
        assert f"{len(done)} reused" in ran.err
    assert results(harness.out) == alone


def test_a_node_with_a_full_disk_gets_no_more_steps(
    tmp_path: Path, alone: dict[str, bytes], gate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", FAULTS)  # everywhere, or versions differ
    (tmp_path / "nodes").mkdir()
    changes = tmp_path / "changes"
    full = {"FAULT_COUNTS": str(changes), "FAULT_AT": "5", "FAULT_KIND": "ENOSPC"}
    with started(tmp_path / "nodes", 2, **full) as cluster:
        harness = Harness(tmp_path)
        harness.suite(LARGE)
        remote = (tmp_path / "remote").as_uri()
        options = ["--engine", "ray", "--address", cluster.address, "--remote", remote]
        running = harness.start(*harness.run_arguments("suite.yaml", *options))
        # until then the other node waits in the first index, so that this one gets a step
        until(lambda: changes.exists() and len(changes.read_text().split()) >= 5)
        gate.touch()
        ran = finished(running)
        assert ran.code == 0, ran.err
    assert ran.err.count("no space left on the device") == 1
    assert "it is done on another" in ran.err
    assert results(harness.out) == alone
