"""A retriever that misbehaves as a process: it exits, hangs, floods, closes pipes, leaves children behind."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from toy_plugin import Overlap, OverlapIndexer

from harness import hookimpl
from harness.findings import Finding
from harness.records import Analysis, Retriever, param


@dataclass(frozen=True)
class Bad:
    how: str = param("none", "the name of a function below")


class BadIndexer(OverlapIndexer):
    def __init__(self, params: Bad) -> None:
        super().__init__(Overlap())
        self.how = params.how
        if params.how == "late_import":
            import late_import  # noqa: F401

    def index(self, texts, folder: Path) -> None:
        if self.how in WAYS:
            WAYS[self.how](folder)
        super().index(texts, folder)
        if self.how in AT_LAST:
            AT_LAST[self.how](folder)


def sys_exit(folder: Path) -> None:
    sys.exit(3)


def os_exit(folder: Path) -> None:
    print("the last words", flush=True)
    os._exit(4)


def interrupt(folder: Path) -> None:
    raise KeyboardInterrupt


def flood(folder: Path) -> None:
    for i in range(50_000):
        print(f"line {i} of a hundred characters".ljust(99))
    raise ValueError("after five megabytes of output")


def chatter(folder: Path) -> None:
    os.write(1, b"x" * 5_000_000)
    os.write(2, b"\xff\xfe" * 100_000)


def long_reason(folder: Path) -> None:
    raise ValueError("\udc80" + "many words " * 100_000)


def lines(folder: Path) -> None:
    raise ValueError("the first line\nand what to do about it")


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def remove_folder_above(folder: Path) -> None:
    shutil.rmtree(folder.parent)


def link_folder(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to("/")


def full_device(folder: Path) -> None:
    """The device is full, and no error says its name."""
    with Path("/dev/full").open("w") as device:
        device.write("x")


def full_elsewhere(folder: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/disk/of/mine")


def out_of_memory(folder: Path) -> None:
    raise MemoryError


def children(folder: Path) -> None:
    """Children by exec and by fork, then nothing more is heard."""
    subprocess.Popen(["sleep", "600"])
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(600)


IGNORES = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def _leave(folder: Path) -> None:
    """Start processes of other sessions that ignore SIGTERM: one whose parent lives, and one whose parent has
    ended, which has no environment either. TOY_LEFT gets their numbers."""
    left = subprocess.Popen([sys.executable, "-c", IGNORES], start_new_session=True)
    script = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {IGNORES!r}], env={{}},"
    script += " start_new_session=True, stdout=-3, stderr=-3).pid)"
    orphan = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    with Path(os.environ["TOY_LEFT"]).open("a") as file:
        file.write(f"{left.pid} {orphan}")


def leave_and_go_on(folder: Path) -> None:
    _leave(folder)


def leave_and_fail(folder: Path) -> None:
    _leave(folder)
    raise ValueError("the step failed")


def leave_and_hang(folder: Path) -> None:
    _leave(folder)
    time.sleep(600)


def leave_and_exit(folder: Path) -> None:
    """The process dies by itself, so that nobody adopts the one that it leaves."""
    left = subprocess.Popen([sys.executable, "-c", IGNORES], start_new_session=True)
    with Path(os.environ["TOY_LEFT"]).open("a") as file:
        file.write(f"{left.pid}\n")
    os._exit(4)


def fork_and_die(folder: Path) -> None:
    """The fork holds every pipe and lock of its parent, which dies."""
    if os.fork() == 0:
        time.sleep(600)
    os.kill(os.getpid(), 9)


def segfault(folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def stubborn(folder: Path) -> None:
    """Keeps Python's lock for minutes, so that no other thread runs."""
    re.match(r"(a|a)*b", "a" * 40)


def close_pipes(folder: Path) -> None:
    os.closerange(0, 64)
    time.sleep(600)


def close_stdout(folder: Path) -> None:
    os.close(1)
    os.close(2)


def read_stdin(folder: Path) -> None:
    sys.stdin.read()
    subprocess.run(["cat"], check=True)


def change_folder(folder: Path) -> None:
    os.chdir("/")


def take_name(folder: Path) -> None:
    (folder / "manifest.json").write_text("{}")


def pipe_in_folder(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def trust_leftovers(folder: Path) -> None:
    """Uses what it finds, as one does, and fails if that is torn; TOY_HANG makes it hang half-way."""
    part = folder / "part"
    if part.exists() and part.read_text() != "whole":
        raise ValueError("the part is torn")
    if "TOY_HANG" in os.environ:
        part.write_text("wh")
        time.sleep(600)
    part.write_text("whole")


_functions = (
    sys_exit, os_exit, interrupt, flood, chatter, long_reason, lines, out_of_memory, children, fork_and_die,
    segfault, stubborn, close_pipes, close_stdout, read_stdin, change_folder, take_name,
    pipe_in_folder, trust_leftovers, leave_and_go_on, leave_and_fail, leave_and_hang, leave_and_exit, full_device, full_elsewhere,
)  # fmt: skip
WAYS: dict[str, Callable[[Path], None]] = {function.__name__: function for function in _functions}
AT_LAST = {function.__name__: function for function in (remove_folder, remove_folder_above, link_folder)}


@hookimpl
def harness_retrievers() -> Iterable[Retriever]:
    yield Retriever(name="bad", summary="misbehaves", build=BadIndexer, params=Bad, search_only=())


class BadAnalyst:
    def __init__(self, params: Bad) -> None:
        self.how = params.how

    def analyse(self, data):
        if self.how == "ragged":
            yield Finding(name="ragged", title="ragged", kind="table", columns=("a", "b"), rows=((1,),))
        raise RuntimeError("no analysis today")


@hookimpl
def harness_analyses() -> Iterable[Analysis]:
    yield Analysis(name="bad", summary="misbehaves", build=BadAnalyst, params=Bad)
