"""Trains in several processes of one machine. Each process computes a share of every batch, and
torch.distributed sums the gradients (gloo on CPUs, NCCL on GPUs)."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor, distributed, nn

from harness.plugin import CURRENT, JSON, HarnessError, StepContext, Training

if TYPE_CHECKING:
    from harness_training.batches import Batch

Share: TypeAlias = Callable[[int], tuple[int, int]]
READY = "ready"
BACKENDS = {"cpu": "gloo", "cuda": "nccl"}
INTERFACE = "GLOO_SOCKET_IFNAME"  # all processes are on one machine, so they meet on its loopback
LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"
ENDING = 60.0  # seconds to wait for the reason from a process that fails


class Group(NamedTuple):
    """The processes of a training, and the number of this process. The first process draws the batches and
    writes the files."""

    number: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        return self.number == 0

    def share(self, count: int) -> tuple[int, int]:
        """The first of `count` items that this process computes, and the one after its last."""
        return count * self.number // self.size, count * (self.number + 1) // self.size

    def owner(self, item: int, count: int) -> int:
        """The number of the process whose share of `count` items has this item."""
        return ((item + 1) * self.size - 1) // count

    def summed(self, tensor: Tensor) -> Tensor:
        """Replace the tensor by the sum over all processes, and return it. The sum has the same bits in every
        process."""
        if self.size > 1:
            distributed.all_reduce(tensor)
        return tensor

    def agree(self, step: int, device: torch.device) -> None:
        """Wait until every process has read its state. Raises HarnessError unless all begin at one step."""
        if self.size == 1:
            return
        steps = torch.zeros(self.size, dtype=torch.int64, device=device)
        steps[self.number] = step
        others: list[int] = self.summed(steps).tolist()
        if set(others) != {step}:
            raise HarnessError(
                f"training: its processes would begin after the steps {', '.join(map(str, others))}; "
                "run again with --fresh"
            )

    def reduced(self, parameters: Sequence[nn.Parameter], numbers: Sequence[float]) -> list[float]:
        """Replace each gradient by its sum over all processes, and return the sums of `numbers` over all
        processes. A parameter without a gradient in any process keeps none."""
        if self.size == 1:
            return list(numbers)
        device = parameters[0].device
        moved = torch.tensor([parameter.grad is not None for parameter in parameters], dtype=torch.int64)
        for parameter, count in zip(parameters, self.summed(moved.to(device)).tolist(), strict=True):
            if count:
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                self.summed(parameter.grad)
        sums: list[float] = self.summed(torch.tensor(numbers, dtype=torch.float64, device=device)).tolist()
        return sums


ALONE = Group()


class Course(NamedTuple):
    """A training as one process does it."""

    steps: int  # of the whole training, over all segments
    batch: Callable[[int], Batch]  # the batch of a step, the same in every process
    folder: Path
    training: Training
    group: Group = ALONE


class Learner(Protocol):
    def learn(self, course: Course) -> dict[str, JSON]: ...


def learnt(learner: Callable[[Any], Learner], params: Any, course: Course) -> dict[str, JSON]:
    """Train in `params.processes` processes, of which this is the first, and return the facts."""
    if params.processes == 1:
        return learner(params).learn(course)
    with contextlib.ExitStack() as stack:
        meeting = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "meeting"
        others = stack.enter_context(_followers(learner, params, course, meeting))
        pipes = [pipe for _, pipe in others]

        def drawn(step: int) -> Batch:
            batch = course.batch(step)
            for pipe in pipes:
                pipe.send(batch)
            return batch

        with _explained(others):
            for pipe in pipes:
                pipe.recv()
            stack.enter_context(_member(Group(0, params.processes), params.device, meeting))
            together = course._replace(batch=drawn, group=Group(0, params.processes))
            return learner(params).learn(together)


class Segment(NamedTuple):
    """The segment of a training, for another process."""

    seed: int
    segment: int
    segments: int
    before: Path | None


@contextlib.contextmanager
def _followers(
    learner: Callable[[Any], Learner], params: Any, course: Course, meeting: Path
) -> Iterator[list[tuple[BaseProcess, Connection]]]:
    """A block in which the other processes run, with a pipe to each. At its end, all of them have ended."""
    spawn, others = multiprocessing.get_context("spawn"), list[tuple[BaseProcess, Connection]]()
    training = course.training
    segment = Segment(training.seed, training.segment, training.segments, training.before)
    try:
        for number in range(1, params.processes):
            ours, theirs = spawn.Pipe()
            group = Group(number, params.processes)
            arguments = (
                learner, params, course.steps, course.folder, segment, group, meeting, theirs, CURRENT.get()
            )  # fmt: skip
            started = spawn.Process(target=_follow, args=arguments, daemon=True)
            started.start()
            theirs.close()
            others.append((started, ours))
        yield others
        for process, pipe in others:
            pipe.close()  # a process that waits for a further batch ends too
            process.join()
    finally:
        for process, pipe in others:
            process.kill()
            process.join()
            pipe.close()


def _follow(
    learner: Callable[[Any], Learner], params: Any, steps: int, folder: Path, segment: Segment,
    group: Group, meeting: Path, pipe: Connection, context: StepContext,
) -> None:  # fmt: skip
    """The work of a process other than the first. If it fails, it sends the reason to the first process."""
    CURRENT.set(context)
    try:
        pipe.send(READY)
        with _member(group, params.device, meeting):
            learner(params).learn(Course(steps, lambda step: pipe.recv(), folder, Training(*segment), group))
    except EOFError:  # the first process has ended
        sys.exit(1)
    except Exception as error:
        traceback.print_exc()
        with contextlib.suppress(OSError):
            pipe.send(f"{error}")
        sys.exit(1)


@contextlib.contextmanager
def _member(group: Group, device: str, meeting: Path) -> Iterator[None]:
    """A block in which this process belongs to the group, with its share of the cores or a GPU of its own."""
    threads, interface = torch.get_num_threads(), os.environ.get(INTERFACE)
    os.environ.setdefault(INTERFACE, LOOPBACK)
    if device == "cuda":
        torch.cuda.set_device(group.number)
    torch.set_num_threads(max(1, threads // group.size))
    store = distributed.FileStore(str(meeting), group.size)
    try:
        distributed.init_process_group(
            BACKENDS[device], store=store, rank=group.number, world_size=group.size
        )
        yield
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()
        torch.set_num_threads(threads)
        if interface is None:
            del os.environ[INTERFACE]


@contextlib.contextmanager
def _explained(others: Sequence[tuple[BaseProcess, Connection]]) -> Iterator[None]:
    """A block whose errors are explained. If another process has ended and this caused the error, a
    HarnessError says how it ended."""
    try:
        yield
    except (RuntimeError, OSError, EOFError) as error:
        # a process that fails sends a text; if a process is killed, its pipe is closed
        wait([pipe for _, pipe in others], ENDING)
        for number, (process, pipe) in enumerate(others, 2):
            if (why := _ending(process, pipe)) is not None:
                raise HarnessError(
                    f"training: process {number} of {len(others) + 1} {why}; run again: the training goes on "
                    "from its last state"
                ) from error
        raise


def _ending(process: BaseProcess, pipe: Connection) -> str | None:
    """How another process ended, or None if it is still running."""
    try:
        while pipe.poll():
            if (text := pipe.recv()) != READY:
                return f"failed ({text})"
        return None
    except (EOFError, OSError):
        process.join()
    code = process.exitcode or 0
    return f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
