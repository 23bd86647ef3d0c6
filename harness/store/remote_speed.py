"""How long transfers from and to a remote will take, by a small trial of each."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from harness.store.recorded import Listed
from harness.store.remote import THREADS, Remote

TRIAL = 1 << 22  # bytes of a trial
TRIAL_SECONDS = 2.0  # a trial ends after the request during which so much time has passed
REQUESTS = 8  # requests that follow one another in the push of a usual artifact


def fetch_seconds(remote: Remote, artifacts: Sequence[Listed]) -> float | None:
    """The time in which these artifacts are fetched: their bytes at the speed of one stream, and the answers
    that the fetch waits for, one for each few pieces of a file. None if no piece of theirs can be read."""
    files = [digests for artifact in artifacts for digests in artifact.files.values()]
    if not files:
        return 0.0
    answer = _answer(remote, artifacts[0].step)
    read, requests, began = 0, 0, time.perf_counter()
    for digest in (digest for digests in files for digest in digests):
        read += len(remote.start_of(digest, TRIAL - read))
        requests += 1
        if read >= TRIAL or time.perf_counter() - began > TRIAL_SECONDS:
            break
    if not read:
        return None
    streaming = max(time.perf_counter() - began - requests * answer, 1e-4)
    waits = sum(-(-len(digests) // THREADS) for digests in files) + len(artifacts)
    return waits * answer + sum(artifact.size for artifact in artifacts) * streaming / read


def push_seconds(remote: Remote, size: float, artifacts: int) -> float:
    """The time in which so many artifacts of `size` bytes together are pushed. Writes a piece of random bytes
    to the remote and removes it. Raises Refused if this user may not write there."""
    if not artifacts:
        return 0.0
    answer = _answer(remote, "index-0")
    data = os.urandom(max(1, min(TRIAL, int(size))))
    streaming = max(remote.try_writing(data) - answer, 1e-4)
    return artifacts * REQUESTS * answer + size * streaming / len(data)


def _answer(remote: Remote, step: str) -> float:
    """The seconds in which the remote answers a small request."""
    remote.has(step)  # the first request may open a connection
    began = time.perf_counter()
    remote.has(step)
    return time.perf_counter() - began
