"""Sends many requests: each once, several at a time, again where that helps, within the budget."""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
import orjson

from harness.errors import HarnessError
from harness.store import responses
from harness.store.responses import Charge, Responses
from harness.toolkit.services import sending
from harness.toolkit.services.pace import Pace
from harness.toolkit.services.settings import Service
from harness.types import JSON

FIRST_WAIT = 0.5  # seconds before the second try; each further wait is twice as long
LONGEST_WAIT = 60.0
_MILLION = 1_000_000


class Request(NamedTuple):
    """What to ask, and how to read it. Its answers are kept one by one, so that a text that another request
    asks for together with others is not paid for again."""

    path: str  # below the service's address
    body: dict[str, JSON]
    keys: tuple[str, ...]  # of each answer
    most_input: int  # tokens that are read, at most
    most_output: int  # tokens that are written, at most
    read: Callable[[JSON], Sequence[bytes]]  # a response -> its answers; raises Malformed


class Malformed(Exception):
    """A response without what was asked for: it is asked for again."""


class Client:
    """A service, with the answers and the ledger of the store that the worker belongs to. Outside of a run
    they are in `folder`, or last as long as the client."""

    def __init__(self, service: Service, folder: Path | None = None, first_wait: float = FIRST_WAIT) -> None:
        here, self._step = responses.here()
        self.service = service
        temporary = None if folder or here else Path(tempfile.mkdtemp())
        self._kept = Responses(folder or here or temporary or Path())
        self._http = sending.client(service)
        # called at the latest when nothing refers to the client any more
        self.close = weakref.finalize(self, _close, self._http, self._kept, temporary)
        self._pace = Pace(service.requests_per_minute, service.tokens_per_minute)
        self._first_wait = first_wait
        self._settled = threading.Condition()
        self._sent = 0  # requests of this client whose price is not known yet

    def key(self, *parts: JSON) -> str:
        """The digest under which an answer is kept: of the address, the model, and what was asked."""
        content = [self.service.url.rstrip("/"), self.service.model, *parts]
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def kept(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The answers among these that are here already."""
        answers = {key: self._kept.get(key) for key in dict.fromkeys(keys)}
        here = {key: answer for key, answer in answers.items() if answer is not None}
        if here:
            self._kept.count(self._step, "kept", len(here))
        return here

    def ask(self, requests: Sequence[Request], done: Callable[[int], None] | None = None) -> dict[str, bytes]:
        """Answer by key. `done` is told how many requests are answered. Raises HarnessError when the service
        refuses one, keeps failing, or the budget ends; what was answered till then stays in the store."""
        answers: dict[str, bytes] = {}
        stop, lock, count = threading.Event(), threading.Lock(), [0]

        def one(request: Request) -> None:
            if stop.is_set():
                return
            try:
                found = self._asked(request, stop)
            except BaseException:
                stop.set()
                raise
            with lock:
                answers.update(found)
                count[0] += 1
                if done:
                    done(count[0])

        with ThreadPoolExecutor(min(self.service.concurrency, max(1, len(requests)))) as pool:
            futures = [pool.submit(one, request) for request in requests]
        for future in futures:
            future.result()
        return answers

    def _asked(self, request: Request, stop: threading.Event) -> dict[str, bytes]:
        reasons: list[str] = []
        while len(reasons) < self.service.tries and not stop.is_set():
            number = self._reserved(request)
            self._pace.wait(request.most_input + request.most_output)
            try:
                response = sending.send(self._http, self.service, request.path, request.body)
            except sending.Refused as error:
                self._end(number, charged=False)
                raise HarnessError(f"{self.service.url}: {self.service.model}: {error}") from error
            except sending.Retry as error:
                self._end(number, charged=error.charged)
                reasons.append(self._retry(error.reason, len(reasons), error.wait, stop))
                continue
            except BaseException:
                self._end(number, charged=True)
                raise
            answers, unfit = _read(request, response)
            with self._settled:
                self._kept.settle(number, self._charge(response, request), answers)
                self._sent -= 1
                self._settled.notify_all()
            if unfit is None:
                return answers
            reasons.append(self._retry(unfit, len(reasons), 0, stop))
        if stop.is_set() and len(reasons) < self.service.tries:  # another request has failed, and says why
            return {}
        tries = ", ".join(dict.fromkeys(reasons))
        raise HarnessError(
            f"{self.service.url}: no answer after {len(reasons)} tries ({tries}); run again when the service "
            "works: what it answered is kept"
        )

    def _retry(self, reason: str, failures: int, wait: float, stop: threading.Event) -> str:
        """Count a try that failed, and wait before the next one, if there is one."""
        self._kept.count(self._step, f"retry: {reason}")
        if wait:
            self._pace.pause(wait)
        if failures + 1 < self.service.tries:
            longest = min(LONGEST_WAIT, self._first_wait * 2**failures)
            stop.wait(max(wait, longest * random.uniform(0.5, 1)))
        return reason

    def _reserved(self, request: Request) -> int:
        """The request in the ledger. It waits while others are under way, which may turn out cheaper."""
        service, most = self.service, self._price(request.most_input, request.most_output)
        with self._settled:
            while True:
                number = self._kept.reserve(
                    service.account, self._step, most, service.budget_tokens, service.budget_money
                )
                if number is not None:
                    self._sent += 1
                    return number
                if not self._sent:
                    raise HarnessError(self._over(most))
                self._settled.wait()

    def _over(self, most: Charge) -> str:
        service, spent = self.service, self._kept.spent_by(self.service.account)
        if service.budget_tokens is not None and spent.tokens + most.tokens > service.budget_tokens:
            name, limit = "budget_tokens", f"{service.budget_tokens:,}"
            used, further = f"{spent.tokens:,} tokens are used", f"{most.tokens:,}"
        else:
            name, limit = "budget_money", f"{service.budget_money:g}"
            used, further = f"{spent.money:.6g} is spent", f"{most.money:.6g}"
        return (
            f"{name}: {used} of {limit}, and the next request may cost {further}; raise it and run again: "
            "what was answered is kept"
        )

    def _end(self, number: int, charged: bool) -> None:
        """A request without an answer; one that may have been paid for keeps what it may have cost."""
        with self._settled:
            if not charged:
                self._kept.release(number)
            self._sent -= 1
            self._settled.notify_all()

    def _charge(self, response: JSON, request: Request) -> Charge | None:
        """What the service says it counted; None where it says nothing."""
        usage = response.get("usage") if isinstance(response, dict) else None
        if not isinstance(usage, dict):
            return None
        read, total = usage.get("prompt_tokens"), usage.get("total_tokens")
        written = usage.get("completion_tokens", 0 if request.most_output == 0 else None)
        if written is None and type(read) is int and type(total) is int:
            written = total - read
        if type(read) is not int or type(written) is not int or read < 0 or written < 0:
            return None
        return self._price(read, written)

    def _price(self, read: int, written: int) -> Charge:
        money = (read * self.service.price_input + written * self.service.price_output) / _MILLION
        return Charge(read, written, money)


def _close(http: httpx.Client, kept: Responses, temporary: Path | None) -> None:
    http.close()
    kept.close()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def _read(request: Request, response: JSON) -> tuple[dict[str, bytes], str | None]:
    """A response's answers by key, or why they are none."""
    try:
        answers = request.read(response)
    except Malformed as error:
        return {}, f"unfit answer: {error}"
    except (LookupError, TypeError, ValueError, AttributeError):
        return {}, "unfit answer"
    if len(answers) != len(request.keys):
        return {}, "unfit answer: wrong number"
    return dict(zip(request.keys, answers, strict=True)), None


def most_tokens(texts: Sequence[str]) -> int:
    """More tokens than these texts have: one a byte, and some around each."""
    return sum(len(text.encode()) + 16 for text in texts) + 16
