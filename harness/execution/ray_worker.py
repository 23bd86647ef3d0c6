"""A worker on a Ray cluster: an actor with the resources of its step, and a process on its node."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import ray as untyped_ray
from ray.exceptions import RayError, RayTaskError

from harness.errors import HarnessError, StoreError
from harness.execution import requests
from harness.execution.ray_node import Node, Settings
from harness.execution.worker_handle import STACK_SECONDS, TICK, has_stack
from harness.store.manifest import Corrupt
from harness.types import JSON

if TYPE_CHECKING:
    from harness.execution.ray_workers import RayWorkers

ray: Any = untyped_ray  # some of its functions have types, and some have none
OFFERS = 8  # artifacts at most that are pushed for one step because the node reports them missing
PLACE_SECONDS = 20.0  # a step that has waited this long for a place on a node is reported
BEGUN = {"event": "begun"}  # never sent to the engine


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
        self._data = b""
        self._request: requests.Execute | None = None
        self._events: Any = None
        self._last: JSON = {}
        self._offered = 0

    def send(self, request: bytes) -> None:
        decoded = requests.decode(request)
        assert isinstance(decoded, requests.Execute)
        self._data, self._request = request, decoded
        self._events, self._last, self._offered = None, {}, 0

    def event(self, timeout: float | None, memory: float | None = None) -> JSON:
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            if self._events is None and (event := self._begin(memory, deadline)) != BEGUN:
                return event
            while True:
                left = TICK if deadline is None else min(TICK, deadline - time.monotonic())
                # what has come counts, even if this thread could not look in time
                if ray.wait([self._events], timeout=max(left, 0))[0]:
                    event = ray.get(next(self._events))
                    missing = event["step"] if event["event"] == "corrupt" else None
                    if missing and self._offered < OFFERS and self.workers.offer(missing, missed=True):
                        self._offered += 1
                        self._events = None
                        return self.event(timeout, memory)
                    self._last = event if "output" in event else self._last
                    if event.get("unfit"):
                        self.workers.avoid(self.node, event["reason"])
                    return event
                if left <= 0:
                    return None
        except Corrupt as error:  # an artifact that the node was to get is damaged here
            return {"event": "corrupt", "step": error.step, "reason": error.reason}
        except (RayError, StopIteration) as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            # the text of an error on the node is a traceback, whose last line says what happened
            reason = lines[-1 if isinstance(error, RayTaskError) else 0]
            return {"event": "gone", "reason": reason, "pushed": self._is_pushed()}

    def _is_pushed(self) -> bool:
        """Whether the lost node had pushed the artifact of its step. In a fresh run this cannot be known,
        because the remote may have the artifact from an earlier run."""
        remote, request = self.workers.store.remote, self._request
        if remote is None or self.workers.fresh or type(request) is not requests.Execute:
            return False
        return remote.has(request.step)

    def _begin(self, memory: float | None, deadline: float | None) -> JSON:
        """Offer the artifacts that the request names to the nodes, and send the request to the actor, once
        the actor has a place on a node. Returns BEGUN, an event, or None if the actor got no place before the
        `deadline`. Raises Corrupt if one of the artifacts is damaged here."""
        assert self._request is not None
        for step in self._request.reads:
            self.workers.offer(step)
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
        self._events = serve.remote(self._data, memory)
        return BEGUN

    def output(self) -> str:
        return str(self._last.get("output", ""))

    def cause(self) -> str:
        return str(self._last.get("cause", ""))

    def print_stack(self) -> None:
        with contextlib.suppress(RayError):
            printed = ray.get(self._actor.stack.remote(), timeout=4 * STACK_SECONDS)
            self._last = {"output": printed}

    def kill(self) -> None:
        with contextlib.suppress(RayError, RuntimeError):
            ray.kill(self._actor)

    def close(self) -> None:
        self.kill()


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

    def serve(self, request: bytes, memory: float | None) -> Any:
        yield from self.node.serve(request, memory)

    def stack(self) -> str:
        self.node.stack()
        began = time.monotonic()
        while not has_stack(self.node.printed(), time.monotonic() - began):
            time.sleep(TICK / 5)
        return self.node.printed().decode("utf-8", "replace").strip()
