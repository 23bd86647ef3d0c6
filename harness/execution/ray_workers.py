"""Workers on a Ray cluster. A worker is an actor with the resources of its step, and a process on its
node."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray as untyped_ray
from ray.exceptions import RayError, RayTaskError

from harness.errors import HarnessError, StoreError
from harness.execution import node_versions, shipped_code
from harness.execution.ray_node import TOKEN, Node, Settings
from harness.execution.worker_handle import TICK, Ask, request_of
from harness.execution.workers import Worker
from harness.plan.graph import Step
from harness.plan.kinds import PART
from harness.store import disk
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.types import JSON

ray: Any = untyped_ray  # some of its functions have types, and some have none
OFFERS = 8  # artifacts at most that are pushed for one step because the node reports them missing
STACK_SECONDS = 1.0
REACHED_SECONDS = 10.0
PLACE_SECONDS = 20.0  # a step that has waited this long for a place on a node is reported
BEGUN = {"event": "begun"}  # never sent to the engine
NODE = "ray.io/node-id"  # the label by which Ray names each node


class Resources(NamedTuple):
    """The resources that one step asks the cluster for."""

    cpus: float
    gpus: float
    memory: float | None  # gigabytes
    custom: tuple[tuple[str, float], ...]

    def are_in(self, node: Mapping[str, float]) -> bool:
        """Whether a node with these resources, as Ray counts them, has room for the step once it is free."""
        wanted = {"CPU": self.cpus, "GPU": self.gpus, "memory": (self.memory or 0) * 1e9, **dict(self.custom)}
        return all(node.get(name, 0) >= amount for name, amount in wanted.items())

    def shown(self) -> str:
        named = (("cpus", self.cpus), ("gpus", self.gpus), ("memory", self.memory or 0), *self.custom)
        return ", ".join(f"{name}: {amount:g}" for name, amount in named if amount)


class RayWorkers:
    """The workers of one Ray cluster: the cluster at `address`, or this machine alone."""

    idle_seconds = 2.0  # an idle worker holds resources that others may wait for

    def __init__(self, store: Store, address: str | None, count: int | None, ship: bool = False) -> None:
        """`ship` says whether the nodes get the code of the harness and of all plugins from here."""
        self.store = store
        if store.remote is not None and not store.remote.write:
            raise HarnessError("--engine ray: nodes push what they make; leave out --no-push")
        _check_reachable(address or os.environ.get("RAY_ADDRESS"))
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None and "RAY_ADDRESS" not in os.environ:
            # without an address Ray would join any cluster that runs on this machine
            options |= {"address": "local", "include_dashboard": False}
        else:
            options["address"] = address or "auto"
        try:
            with tempfile.TemporaryDirectory(prefix="harness-ship-") as folder:
                if ship:
                    shipped_code.gather(Path(folder))
                    options["runtime_env"] = {"working_dir": folder}
                ray.init(**options)
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            what = str(error).splitlines()[0]
            raise HarnessError(f"--engine ray: {what}; check --address and that Ray runs there") from None
        nodes = [node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]]
        self.cores = max(1, int(min((cores for cores in nodes if cores), default=1)))
        self.count = count or max(1, int(sum(nodes)))
        token = secrets.token_hex(8)
        if store.remote is None:
            disk.replace_file(store.root / TOKEN, token.encode())
        remote = store.remote.given if store.remote is not None else None
        self._settings = Settings(str(store.root), token, remote, 1, node_versions.here())
        self._pushed: set[str] = set()  # artifacts that the remote certainly has
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
        method = step.work.get("method", {})
        given = dict(method.get("resources") or {})
        cpus = given.pop("cpus", self.cores if method.get("cores") == "all" else 1)
        gpus, memory = given.pop("gpus", 0), given.pop("memory", None)
        return Resources(cpus, gpus, memory, tuple(sorted(given.items())))

    def shares(self, step: Step) -> bool:
        return self.count > 1

    def has_part(self, part: str) -> bool:
        return self.store.remote.has(part) if self.store.remote is not None else self.store.has(part)

    def done(self, step: Step) -> None:
        self._pushed.add(step.id)
        remote = self.store.remote
        if remote is not None and step.kind != PART and not remote.fetch(self.store, step.id, remote.note):
            self._pushed.discard(step.id)
            raise Corrupt(step.id, f"{remote.address} has lost what it had pushed")

    def joined(self, parts: list[str]) -> None:
        for part in parts:
            if self.store.remote is not None:
                self.store.remote.forget(part)
            else:
                self.store.discard(part)

    def offer(self, step: str) -> bool:
        """Push an artifact that nodes need. Returns whether it was pushed now."""
        remote = self.store.remote
        if remote is None or step in self._pushed or not self.store.has(step):
            return False
        self._pushed.add(step)
        return remote.push(self.store, step)

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


class RayWorker:
    """A worker of the engine that is an actor on some node."""

    def __init__(self, workers: RayWorkers, resources: Resources) -> None:
        self.workers, self.resources = workers, resources
        self.steps = 0
        custom = dict(resources.custom)
        memory = None if resources.memory is None else int(resources.memory * 1e9)
        self._actor: Any = (
            ray.remote(_Actor)
            .options(
                num_cpus=resources.cpus, num_gpus=resources.gpus, memory=memory, resources=custom,
                max_restarts=0, max_concurrency=2, label_selector=workers.places,
            )
            .remote(workers.settings(resources))
        )  # fmt: skip
        self._refused = self._actor.begin.remote()
        self.node = ""  # the id of the actor's node, once the actor has a place
        self._since: float | None = time.monotonic()  # when the wait for a place began; None: it was reported
        self._request: JSON = None
        self._events: Any = None
        self._last: JSON = {}
        self._offered = 0

    def send(self, step: Step, ask: Ask = "result") -> None:
        self._request = request_of(step, ask)
        self._events, self._last, self._offered = None, {}, 0
        for item in (*step.inputs, *step.work.get("parts", ())):
            self.workers.offer(item)

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            if self._events is None and (event := self._begin(memory, deadline)) != BEGUN:
                return event
            while True:
                left = TICK if deadline is None else min(TICK, deadline - time.monotonic())
                if left <= 0:
                    return None
                if ray.wait([self._events], timeout=left)[0]:
                    event = ray.get(next(self._events))
                    missing = event["step"] if event["event"] == "corrupt" else None
                    if missing and self._offered < OFFERS and self.workers.offer(missing):
                        self._offered += 1
                        self._events = None
                        return self.event(timeout, memory)
                    self._last = event if "output" in event else self._last
                    if event.get("unfit"):
                        self.workers.avoid(self.node, event["reason"])
                    return event
        except (RayError, StopIteration) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            # the text of an error on the node is a traceback, whose last line says what happened
            reason = lines[-1 if isinstance(error, RayTaskError) else 0]
            return {"event": "gone", "reason": reason, "pushed": self._is_pushed()}

    def _is_pushed(self) -> bool:
        """Whether the lost node had pushed the artifact of its step."""
        remote, request = self.workers.store.remote, self._request
        return remote is not None and request["ask"] == "result" and remote.has(request["id"])

    def _begin(self, memory: float | None, deadline: float | None) -> JSON:
        """Send the request to the actor, once the actor has a place on a node. Returns BEGUN, an event, or
        None if the actor got no place before the `deadline`."""
        while not ray.wait([self._refused], timeout=TICK)[0]:
            if deadline is not None and time.monotonic() > deadline:
                return None
            if self._since is not None and time.monotonic() - self._since > PLACE_SECONDS:
                self._since = None
                return {"event": "note", "text": f"waits for a node with {self.resources.shown()}"}
        name, self.node, reason, unfit = ray.get(self._refused)
        if unfit:
            self.workers.avoid(self.node, reason)
            return {"event": "gone", "reason": f"the node {name} {reason}", "unfit": True}
        if self.workers.is_unfit(self.node):  # since this worker asked for a place
            return {"event": "gone", "reason": f"the node {name} gets no more steps", "unfit": True}
        if reason is not None:
            raise HarnessError(f"--engine ray: the node {name} {reason}")
        serve = self._actor.serve.options(num_returns="streaming")
        self._events = serve.remote(self._request, memory)
        return BEGUN

    def output(self) -> str:
        return str(self._last.get("output", ""))

    def cause(self) -> str:
        return str(self._last.get("cause", ""))

    def print_stack(self) -> None:
        with contextlib.suppress(RayError):
            printed = ray.get(self._actor.stack.remote(), timeout=10)
            self._last = {"output": printed}

    def kill(self) -> None:
        with contextlib.suppress(RayError, RuntimeError):
            ray.kill(self._actor)

    def close(self) -> None:
        self.kill()


def _check_reachable(address: str | None) -> None:
    """Check that something listens at `address`. Raises HarnessError at once; Ray itself would try for
    minutes."""
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


class _Actor:
    """The Ray actor around a `Node`: it adds the node's address and id, which only Ray knows."""

    def __init__(self, settings: Settings) -> None:
        self.node = Node(settings)

    def begin(self) -> tuple[str, str, str | None, bool]:
        """The node's name and id, the reason why the node cannot work or None, and whether the reason is its
        own disk, so that other nodes can still work."""
        node = ray.get_runtime_context().get_node_id()
        name = f"{ray.util.get_node_ip_address()} ({node[:8]})"
        try:
            return name, node, self.node.begin(node), False
        except HarnessError as error:
            alone = isinstance(error, StoreError) and self.node.settings.remote is not None
            return name, node, f"cannot work: {error}", alone

    def serve(self, request: JSON, memory: float | None) -> Any:
        yield from self.node.serve(request, memory)

    def stack(self) -> str:
        self.node.stack()
        time.sleep(STACK_SECONDS)
        return self.node.printed()
