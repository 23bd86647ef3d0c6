"""An S3 server on the loopback that answers with errors, late, or not at all, on request."""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from harness.store.remote import PIECE, Damaged, Remote

KEYS = {
    "AWS_ACCESS_KEY_ID": "somebodys-key",
    "AWS_SECRET_ACCESS_KEY": "a-word-that-nobody-may-read",
    "AWS_EC2_METADATA_DISABLED": "true",
}
LATE = 1.0  # seconds by which a late answer is late, at most


class Shares(NamedTuple):
    """The share of requests with each fault."""

    error: float = 0.0  # an answer with the status 500, and nothing is done
    late: float = 0.0
    silent: float = 0.0  # the connection is accepted and the request is read; there is never an answer
    lost: float = 0.0  # the same, but the request is carried out


@dataclass
class Faulty:
    """A running server. `shares` may be changed at any time; it has no faults at first. The same bucket is
    also behind a port without faults."""

    port: int
    sound_port: int
    bucket: str  # moto keeps the buckets of a whole process, so each server has a new one
    counts: Counter[str] = field(default_factory=Counter)  # fault -> requests
    shares: Shares = Shares()

    def address(self, prefix: str, sound: bool = False) -> str:
        port = self.sound_port if sound else self.port
        where = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"
        return f"s3://{self.bucket}/{prefix}?{where}"


@contextlib.contextmanager
def served(seed: int = 0) -> Iterator[Faulty]:
    """A server with an empty bucket. The environment must have the variables `KEYS`."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from pyarrow import fs

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto, draw, closed = (
        DomainDispatcherApplication(create_backend_app),
        random.Random(seed),
        threading.Event(),
    )

    def fate() -> str:
        left = draw.random()
        for name, share in faulty.shares._asdict().items():
            if left < share:
                return str(name)
            left -= share
        return "none"

    def application(environ: Any, start_response: Any) -> Any:
        drawn = fate()
        faulty.counts[drawn] += 1
        if drawn == "error":
            start_response("500 Internal Server Error", [("Content-Length", "0")])
            return [b""]
        if drawn == "late":
            time.sleep(draw.uniform(0, LATE))
        if drawn == "lost":
            b"".join(moto(environ, lambda *_: None))
        if drawn in ("silent", "lost"):
            closed.wait()
            start_response("503 Service Unavailable", [("Content-Length", "0")])
            return [b""]
        return moto(environ, start_response)

    with contextlib.ExitStack() as servers:
        ports = [servers.enter_context(_listening(each)) for each in (application, moto)]
        faulty = Faulty(*ports, bucket=f"bucket-{uuid.uuid4().hex}")
        servers.callback(closed.set)
        files, _ = fs.FileSystem.from_uri(f"{faulty.address('')}&allow_bucket_creation=true")
        files.create_dir(faulty.bucket)
        yield faulty


@contextlib.contextmanager
def _listening(application: Any) -> Iterator[int]:
    """The port at which the application answers."""
    from werkzeug.serving import make_server

    server: Any = make_server("127.0.0.1", 0, application, threaded=True)
    server.daemon_threads, server.block_on_close = True, False
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Watch:
    """Reads an address all the time, in a thread, and checks that each artifact that it shows is whole."""

    def __init__(self, address: str) -> None:
        self.remote = Remote(address, write=False)
        self.torn: list[str] = []
        self._whole: set[str] = set()  # steps and pieces
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.check()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.check()

    def check(self) -> list[str]:
        """The artifacts that are shown now. Those that are not whole are kept in `torn`."""
        steps = self.remote.steps()
        for step in steps:
            if step not in self._whole:
                try:
                    listed = self.remote.listed(step)
                    pieces = {piece for each in listed.files.values() for piece in each} if listed else set()
                    for piece in pieces - self._whole:
                        if sha256(self.remote.start_of(piece, PIECE)).hexdigest() != piece:
                            raise Damaged(f"the piece {piece[:12]} is missing or was changed")
                    self._whole |= pieces | {step}
                except Damaged as error:
                    self.torn.append(f"{step}: {error}")
        return steps
