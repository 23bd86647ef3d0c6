"""Ends a command: sets its exit code, and prints one line for each error that a user can correct.

0 success; 1 some rows failed, or the disk did; 2 the input was wrong and nothing was made of it; 3 `compare
--fail-on-regression` found a regression; 130 interrupted; 143 terminated.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from harness.errors import HarnessError, StoreError, Terminated, printable

OUTPUT_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
# a path that the user named cannot be written: in every command, this is no error of the harness
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR, errno.EISDIR}


def guarded(work: Callable[[], int]) -> int:
    """The exit code of a command, however it ends."""
    signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may support only ASCII
            stream.reconfigure(errors="backslashreplace")
    try:
        return _flushed(work)
    except StoreError as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    except HarnessError as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; finished steps are kept: run it again to go on", file=sys.stderr)
        return 130
    except Terminated:
        print("terminated; finished steps are kept: run it again to go on", file=sys.stderr)
        return 143
    except BrokenPipeError:  # `harness list | head`
        _discard_output()
        return 0
    except OSError as error:
        if error.filename is not None and (error.errno in OUTPUT_FAILS or error.errno in REFUSED):
            from harness.store import disk

            print(printable(str(disk.store_error(error, Path(error.filename)))), file=sys.stderr)
            return 1
        if error.errno not in OUTPUT_FAILS or error.filename is not None:
            raise
        _discard_output()
        print(f"standard output: cannot be written ({error.strerror}); make room", file=sys.stderr)
        return 1


def _flushed(work: Callable[[], int]) -> int:
    """Runs the command and flushes its output. An error while Python flushes at exit could not be caught."""
    try:
        return int(work())
    finally:
        sys.stdout.flush()


def _terminate(*_: object) -> None:
    raise Terminated


def _discard_output() -> None:
    """Discards buffered output, which would fail again when Python exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
