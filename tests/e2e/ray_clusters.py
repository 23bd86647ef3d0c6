"""Ray clusters of simulated nodes for the end-to-end tests, and a suite whose steps have several parts."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import EVERYTHING, Harness, environment, results

LARGE: dict[str, Any] = {**copy.deepcopy(EVERYTHING), "datasets": {"toy": {"toy": {"documents": 300}}}}
MEMORY = 80 * 1024 * 1024  # bytes of a node's object store: the least that Ray takes


@contextlib.contextmanager
def started(stores: Path, nodes: int, **of_the_last: str) -> Iterator[Any]:
    """A cluster whose nodes have a core each, but for the first, which has none; each has its own store in
    a folder below `stores`. The last node has these environment variables besides."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        variables = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
        for name, value in environment(**variables, HARNESS_NODE_STORE=str(stores)).items():
            patch.setenv(name, value)
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for number in range(nodes):
                variables = environment(**of_the_last) if number == nodes - 1 and of_the_last else None
                cluster.add_node(num_cpus=1, object_store_memory=MEMORY, env_vars=variables)
            yield cluster
        finally:
            cluster.shutdown()


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
