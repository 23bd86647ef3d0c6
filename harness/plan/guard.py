"""Plugins are called while planning too. Whatever goes wrong in one there fails its rows, not the plan."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from harness.errors import ContractError, HarnessError, Terminated

AGAIN = 1.0  # seconds until a plugin that went on after its time was up is interrupted again


class Broken(Exception):
    """A plugin failed while planning: its rows fail, the suite goes on."""


@contextlib.contextmanager
def guarded(name: str, timeout: float | None) -> Iterator[None]:
    """Raises Broken for whatever the plugin raises but a user's mistake, and for a call that takes longer
    than the suite's timeout (in the main thread, where Python can interrupt it)."""
    try:
        with _limited(timeout):
            yield
    except (HarnessError, Broken, KeyboardInterrupt, Terminated):
        raise
    except _TimeIsUp:
        raise Broken(f"'{name}' took longer than the timeout of {timeout:g} s while planning") from None
    except ContractError as error:
        raise Broken(f"'{name}' broke its contract while planning: {error}") from error
    except BaseException as error:
        text = str(error).strip()
        raise Broken(f"'{name}' failed while planning: {type(error).__name__}: {text}") from error


class _TimeIsUp(BaseException):
    """No Exception: a plugin that tries again after any error must not catch it."""


@contextlib.contextmanager
def _limited(timeout: float | None) -> Iterator[None]:
    if timeout is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, timeout, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
