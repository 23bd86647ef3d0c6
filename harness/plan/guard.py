"""Guards calls of plugins while planning: an error in a plugin fails the plugin's rows, not the plan."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from harness.errors import ContractError, HarnessError, Terminated

AGAIN = 1.0  # seconds until a plugin that goes on after its timeout is interrupted again


class Broken(Exception):
    """An error of a plugin while planning. The plugin's rows fail; the rest of the suite goes on."""


@contextlib.contextmanager
def guarded(name: str, timeout: float | None) -> Iterator[None]:
    """Guards the calls of a plugin in the body. Raises Broken for any exception of the plugin except a user's
    mistake, and for a call that takes longer than the suite's timeout. The timeout holds in the main thread
    only, where Python can interrupt a call."""
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
    """Ends a plugin's call. It is no Exception, because plugins may catch any Exception to try again."""


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
