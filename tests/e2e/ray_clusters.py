"""Ray clusters of simulated nodes for the end-to-end tests, and a suite whose steps have several parts."""

import contextlib
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import EVERYTHING, Harness, environment, results

LARGE: dict[str, Any] = {**copy.deepcopy(EVERYTHING), "datasets": {"toy": {"toy": {"documents": 300}}}}
MEMORY = 80 * 1024 * 1024  # bytes of a node's object store: the least that Ray takes
# a busy machine is no dead one: its processes answer late, and their memory is none of these tests' business
PATIENT = {
    "RAY_health_check_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "250",
    "RAY_memory_monitor_refresh_ms": "0",
}


@contextlib.contextmanager
def started(stores: Path, nodes: int, **of_the_last: str) -> Iterator[Any]:
    """A cluster whose nodes have a core each, but for the first, which has none; each has its own store in
    a folder below `stores`. The last node has these environment variables besides."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        variables = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", **PATIENT}
        for name, value in environment(**variables, HARNESS_NODE_STORE=str(stores)).items():
            patch.setenv(name, value)
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
        cluster = Cluster()
        try:
            patiently(cluster, **head)
            for number in range(nodes):
                variables = environment(**of_the_last) if number == nodes - 1 and of_the_last else None
                patiently(cluster, num_cpus=1, object_store_memory=MEMORY, env_vars=variables)
            yield cluster
        finally:
            cluster.shutdown()


def patiently(cluster: Any, **node: Any) -> None:
    """Add a node, however busy the machine is: again if Ray finds it too slow."""
    from harness.execution.ray_workers import SLOW, STARTS

    for attempt in range(1, STARTS + 1):
        try:
            cluster.add_node(wait=False, **node)
            return
        except Exception as error:  # Ray raises no other
            if SLOW not in str(error) or attempt == STARTS:
                raise


def undisturbed(folder: Path) -> dict[str, bytes]:
    """The results of the suite on this machine."""
    harness = Harness(folder)
    harness.suite(LARGE)
    ran = harness.run()
    assert ran.code == 0, ran.err
    return results(harness.out)


def workers(store: str = "pytest-of-") -> list[int]:
    """The processes that execute steps now on stores whose paths contain this text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes()
            if b"worker_main import main" in line and store.encode() in line:
                found.append(int(folder.name))
    return found
