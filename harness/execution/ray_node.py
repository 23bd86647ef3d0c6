"""The code that runs on a node of a Ray cluster: it drives a local worker process and moves its artifacts."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError, StoreError
from harness.execution import node_stores, node_versions, requests
from harness.execution.worker_handle import TICK, Child
from harness.store.artifacts import Store
from harness.store.manifest import Corrupt
from harness.store.remote import Remote
from harness.types import JSON

FOLDER = "HARNESS_NODE_STORE"  # the environment variable with the folder for the stores of nodes
TOKEN = "session"  # the file in a shared store by which a node checks that it sees the engine's store
ENDS = ("done", "blocks", "corrupt", "stop", "failed", "died", "memory", "gone")
DYING_SECONDS = 10.0  # the death of a process is reported only if its node still works after this time
FETCHES = 8  # artifacts that are fetched for one step at most, beyond those that its request names


class Settings(NamedTuple):
    """The settings that a node gets when it begins."""

    store: str  # the engine's store; without a remote, the node must see this folder
    token: str  # the content of the file `TOKEN` in that store
    remote: str | None
    threads: int
    versions: dict[str, str]
    fresh: bool = False  # with a remote: whether nothing of earlier runs is used
    one_run: bool = False  # with a remote: whether no later run can use the stores of the nodes


class Node:
    """One worker on a node. The engine's machine calls its methods through Ray."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.child: Child | None = None
        self.remote: Remote | None = None
        self.parent = os.getppid()  # the node's process, which starts actors
        self.notes: list[str] = []  # for the user, not sent yet

    def begin(self, node: str) -> str | None:
        """Open the store. Returns the reason why this node cannot take part, or None if it can."""
        different = node_versions.differences(self.settings.versions)
        if different:
            return (
                f"has other versions: {different}; install the same ones everywhere, or send code with --ship"
            )
        if self.settings.remote is not None:
            base = Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir(), "passage-harness"))
            self.store = Store(base / node_stores.named(node, self.settings.token, self.settings.one_run))
            self.lock = node_stores.use(self.store.root)  # until this process ends
            self.store.open()
            node_stores.remove_unused(base, self.settings.token)
            self.remote = Remote(self.settings.remote)
            self.remote.note, self.remote.replace = self.notes.append, self.settings.fresh
            return None
        self.store = Store(Path(self.settings.store))
        try:
            seen = (self.store.root / TOKEN).read_text()
        except OSError:
            seen = ""
        if seen != self.settings.token:
            advice = "put it on a file server with --store, or share artifacts through --remote"
            return f"does not see the store {self.store.root}; {advice}"
        return None

    def serve(self, data: bytes, memory: float | None) -> Iterator[JSON]:
        """The events of one encoded request. The last event contains what the process printed."""
        request = requests.decode(data)
        assert isinstance(request, requests.Execute)
        try:
            if self.remote is not None:
                self._fetch_inputs(request)
                yield from self._noted()
            for event in self._served(request, data, memory):
                yield from self._noted()
                # only the disk of this node is full, not the engine's: another node can do the step
                full = event["event"] == "stop" and self.remote is not None
                yield {"event": "gone", "reason": event["message"], "unfit": True} if full else event
        except StoreError as error:
            yield {"event": "gone", "reason": str(error), "unfit": True}
        except HarnessError as error:  # this node cannot reach the remote
            yield {"event": "gone", "reason": str(error)}

    def _noted(self) -> Iterator[JSON]:
        while self.notes:
            yield {"event": "note", "text": self.notes.pop(0)}

    def _served(self, request: requests.Execute, data: bytes, memory: float | None) -> Iterator[JSON]:
        child = self.child = self.child or Child(self.store, self.settings.threads)
        child.send(data)
        fetched = 0
        while True:
            event = child.event(TICK, memory)
            if event is None:
                continue
            kind = event["event"]
            if kind == "corrupt" and self.remote is not None and fetched < FETCHES:
                self.store.discard(event["step"])
                fetched += 1
                if self._fetch(event["step"]):
                    child.send(data)
                    continue
            if kind == "done" and self.remote is not None:
                try:
                    self._push(request)
                except Corrupt as error:
                    self.store.discard(error.step)
                    event, kind = {"event": "gone", "reason": str(error)}, "gone"
            ended = kind in ("died", "memory")
            if ended:
                event = {**event, "cause": child.cause() if kind == "died" else ""}
                child.kill()
                if child.process.returncode == -signal.SIGKILL and kind == "died" and self._is_going_down():
                    event, kind = {"event": "gone", "reason": "its node is going down"}, "gone"
            if kind in ENDS:
                event = {**event, "output": child.output()}
            if ended:
                child.close()
                self.child = None
            yield event
            if kind in ENDS:
                return

    def _is_going_down(self) -> bool:
        """Whether Ray is ending this node. Ray then kills the processes of an actor before the actor itself,
        so the actor could blame a plugin for the death of its process. This method waits a moment. If the
        node is ending, the actor is killed meanwhile, or its parent process has changed."""
        until = time.monotonic() + DYING_SECONDS
        while os.getppid() == self.parent and time.monotonic() < until:
            time.sleep(TICK)
        return os.getppid() != self.parent

    def stack(self) -> None:
        """Have the process print the stacks of its threads. Called while `serve` waits."""
        if self.child is not None:
            self.child.ask_for_stack()

    def printed(self) -> bytes:
        return self.child.printed if self.child is not None else b""

    def _push(self, request: requests.Execute) -> None:
        """Push the artifact of a request. If the request is for a part and this node has the whole step from
        an earlier run, the worker has not made the part, and the whole step is pushed instead."""
        assert self.remote is not None
        whole = request.whole
        self.remote.push(self.store, whole if self.store.has(whole) else request.step)

    def _fetch_inputs(self, request: requests.Execute) -> None:
        """Fetch the artifacts that a request names. Most of them are needed."""
        if request.parts and not self.settings.fresh and self._fetch(request.step):
            return  # a node that had the whole step has pushed it instead of a part
        for step in request.reads:
            self._fetch(step)

    def _fetch(self, step: str) -> bool:
        """Fetch the artifact of a step unless the store has it. Returns whether the store has it now."""
        assert self.remote is not None
        return self.store.has(step) or self.remote.fetch(self.store, step, print)
