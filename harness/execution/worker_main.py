"""The child process that executes steps: requests in on stdin, events out on a pipe, as JSON lines."""

from __future__ import annotations

import errno
import faulthandler
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
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import orjson

from harness.errors import ContractError, HarnessError, StoreError
from harness.plan.kinds import PART
from harness.store import disk, responses
from harness.store.artifacts import Corrupt, Store
from harness.store.step_cost import StepCost
from harness.types import JSON

if TYPE_CHECKING:  # a worker that only waits for another run pays for nothing
    from harness.execution.steps import Outcome, Task

TELL_EVERY = 0.2  # seconds between two progress events
LONGEST = 2000  # characters of a reason


class Line:
    """The way back to the parent. A plugin may report progress from threads of its own."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._out = io.open(descriptor, "wb")  # noqa: UP020, SIM115 - for the child's whole life
        self._lock = threading.Lock()
        self._told = 0.0

    def tell(self, event: str, **details: JSON) -> None:
        data = orjson.dumps({"event": event, **details}) + b"\n"
        with self._lock:
            self._out.write(data)
            self._out.flush()

    def progress(self, done: int, total: int | None, note: str = "") -> None:
        now = time.monotonic()
        if now - self._told > TELL_EVERY or done == total:
            self._told = now
            self.tell("progress", done=int(done), total=None if total is None else int(total), note=note)

    def compiling(self, begins: bool) -> None:
        self.tell("compiling" if begins else "compiled")

    def failed(self, reason: str, user: bool = False) -> None:
        readable = reason.encode("utf-8", "backslashreplace").decode()
        if len(readable) > LONGEST:
            readable = f"{readable[:LONGEST]}..."
        self.tell("failed", reason=readable, user=user)


def main(store_root: str, descriptor: int) -> NoReturn:
    """Serve requests until the parent closes its end, or dies."""
    line = Line(descriptor)
    # the Python stack goes where the plugin prints: of a crash, and on SIGUSR1 before a timeout's kill
    faulthandler.enable(os.dup(2))
    faulthandler.register(signal.SIGUSR1, os.dup(2))
    requests: queue.Queue[JSON] = queue.Queue()
    threading.Thread(target=_listen, args=(requests, _own_stdin()), daemon=True).start()
    store = Store(Path(store_root))
    catalogue = None
    kept: dict[str, Any] = {}
    while True:
        request = requests.get()
        try:
            if catalogue is None:
                from harness import catalogue as found

                catalogue = found.load()
            if request["kind"] == "measure":
                _measure(request, catalogue, line)
            else:
                _serve(request, store, catalogue, line, kept)
        except BaseException as error:  # a plugin may fail in any way; the parent decides what follows
            _tell(error, store, line)


def _tell(error: BaseException, store: Store, line: Line) -> None:
    """Say what an exception means to the parent."""
    lost, refused = _lost(error, store), _refused(error, store)
    if isinstance(error, Corrupt):
        line.tell("corrupt", step=error.step, reason=error.reason)
    elif isinstance(error, StoreError):
        line.tell("stop", message=str(error))
    elif isinstance(error, HarnessError):
        line.failed(str(error), user=True)
    elif isinstance(error, ContractError):
        line.failed(f"broke its contract: {error}")
    elif refused is not None:
        line.tell("stop", message=str(refused))
    elif lost is not None:
        line.tell("corrupt", step=lost, reason="it was removed while it was read")
    elif isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        line.failed("out of memory")
    else:
        traceback.print_exc()
        line.failed(_said(error))


def _measure(request: JSON, catalogue: Any, line: Line) -> None:
    """Compute a plugin's measure on the arrays in a folder, and leave its values there."""
    import numpy as np

    from harness.scoring.measures.ideal import Ideal

    line.tell("started")
    folder = Path(request["folder"])
    with np.load(folder / "asked.npz", allow_pickle=False) as asked:
        grades, ideal = asked["grades"], Ideal(request["queries"], asked["row"], asked["grade"])
    grades.flags.writeable = False
    compute = catalogue.find("measures", request["id"]).record.build()
    computed = compute(grades, ideal, request["rel"], request["cutoff"])
    if not isinstance(computed, tuple) or len(computed) != 2:
        raise ContractError(f"it must return a numerator and a denominator, not {type(computed).__name__}")
    values = [np.asarray(part, np.float64) for part in computed]
    np.savez(folder / "computed.npz", numerator=values[0], denominator=values[1])
    line.tell("done", reused=False)


