"""The Ray engine: the same bytes as on one machine, whether nodes share a folder, or only a remote store."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray_clusters import LARGE, started, undisturbed
from running import Harness, environment, finished, new_package, results, rows, until

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.extras]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file without which no node can make an index. It is there unless a test removes it."""
    gate = tmp_path_factory.mktemp("gate") / "open"
    gate.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERLAP_WAITS_FOR", str(gate))
        yield gate


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, gate: Path) -> Iterator[Any]:
    with started(tmp_path_factory.mktemp("nodes"), 3) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return undisturbed(tmp_path_factory.mktemp("alone"))


def test_three_nodes_with_a_common_folder_give_the_same_bytes(
    cluster: Any, tmp_path: Path, alone: dict[str, bytes]
) -> None:
    harness = Harness(tmp_path, {"OF_THIS_TEST": "folder"})
    harness.suite(LARGE)
    ran = harness.run("suite.yaml", "--engine", "ray", "--address", cluster.address)
    assert ran.code == 0, ran.err
    assert results(harness.out) == alone
    assert not list((harness.store / "artifacts").glob("part-*"))


def test_three_nodes_that_share_only_a_remote_give_the_same_bytes(
    cluster: Any, tmp_path: Path, alone: dict[str, bytes], gate: Path
) -> None:
    harness = Harness(tmp_path)
    harness.suite(LARGE)
    remote = (tmp_path / "remote").as_uri()
    options = ("--engine", "ray", "--address", cluster.address, "--remote", remote)
    gate.unlink()
    running = harness.start(*harness.run_arguments("suite.yaml", *options))
    try:  # a node that is slow to begin gets a step too: until then the others wait in their first index
        until(lambda: len(list(Path(os.environ["HARNESS_NODE_STORE"]).iterdir())) > 1)
    finally:
        gate.touch()
    ran = finished(running)
    assert ran.code == 0, ran.err
    assert results(harness.out) == alone
    again = Harness(tmp_path / "again")
    again.folder.mkdir()
    again.suite(LARGE)
    ran = again.run("suite.yaml", "--remote", remote)  # a second person
    assert ran.code == 0, ran.err
    assert " 0 to do" in ran.err
    assert results(again.out) == alone


def test_from_python_three_nodes_give_the_same_bytes(
    cluster: Any, tmp_path: Path, alone: dict[str, bytes]
) -> None:
    harness = Harness(tmp_path)
    given = {"out": "out", "store": "store", "quiet": True, "engine": "ray", "address": cluster.address}
    given["remote"] = (tmp_path / "remote").as_uri()
    program = f"import harness; harness.run({str(harness.suite(LARGE))!r}, **{given!r})"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment())
    assert results(harness.out) == alone


def test_nodes_that_have_done_it_before_fill_an_empty_remote_and_do_it_again_if_asked(
    cluster: Any, tmp_path: Path, alone: dict[str, bytes]
) -> None:
    for name in ("first", "second"):  # the second one has another remote; the nodes keep their stores
        (tmp_path / name).mkdir()
        harness = Harness(tmp_path / name)
        harness.suite(LARGE)
        remote = (tmp_path / name / "remote").as_uri()
        on_nodes = ("--engine", "ray", "--address", cluster.address, "--remote", remote)
        ran = harness.run("suite.yaml", *on_nodes)
        assert ran.code == 0, ran.err
        assert results(harness.out) == alone
    nodes = Path(os.environ["HARNESS_NODE_STORE"])
    before = set(nodes.iterdir())
    ran = harness.run("suite.yaml", *on_nodes, "--fresh")
    assert ran.code == 0, ran.err
    assert results(harness.out) == alone
    made_now = {}  # on stores that were empty before this run
    for node in set(nodes.iterdir()) - before:
        made_now |= {path.parent.name: path.read_bytes() for path in node.glob("artifacts/*/manifest.json")}
    kept = {path.parent.name: path.read_bytes() for path in harness.store.glob("artifacts/*/manifest.json")}
    assert kept.keys() <= made_now.keys()
    assert kept == {step: made_now[step] for step in kept}


def test_a_new_plugin_runs_on_nodes_that_lack_it_if_its_code_is_sent(cluster: Any, tmp_path: Path) -> None:
    package = new_package(tmp_path, "retriever", "my-retriever")
    suite = {"suite": "new", "datasets": {"toy": "toy"}, "measures": ["nDCG@10"]}
    harness = Harness(tmp_path, {"PYTHONPATH": str(package)})
    harness.suite(
        {**suite, "systems": {"overlap": {"retriever": "overlap"}, "new": {"retriever": "my-retriever"}}}
    )
    remote = (tmp_path / "remote").as_uri()
    options = ["--engine", "ray", "--address", cluster.address, "--remote", remote]
    ran = harness.run("suite.yaml", *options)
    assert ran.code == 2
    assert "has other versions: plugin harness_my_retriever absent instead of " in ran.err
    ran = harness.run("suite.yaml", *options, "--ship")
    assert ran.code == 0, ran.err
    by_ray = results(harness.out)
    alone = Harness(tmp_path / "alone", harness.variables)
    alone.folder.mkdir()
    (alone.folder / "suite.yaml").write_text((tmp_path / "suite.yaml").read_text())
    assert alone.run().code == 0
    assert results(alone.out) == by_ray


def test_without_an_address_no_cluster_of_this_machine_is_joined(cluster: Any, tmp_path: Path) -> None:
    harness = Harness(tmp_path, {"HARNESS_NODE_STORE": str(tmp_path / "nodes")})
    harness.suite({**LARGE, "systems": {"plain": {"retriever": "overlap"}}})
    ran = harness.run("suite.yaml", "--engine", "ray", "--remote", (tmp_path / "remote").as_uri())
    assert ran.code == 0, ran.err
    (node,) = (path.name for path in (tmp_path / "nodes").iterdir())
    assert node[:16] not in {known.node_id[:16] for known in cluster.list_all_nodes()}


def test_a_plugin_that_crashes_or_hangs_fails_its_row_alone(cluster: Any, tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    faults = {name: {"retriever": {"overlap": {"fault": name}}} for name in ("die", "hang", "raise")}
    systems = {"good": {"retriever": "overlap"}, **faults}
    harness.suite({**LARGE, "datasets": {"toy": "toy"}, "systems": systems, "timeout": 20})
    ran = harness.run("suite.yaml", "--engine", "ray", "--address", cluster.address)
    assert ran.code == 1, ran.err
    by_system = rows(harness.out)
    assert by_system["good"]["status"] == "ok"
    assert "its process was killed" in by_system["die"]["error"]
    assert "took longer than the timeout of 20 s" in by_system["hang"]["error"]
    assert "ValueError: the toy was asked to fail" in by_system["raise"]["error"]


def test_an_engine_that_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    harness.suite(LARGE)
    ran = harness.run("suite.yaml", "--engine", "ray", "--address", "127.0.0.1:1")
    assert ran.code == 2
    assert "check --address" in ran.err
    assert "Traceback" not in ran.err
