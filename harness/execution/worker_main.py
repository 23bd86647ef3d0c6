"""The worker process that executes steps. Requests come from stdin, events go to a pipe, as JSON lines."""

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
from collections.abc import Mapping
from contextvars import copy_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import orjson

from harness.errors import ContractError, HarnessError, StoreError
from harness.execution import energy, process_family
from harness.execution.error_text import error_text
from harness.execution.requests import CountBlocks, Execute, Measure, decode
from harness.step_context import CURRENT, Converted, StepContext
from harness.steps import PartOfStep
from harness.store import disk, responses
from harness.store.artifacts import Store
from harness.store.manifest import REMOVED, Corrupt, Stamp
from harness.store.step_cost import StepCost
from harness.types import JSON

if TYPE_CHECKING:  # imported late: a worker that only waits for another run need not load the methods
    from harness.execution.task import Outcome, Task

TELL_EVERY = 0.2  # seconds between two progress events
LONGEST = 2000  # characters that a reason may have


class Line:
    """The pipe that sends events to the parent. Its methods may be called from several threads, because a
    plugin may report progress from threads of its own."""

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
    """Serve requests until the parent closes its end of the pipe or dies."""
    line = Line(descriptor)
    process_family.adopt_orphans()
    # the Python stack goes where the plugin prints: after a crash, and on SIGUSR1 before a kill by timeout
    faulthandler.enable(os.dup(2))
    faulthandler.register(signal.SIGUSR1, os.dup(2))
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(requests, _own_stdin()), daemon=True).start()
    store = Store(Path(store_root))
    catalogue = None
    kept: dict[str, Any] = {}
    while True:
        data, inputs = requests.get(), dict[str, Stamp]()
        try:
            request = decode(data)
            inputs = {} if isinstance(request, Measure) else store.stamps(request.reads)
            if catalogue is None:
                from harness import catalogue as module

                catalogue = module.load()
            if isinstance(request, Measure):
                _measure(request, catalogue, line)
            else:
                copy_context().run(_do, request, store, catalogue, line, kept)
        except BaseException as error:  # a plugin may fail in any way; the parent decides what follows
            _tell(error, store, line, inputs)


def _tell(error: BaseException, store: Store, line: Line, inputs: Mapping[str, Stamp]) -> None:
    """Tell the parent about an exception, by the event that the parent acts on."""
    lost, refused = _lost(error, store) or store.removed_since(inputs), _refused(error, store)
    if isinstance(error, Corrupt):
        line.tell("corrupt", step=error.step, reason=error.reason)
    elif isinstance(error, StoreError):
        line.tell("stop", message=str(error))
    elif lost is not None:  # whatever the error says, the method has read a part of its input alone
        line.tell("corrupt", step=lost, reason=REMOVED)
    elif isinstance(error, HarnessError):
        line.failed(str(error), user=True)
    elif isinstance(error, ContractError):
        line.failed(f"broke its contract: {error}")
    elif refused is not None:
        line.tell("stop", message=str(refused))
    elif isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        line.failed("out of memory")
    else:
        traceback.print_exc()
        line.failed(error_text(error))


def _measure(request: Measure, catalogue: Any, line: Line) -> None:
    """Compute a plugin's measure on the arrays in a folder, and write its values there."""
    import numpy as np

    from harness.scoring.measures.grades import Ideal

    line.tell("started")
    folder = Path(request.folder)
    with np.load(folder / "asked.npz", allow_pickle=False) as arrays:
        grades, ideal = arrays["grades"], Ideal(request.queries, arrays["row"], arrays["grade"])
    grades.flags.writeable = False
    compute = catalogue.find("measures", request.name).record.build()
    computed = compute(grades, ideal, request.rel, request.cutoff)
    if not isinstance(computed, tuple) or len(computed) != 2:
        raise ContractError(f"it must return a numerator and a denominator, not {type(computed).__name__}")
    values = [np.asarray(part, np.float64) for part in computed]
    np.savez(folder / "computed.npz", numerator=values[0], denominator=values[1])
    line.tell("done", reused=False)


def _do(request: Execute, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]) -> None:
    """Do what is asked of a step. Methods that are opened meanwhile find the step's context."""
    converted = Converted(store.converted, store.digests.folder, set())
    CURRENT.set(StepContext(request.whole, store.responses, converted=converted, unkeyed=set()))
    if request.whole not in kept:
        kept.clear()  # free the memory before another step needs it
    if isinstance(request, CountBlocks):
        _tell_blocks(request, store, catalogue, line, kept)
    else:
        _serve(request, store, catalogue, line, kept)