def _serve(request: JSON, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]) -> None:
    step, work = request["id"], request["work"]
    whole = work["of"] if request["kind"] == PART else step
    if whole not in kept:
        kept.clear()  # before memory is needed for another step
    if request["ask"] == "blocks":
        _tell_blocks(request, store, catalogue, line, kept)
        return
    if whole != step and store.has(whole):  # another run has joined it
        line.tell("done", reused=True)
        return
    with store.claim(step, lambda: line.tell("waiting")) as folder:
        if folder is None:
            line.tell("done", reused=True)
            return
        line.tell("started")
        from harness.execution import steps

        _reset_peak()
        os.environ[responses.STEP] = whole
        kind = request["kind"] if whole == step else work["kind"]
        task = steps.Task(kind, work, folder, store, catalogue, line.progress, line.compiling, whole, kept)
        with StepCost(folder, _cpu) as spent:
            outcome = _outcome(task, line)
        cpu_seconds = spent.before.cpu_seconds + spent.cpu_seconds
        cost: dict[str, JSON] = {"cpu_seconds": cpu_seconds, "peak_mb": _peak_mb()}
        cost |= {**outcome.cost, "seconds": spent.before.seconds + outcome.cost["seconds"]}
        if whole == step and (asked := responses.of_step(store.responses, step)) is not None:
            cost["services"] = asked
        if "parts" in work:
            cost = steps.cutting.with_parts(cost, [store.read(part, trust=True) for part in work["parts"]])
        store.finish(step, request["described"], outcome.facts, cost, durable=whole == step)
        line.tell("done", reused=False)


def _tell_blocks(request: JSON, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]) -> None:
    """Say into how many blocks a step can be cut; nothing is written."""
    from harness.execution import steps

    line.tell("started")
    step, kind, nowhere = request["id"], request["kind"], Path(os.devnull)
    task = steps.Task(
        kind, request["work"], nowhere, store, catalogue, line.progress, line.compiling, step, kept
    )
    line.tell("blocks", blocks=steps.cutting.blocks(task))


def _outcome(task: Task, line: Line) -> Outcome:
    """Execute a step. Over what a killed run left it may fail because of just that: a machine that stops
    can keep a file's name without its contents. It is then done once more from nothing."""
    from harness.execution import steps

    resumed = any(task.folder.iterdir())
    try:
        return steps.execute(task)
    except (HarnessError, ContractError, Corrupt, MemoryError):
        raise
    except Exception as error:
        if not resumed or _refused(error, task.store) or _lost(error, task.store):
            raise
        traceback.print_exc()
    line.tell("again")
    task.store.clear(task.folder)
    return steps.execute(task)


def _refused(error: BaseException, store: Store) -> StoreError | None:
    """What to say if the disk is to blame; many a library hides that in an error of its own."""
    if isinstance(error, OSError) and error.errno in disk.FAILING:
        return disk.told(error, store.root)
    if isinstance(error, Exception) and disk.is_full(store.root):
        return disk.full(store.root)
    return None


def _lost(error: BaseException, store: Store) -> str | None:
    """The artifact that went away while a step read it (another run found it damaged, or wants it made
    again), if that is what an error comes of."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str | bytes):
        return None
    path = Path(os.fsdecode(error.filename))
    if not path.is_relative_to(store.artifacts) or path == store.artifacts:
        return None
    step = path.relative_to(store.artifacts).parts[0]
    return None if store.has(step) else step


def _own_stdin() -> BinaryIO:
    """The requests, where neither a plugin nor what it starts can read them."""
    duplicate = os.dup(0)  # not inherited
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return io.open(duplicate, "rb")  # noqa: UP020 - for the child's whole life


def _listen(requests: queue.Queue[JSON], stdin: BinaryIO) -> None:
    for text in stdin:
        requests.put(orjson.loads(text))
    # the parent has gone, and nobody wants the result. (Linux can kill a process with its parent at once,
    # also while C code keeps Python's lock, but then what the plugin has started would live on.)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _said(error: BaseException) -> str:
    """An exception with all lines of its message; where it was raised is in what the worker printed."""
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
