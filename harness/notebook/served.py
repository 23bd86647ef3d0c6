"""Python objects that cannot be captured: worker processes call them here, over a local socket."""

from __future__ import annotations

import shutil
import socketserver
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from harness import functions
from harness.types import JSON


class Served:
    """A server on a Unix socket that only this user can open. It handles one call at a time, because an
    object of a notebook need not be thread-safe."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="harness-"))  # only its owner can read it
        self.address = self.folder / "calls"
        self.objects: list[Callable[..., Any]] = []
        self._lock = threading.Lock()
        served = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in self.rfile:
                    self.wfile.write(served.answer(orjson.loads(line)) + b"\n")

        self._server = socketserver.ThreadingUnixStreamServer(str(self.address), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def add(self, called: Callable[..., Any]) -> int:
        self.objects.append(called)
        return len(self.objects) - 1

    def answer(self, request: JSON) -> bytes:
        """The encoded result of a call, or its error."""
        with self._lock:
            try:
                kind = request["kind"]
                called = self.objects[request["object"]]
                returned = called(*functions.arguments(kind, request["arguments"]))
                return orjson.dumps({"answer": functions.answer(kind, returned, request["expected"])})
            except Exception as error:
                traceback.print_exc()
                return orjson.dumps({"error": f"{type(error).__name__}: {error}"})

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)
