"""The code that runs on a node of a Ray cluster: it drives a local worker process and moves its artifacts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError
from harness.execution import node_versions
from harness.execution.worker_handle import TICK, Child
from harness.store.artifacts import Store
from harness.store.remote import Remote
from harness.types import JSON

FOLDER = "HARNESS_NODE_STORE"  # the environment variable with the folder for the stores of nodes
TOKEN = "session"  # the file in a shared store by which a node checks that it sees the engine's store
ENDS = ("done", "blocks", "corrupt", "stop", "failed", "died", "memory")
FETCHES = 8  # artifacts that are fetched for one step at most, beyond those that its request names


class Settings(NamedTuple):
    """The settings that a node gets when it begins."""

    store: str  # the engine's store; without a remote, the node must see this folder
    token: str  # the content of the file `TOKEN` in that store
    remote: str | None
    threads: int
    versions: dict[str, str]


class Node:
    """One worker on a node. The engine's machine calls its methods through Ray."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.child: Child | None = None
        self.remote: Remote | None = None

    def begin(self, node: str) -> str | None:
        """Open the store. Returns the reason why this node cannot take part, or None if it can."""
        different = node_versions.different(self.settings.versions, node_versions.here())
        if different:
            return f"has other versions: {different}; install the same ones everywhere"
        if self.settings.remote is not None:
            base = Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir(), "passage-harness"))
            self.store = Store(base / node[:16])
            self.store.root.parent.mkdir(parents=True, exist_ok=True)
            self.store.open()
            self.remote = Remote(self.settings.remote)
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

    def serve(self, request: JSON, memory: float | None) -> Iterator[JSON]:
        """The events of one request. The last event contains what the process printed."""
        try:
            for step in _named(request) if self.remote is not None else ():
                self._fetch(step)
            yield from self._served(request, memory)
        except HarnessError as error:  # this node cannot reach the remote
            yield {"event": "gone", "reason": str(error)}

    def _served(self, request: JSON, memory: float | None) -> Iterator[JSON]:
        child = self.child = self.child or Child(self.store, self.settings.threads)
        child.request(request)
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
                    child.request(request)
                    continue
            if kind == "done" and self.remote is not None:
                self.remote.push(self.store, request["id"])
            if kind in ("died", "memory"):
                event = {**event, "cause": child.cause() if kind == "died" else ""}
                child.kill()
            if kind in ENDS:
                event = {**event, "output": child.output()}
            if kind in ("died", "memory"):
                child.close()
                self.child = None
            yield event
            if kind in ENDS:
                return

    def stack(self) -> None:
        """Have the process print the stacks of its threads. Called while `serve` waits."""
        if self.child is not None:
            self.child.ask_for_stack()

    def printed(self) -> str:
        return self.child.printed.decode("utf-8", "replace").strip() if self.child is not None else ""

    def _fetch(self, step: str) -> bool:
        """Fetch the artifact of a step unless the store has it. Returns whether the store has it now."""
        assert self.remote is not None
        return self.store.has(step) or self.remote.fetch(self.store, step, print)


def _named(request: JSON) -> list[str]:
    """The artifacts that a request names. Most of them are needed."""
    work = request["work"]
    return [*work["inputs"], *work.get("parts", ())]
