"""Calls of plugins while a suite is planned: guarded against errors and endless calls, each answer checked.

An error in a plugin fails the plugin's rows, not the plan. A wrong answer raises ContractError."""

from __future__ import annotations

import contextlib
import signal
import threading
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from harness.catalogue import output_to_stderr, params
from harness.contracts import Source
from harness.errors import ContractError, HarnessError, Terminated, check_is
from harness.plan import keys
from harness.problems import Need
from harness.records import IndexBytes
from harness.types import Card, Facts, Inputs, Part

AGAIN = 1.0  # seconds until a plugin that goes on after its timeout is interrupted again


class Broken(Exception):
    """An error of a plugin while planning. The plugin's rows fail; the rest of the suite goes on."""


@contextlib.contextmanager
def guarded(name: str, timeout: float | None) -> Iterator[None]:
    """Guards the calls of a plugin in the body. Raises Broken for any exception of the plugin except a user's
    mistake, and for a call that takes longer than the suite's timeout. The timeout holds in the main thread
    only, where Python can interrupt a call."""
    try:
        with _limited(timeout), output_to_stderr():
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


def card(source: Source) -> Card:
    answer = source.card()
    check_is(answer, Card, "cards")
    for name, hint in typing.get_type_hints(Card).items():
        try:
            msgspec.convert(msgspec.to_builtins(getattr(answer, name)), hint)
        except (msgspec.ValidationError, TypeError) as error:
            raise ContractError(f"the card's {name}: {error}") from None
    return answer


def inputs(source: Source, part: Part) -> Inputs:
    answer = source.inputs(part)
    check_is(answer, Inputs, f"inputs of the {part}")
    check_is(answer.params, Mapping, f"the parameters of inputs of the {part}")
    if not isinstance(answer.files, list | tuple) or not all(isinstance(file, Path) for file in answer.files):
        raise ContractError(f"the files of inputs of the {part} must be paths")
    try:
        keys.canonical(params.plain(answer.params))
    except TypeError as error:
        raise ContractError(f"the parameters of inputs of the {part}: {error}") from None
    return answer


def resolved(record: Any, values: Any, facts: Facts) -> Any:
    """The parameters with every `auto` replaced."""
    answer = record.resolve(values, facts) if record.resolve else values
    check_is(answer, record.params, "resolved parameters")
    return answer


def missing_files(record: Any, values: Any) -> list[Need]:
    answer = record.missing_files(values) if record.missing_files else ()
    needs = [
        Need("other", need) if isinstance(need, str) else need for need in _several(answer, "missing_files")
    ]
    for need in needs:
        check_is(need, Need, "missing files")
    return needs


def unkeyed(record: Any, values: Any) -> str | None:
    """Why the results of a method cannot be found again by a key; None if they can."""
    reason = record.unkeyed(values) if record.unkeyed else None
    if reason is not None:
        check_is(reason, str, "the reason of unkeyed")
    return reason or None


def index_bytes(record: Any, values: Any) -> IndexBytes | None:
    """What an index takes on disk; None if its method does not say."""
    stated = getattr(record, "index_bytes", None)
    answer = stated(values) if stated is not None else None
    if answer is not None:
        check_is(answer, IndexBytes, "index_bytes")
    return answer


def derived_from(record: Any, values: Any) -> Any:
    """The parameters of the index that a method's index is made from; None if it is made of the texts."""
    stated = getattr(record, "derived_from", None)
    answer = stated(values) if stated is not None else None
    if answer is not None:
        check_is(answer, record.params, "derived_from")
    return answer


def feedback(record: Any, values: Any) -> int:
    """How many hits of each query a rewriter reads."""
    hits = record.feedback(values)
    if type(hits) is not int or hits < 0:
        raise ContractError(f"feedback must be a number of hits, not {hits!r}")
    return hits


def depends_on(record: Any, values: Any) -> list[tuple[str, str]]:
    """The kind and name of each further record that a method builds on."""
    pairs = [
        tuple(_several(pair, "each of depends_on"))
        for pair in _several(record.depends_on(values), "depends_on")
    ]
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(word, str) for word in pair):
            raise ContractError(f"depends_on must yield pairs of a kind and a name, not {pair!r}")
    return pairs


def parts(record: Any, values: Any) -> tuple[str, ...]:
    """The names of the models that one training makes."""
    names = tuple(_several(record.parts(values), "parts"))
    for name in names:
        check_is(name, str, "parts")
    if not names:
        raise ContractError("parts must name at least one model")
    return names


def _several(answer: Any, what: str) -> Sequence[Any]:
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise ContractError(f"{what} must be several, not {type(answer).__name__}")
    return list(answer)
