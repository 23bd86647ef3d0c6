"""The child process that executes steps: requests in on stdin, events out on a pipe, as JSON lines."""

from __future__ import annotations

import errno
import io
import os
import queue
import resource
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

import orjson

from harness import disk
from harness.errors import ContractError, HarnessError, StoreError
from harness.store import Corrupt, Store
from harness.types import JSON

TELL_EVERY = 0.2  # seconds between two progress events


class Line:
    """The way back to the parent."""

    def __init__(self, descriptor: int) -> None:
        self._out = io.open(descriptor, "wb", buffering=0)  # noqa: UP020, SIM115 - for the child's whole life
        self._told = 0.0

    def tell(self, event: str, **details: JSON) -> None:
        self._out.write(orjson.dumps({"event": event, **details}) + b"\n")

    def progress(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._told > TELL_EVERY or done == total:
            self._told = now
            self.tell("progress", done=int(done), total=None if total is None else int(total))


def main(store_root: str, descriptor: int) -> NoReturn:
    """Serve requests until the parent closes its end, or dies."""
    line = Line(descriptor)
    requests: queue.Queue[JSON] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    store = Store(Path(store_root))
    catalogue = None
    while True:
        request = requests.get()
        try:
            if catalogue is None:
                from harness import catalogue as found

                catalogue = found.load()
            _serve(request, store, catalogue, line)
        except Corrupt as error:
            line.tell("corrupt", step=error.step, reason=error.reason)
        except MemoryError:
            line.tell("failed", reason="out of memory", user=False)
        except StoreError as error:
            line.tell("stop", message=str(error))
        except HarnessError as error:
            line.tell("failed", reason=str(error), user=True)
        except ContractError as error:
            line.tell("failed", reason=f"broke its contract: {error}", user=False)
        except OSError as error:
            _tell_os_error(error, store, line)
        except BaseException as error:  # a plugin may fail in any way; the parent decides what follows
            traceback.print_exc()
            line.tell("failed", reason=_said(error), user=False)


def _serve(request: JSON, store: Store, catalogue: Any, line: Line) -> None:
    step = request["id"]
    with store.claim(step, lambda: line.tell("waiting")) as folder:
        if folder is None:
            line.tell("done", reused=True)
            return
        line.tell("started")
        from harness import steps

        _reset_peak()
        cpu = _cpu()
        task = steps.Task(request["kind"], request["work"], folder, store, catalogue, line.progress)
        outcome = steps.execute(task)
        cost = {"cpu_seconds": _cpu() - cpu, "peak_mb": _peak_mb(), **outcome.cost}
        store.finish(step, request["described"], outcome.facts, cost)
        line.tell("done", reused=False)


def _listen(requests: queue.Queue[JSON]) -> None:
    for text in sys.stdin.buffer:
        requests.put(orjson.loads(text))
    os.killpg(os.getpgrp(), signal.SIGKILL)  # the parent has gone: nobody wants the result


def _tell_os_error(error: OSError, store: Store, line: Line) -> None:
    full = disk.explained(error, store.root) if error.errno in disk.FULL else None
    if full is not None:
        line.tell("stop", message=str(full))
    elif error.errno == errno.ENOMEM:
        line.tell("failed", reason="out of memory", user=False)
    else:
        traceback.print_exc()
        line.tell("failed", reason=_said(error), user=False)


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _cpu() -> float:
    own, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + below.ru_utime + below.ru_stime


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not Linux: the peak is then that of the worker's life
        return


def _peak_mb() -> float:
    try:
        for text in Path("/proc/self/status").read_text().splitlines():
            if text.startswith("VmHWM:"):
                return round(int(text.split()[1]) / 1024, 1)
    except OSError:
        pass
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale, 1)