def _serve(request: Execute, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]) -> None:
    step, whole = request.step, request.whole
    if whole != step and store.has(whole):  # another run has joined it
        line.tell("done", reused=True)
        return
    with store.claim(step, lambda: line.tell("waiting")) as folder:
        if folder is None:
            line.tell("done", reused=True)
            return
        from harness.execution import executors  # before the step's time begins, because it takes long

        line.tell("started")
        _reset_peak()
        task = _task(request, folder, store, catalogue, line, kept)
        with StepCost(folder, _cpu, energy.Meter()) as spent:
            outcome = _outcome(task, request.parts, line)
        cpu_seconds = spent.before.cpu_seconds + spent.cpu_seconds
        cost: dict[str, JSON] = {"cpu_seconds": cpu_seconds, "peak_mb": _peak_mb()}
        if (joules := spent.joules) is not None:
            cost["energy_joules"] = round(joules, 3)
        cost |= {**outcome.cost, "seconds": spent.before.seconds + outcome.cost["seconds"]}
        if whole == step and (services := responses.of_step(store.responses, step)) is not None:
            cost["services"] = services
        parts = [store.read(part, trust=True) for part in request.parts]
        if request.parts:
            cost = executors.with_parts(cost, parts)
        facts = executors.with_noted(outcome.facts, CURRENT.get(), parts, whole == step)
        store.finish(step, request.record.keyed, facts, cost, durable=whole == step)
        line.tell("done", reused=False)


def _tell_blocks(
    request: CountBlocks, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]
) -> None:
    """Tell the parent into how many blocks a step can be cut. Nothing is written to the store."""
    from harness.execution import executors

    line.tell("started")
    task = _task(request, Path(os.devnull), store, catalogue, line, kept)
    line.tell("blocks", blocks=executors.blocks(task))


def _task(
    request: Execute, folder: Path, store: Store, catalogue: Any, line: Line, kept: dict[str, Any]
) -> Task:
    from harness.execution.task import Task

    part = request.record if isinstance(request.record, PartOfStep) else None
    record = request.record.whole if isinstance(request.record, PartOfStep) else request.record
    if record is None:
        raise ContractError(f"{request.step}: it does not say what it is a part of")
    task = Task(record, folder, store, catalogue, line.progress, line.compiling, part, request.whole, kept)
    CURRENT.set(CURRENT.get()._replace(backbones=task.backbones()))
    return task


def _outcome(task: Task, parts: tuple[str, ...], line: Line) -> Outcome:
    """Execute a step and return its outcome. A step that goes on with the files of a killed run may fail
    because of these files: a machine that stops can keep a file's name without its contents. Such a step is
    executed once more in an empty folder."""
    from harness.execution import executors

    resumed = any(task.folder.iterdir())
    try:
        return executors.execute(task, parts)
    except (HarnessError, ContractError, Corrupt, MemoryError):
        raise
    except Exception as error:
        if not resumed or _refused(error, task.store) or _lost(error, task.store):
            raise
        traceback.print_exc()
    line.tell("again")
    task.store.clear(task.folder)
    return executors.execute(task, parts)


def _refused(error: BaseException, store: Store) -> StoreError | None:
    """The StoreError to report if the store's disk failed or is full, or None. The disk itself is checked
    too, because many libraries replace such an error by one of their own, and because a plugin may have
    written to another disk."""
    if isinstance(error, OSError) and error.errno in disk.FAILING:
        name = error.filename if isinstance(error.filename, str | bytes) else ""
        in_store = Path(os.fsdecode(name)).is_relative_to(store.root)
        if in_store or not _is_of_a_plugin(error) or not _takes_files(store):
            return disk.store_error(error, store.root)
    if isinstance(error, Exception) and disk.is_full(store.root):
        return disk.full(store.root)
    return None


def _is_of_a_plugin(error: OSError) -> bool:
    """Whether a plugin's code met the error, rather than the harness when it wrote a result. The toolkit acts
    for whoever calls it."""
    from harness import catalogue

    packages = {plugin.module.partition(".")[0] for plugin in catalogue.load().plugins}
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    for module in reversed(modules):
        if module.partition(".")[0] in packages:
            return True
        if module.startswith("harness.") and not module.startswith("harness.toolkit."):
            return False
    return False


def _takes_files(store: Store) -> bool:
    """Whether this process can write a file into the store, and one of any size."""
    try:
        disk.check_writable(store.partial)
    except StoreError:
        return False
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def _lost(error: BaseException, store: Store) -> str | None:
    """The artifact whose removal during a step caused the error, or None. Another run removes an artifact
    that it found damaged or makes again."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str | bytes):
        return None
    path = Path(os.fsdecode(error.filename))
    if not path.is_relative_to(store.artifacts) or path == store.artifacts:
        return None
    step = path.relative_to(store.artifacts).parts[0]
    return None if store.has(step) else step


def _own_stdin() -> BinaryIO:
    """The stream of requests, moved to a descriptor that neither a plugin nor its processes read. Descriptor
    0 is now empty."""
    duplicate = os.dup(0)  # not inherited
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return io.open(duplicate, "rb")  # noqa: UP020 - for the child's whole life


def _listen(requests: queue.Queue[bytes], stdin: BinaryIO) -> None:
    for text in stdin:
        requests.put(text)
    # The parent has ended, so the result is of no use. (Linux can kill a process together with its parent,
    # even while C code holds Python's lock, but the processes that the plugin started would live on.)
    process_family.kill_below(os.getpid())
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _cpu() -> float:
    process, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return process.ru_utime + process.ru_stime + below.ru_utime + below.ru_stime


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not Linux: the peak is then that of the worker's whole life
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
