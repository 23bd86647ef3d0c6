"""The workers on a Ray cluster: joining it, the resources of a step, and which nodes get steps."""

from __future__ import annotations

import os
import secrets
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray as untyped_ray
from ray.exceptions import RayError

from harness.errors import HarnessError, StoreError
from harness.execution import node_versions, shipped_code
from harness.execution.ray_node import TOKEN, Settings
from harness.execution.ray_worker import RayWorker, Resources
from harness.execution.workers import Worker
from harness.plan.graph import Step
from harness.steps import PartOfStep
from harness.steps.record import method_of
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt

ray: Any = untyped_ray  # some of its functions have types, and some have none
REACHED_SECONDS = 30.0
STARTS = 5
SLOW = "timed out during startup"  # in Ray's message about a node that is not up within 30 s
NODE = "ray.io/node-id"  # the label by which Ray names each node


class RayWorkers:
    """The workers of one Ray cluster: the cluster at `address`, or this machine alone."""

    idle_seconds = 2.0  # an idle worker holds resources that others may wait for

    def __init__(
        self, store: Store, address: str | None, count: int | None, ship: bool = False, fresh: bool = False
    ) -> None:
        """`ship` says whether the nodes get the code of the harness and of all plugins from here. With
        `fresh`, nothing that nodes or the remote have from earlier runs is used."""
        self.store, self.fresh = store, fresh
        if store.remote is not None and not store.remote.write:
            raise HarnessError("--engine ray: nodes push what they make; leave out --no-push")
        _check_reachable(address or os.environ.get("RAY_ADDRESS"))
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        alone = address is None and "RAY_ADDRESS" not in os.environ
        if alone:
            # without an address Ray would join any cluster that runs on this machine
            options |= {"address": "local", "include_dashboard": False}
        else:
            options["address"] = address or "auto"
        try:
            with tempfile.TemporaryDirectory(prefix="harness-ship-") as folder:
                if ship:
                    shipped_code.gather(Path(folder))
                    options["runtime_env"] = {"working_dir": folder}
                _join(options)
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            what = str(error).splitlines()[0]
            raise HarnessError(f"--engine ray: {what}; check --address and that Ray runs there") from None
        nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
        self.cores = max(1, int(min((cores for cores in nodes if cores), default=1)))
        self.count = count or max(1, int(sum(nodes)))
        token = secrets.token_hex(8)
        if store.remote is None:
            try:
                disk.replace_file(store.root / TOKEN, token.encode())
            except BaseException:
                ray.shutdown()
                raise
        remote = store.remote.given if store.remote is not None else None
        one_run = fresh or alone  # the nodes of a Ray that this run starts end with it
        self._settings = Settings(str(store.root), token, remote, 1, node_versions.here(), fresh, one_run)
        self._pushed: set[str] = set()  # artifacts of this run that the remote certainly has
        self._pushing: dict[str, threading.Lock] = {}  # by artifact: one thread at a time pushes it
        self._unfit: dict[str, str] = {}  # id of a node that gets no more steps -> the reason

    def start(self, step: Step) -> Worker:
        resources = self.resources(step)
        if self._unfit:
            self._check_places(resources)
        return RayWorker(self, resources)

    def fits(self, worker: Worker, step: Step) -> bool:
        if not isinstance(worker, RayWorker) or worker.node in self._unfit:
            return False
        return worker.resources == self.resources(step)

    def resources(self, step: Step) -> Resources:
        """The resources of a step: those that the suite gives for its method. Where the suite gives no cores,
        the step gets one, or as many as the smallest node has if the method uses all cores."""
        record = step.record.whole if isinstance(step.record, PartOfStep) else step.record
        method = None if record is None else method_of(record)
        wanted = {} if method is None else dict(method.resources)
        cpus = wanted.pop("cpus", self.cores if method is not None and method.cores == "all" else 1)
        gpus, memory = wanted.pop("gpus", 0), wanted.pop("memory", None)
        return Resources(cpus, gpus, memory, tuple(sorted(wanted.items())))

    def shares(self, step: Step) -> bool:
        return self.count > 1

    def has_part(self, part: str) -> bool:
        if self.store.remote is None:
            return self.store.has(part)
        return part in self._pushed if self.fresh else self.store.remote.has(part)

    def done(self, step: Step) -> None:
        self._pushed.add(step.id)
        remote = self.store.remote
        if (
            remote is not None
            and not isinstance(step.record, PartOfStep)
            and not remote.fetch(self.store, step.id, remote.note)
        ):
            self._pushed.discard(step.id)
            raise Corrupt(step.id, f"{remote.address} has lost what it had pushed")

    def has_pushed(self, step: str) -> bool:
        return step in self._pushed

    def joined(self, parts: list[str]) -> None:
        for part in parts:
            if self.store.remote is not None:
                self.store.remote.forget(part)
            else:
                self.store.discard(part)

    def offer(self, step: str, missed: bool = False) -> bool:
        """Push an artifact that nodes need, unless the remote has it; if another thread is pushing it, wait.
        `missed` says that a node did not find it there. Returns whether such a node may find it now. Raises
        Corrupt if the artifact is damaged here."""
        remote = self.store.remote
        if remote is None or not self.store.has(step) or (step in self._pushed and not missed):
            return False
        with self._pushing.setdefault(step, threading.Lock()):
            if step in self._pushed and (not missed or remote.has(step)):
                return missed
            pushed = remote.push(self.store, step)
            self._pushed.add(step)
        return pushed

    def settings(self, resources: Resources) -> Settings:
        return self._settings._replace(threads=max(1, int(resources.cpus)))

    def avoid(self, node: str, reason: str) -> None:
        """Give a node no more steps. Raises StoreError if no other node is left."""
        self._unfit[node] = reason
        self._check_places(Resources(0, 0, None, ()))

    def is_unfit(self, node: str) -> bool:
        return node in self._unfit

    def _check_places(self, resources: Resources) -> None:
        """Check that a node that still gets steps has these resources. Raises StoreError otherwise: the steps
        would wait for a place for ever."""
        alive = (node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0))
        fit = [node["Resources"] for node in alive if node["NodeID"] not in self._unfit]
        if not any(resources.are_in(node) for node in fit):
            what = f"no node with {resources.shown()} can work" if fit else "no node can work"
            raise StoreError(f"--engine ray: {what}; the last one: {list(self._unfit.values())[-1]}")

    @property
    def places(self) -> dict[str, str]:
        """The labels that a node must have to get steps."""
        return {NODE: f"!in({', '.join(sorted(self._unfit))})"} if self._unfit else {}

    def close(self) -> None:
        ray.shutdown()
        (self.store.root / TOKEN).unlink(missing_ok=True)


def _join(options: dict[str, Any]) -> None:
    """Join or start a cluster. Ray gives a new node 30 s, which is too little on a busy machine, and has no
    setting for this time, so a start that took longer is tried again, `STARTS` times at most."""
    for _ in range(STARTS):
        try:
            ray.init(**options)
            return
        except Exception as error:  # Ray raises an error without a type of its own
            if SLOW not in str(error):
                raise
            ray.shutdown()
    advice = "this machine may be too busy; run again later, or join a running cluster with --address"
    raise HarnessError(f"--engine ray: Ray did not start within {STARTS} x 30 s; {advice}")


def _check_reachable(address: str | None) -> None:
    """Check that something listens at `address`. Raises HarnessError at once; Ray would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=REACHED_SECONDS).close()
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise HarnessError(
            f"--engine ray: {address}: {what}; check --address and that Ray runs there"
        ) from None
