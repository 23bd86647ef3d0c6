"""Sends many requests, several at a time and within the budget, and repeats those that failed."""

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
from harness.step_context import CURRENT
from harness.store.responses import CACHED, Charge, Responses
from harness.toolkit.services import sending
from harness.toolkit.services.pace import Pace
from harness.toolkit.services.settings import Service
from harness.types import JSON

_FIRST_WAIT = 0.5  # the longest wait in seconds before the second try; it doubles with each further try
LONGEST_WAIT = 60.0
_MILLION = 1_000_000


class Request(NamedTuple):
    """A request and the function that reads its response. Each answer is kept under its own key, so that a
    text is not paid for again when a later request groups the texts differently."""

    path: str  # the path below the service's address
    body: dict[str, JSON]
    keys: tuple[str, ...]  # the key of each answer
    most_input: int  # the most tokens that the service may read
    most_output: int  # the most tokens that the service may write
    read: Callable[[JSON], Sequence[bytes]]  # a response -> its answers; raises Malformed


class Malformed(Exception):
    """A response lacks a usable answer; the request is sent again."""


class Client:
    """A connection to a service. Answers and the ledger of costs are kept in the store that the worker
    belongs to. Outside of a run they are kept in `folder`; without `folder`, they are removed with the
    client."""

    def __init__(self, service: Service, folder: Path | None = None, first_wait: float = _FIRST_WAIT) -> None:
        context = CURRENT.get()
        here, self._step = context.responses, context.step
        self.service = service
        temporary = None if folder or here else Path(tempfile.mkdtemp())
        self._kept = Responses(folder or here or temporary or Path())
        self._http = sending.client(service)
        # called, at the latest, when the client is garbage-collected
        self.close = weakref.finalize(self, _close, self._http, self._kept, temporary)
        self._pace = Pace(service.requests_per_minute, service.tokens_per_minute)
        self._first_wait = first_wait
        self._settled = threading.Condition()
        self._sent = 0  # requests of this client whose cost is not known yet

    def key(self, *parts: JSON) -> str:
        """The digest under which an answer is kept: of the address, the model, and `parts`, which identify
        the question."""
        content = [self.service.url.rstrip("/"), self.service.model, *parts]
        return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def kept(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The answers, by key, that are already in the store."""
        answers = {key: self._kept.get(key) for key in dict.fromkeys(keys)}
        here = {key: answer for key, answer in answers.items() if answer is not None}
        if here:
            self._kept.count(self._step, "kept", len(here))
        return here

    def ask(self, requests: Sequence[Request], done: Callable[[int], None] | None = None) -> dict[str, bytes]:
        """The answers of all requests, by key. `done` is called with the number of requests answered so far.
        Raises HarnessError if the service refuses a request or keeps failing, or if the budget is used up;
        earlier answers stay in the store."""
        answers: dict[str, bytes] = {}
        stop, lock, count = threading.Event(), threading.Lock(), [0]

        def one(request: Request) -> None:
            if stop.is_set():
                return
            try:
                answered = self._asked(request, stop)
            except BaseException:
                stop.set()
                raise
            with lock:
                answers.update(answered)
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
            self._pace.wait(request.most_input + request.most_output, stop)
            if stop.is_set():  # another request has failed for good: this one is not sent
                self._end(number, charged=False)
                break
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
            charge, cached = self._charge(response, request)
            if cached:
                self._kept.count(self._step, CACHED, cached)
            with self._settled:
                self._kept.settle(number, charge, answers)
                self._sent -= 1
                self._settled.notify_all()
            if unfit is None:
                return answers
            reasons.append(self._retry(unfit, len(reasons), 0, stop))
        if stop.is_set() and len(reasons) < self.service.tries:  # another request failed and says why
            return {}
        tries = ", ".join(dict.fromkeys(reasons))
        raise HarnessError(
            f"{self.service.url}: no answer after {len(reasons)} tries ({tries}); run again when the service "
            "works: what it answered is kept"
        )

    def _retry(self, reason: str, failures: int, wait: float, stop: threading.Event) -> str:
        """Counts a failed try, waits if another try follows, and returns the reason."""
        self._kept.count(self._step, f"retry: {reason}")
        if wait:
            self._pace.pause(wait)
        if failures + 1 < self.service.tries:
            longest = min(LONGEST_WAIT, self._first_wait * 2**failures)
            stop.wait(max(wait, longest * random.uniform(0.5, 1)))
        return reason

    def _reserved(self, request: Request) -> int:
        """Reserves the cost of the request in the ledger, and returns its number. If the budget does not
        allow the request, this waits for the requests under way, which may turn out cheaper than reserved."""
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
        """Records that a request has ended without an answer. If it may have been charged for, its reserved
        cost stays."""
        with self._settled:
            if not charged:
                self._kept.release(number)
            self._sent -= 1
            self._settled.notify_all()

    def _charge(self, response: JSON, request: Request) -> tuple[Charge | None, int]:
        """The cost by the token counts that the service reports, None if it reports none, and how many of the
        tokens it had in its cache."""
        usage = response.get("usage") if isinstance(response, dict) else None
        if not isinstance(usage, dict):
            return None, 0
        total = usage.get("total_tokens")
        read = usage.get("prompt_tokens", total if request.most_output == 0 else None)
        written = usage.get("completion_tokens", 0 if request.most_output == 0 else None)
        if written is None and type(read) is int and type(total) is int:
            written = total - read
        if type(read) is not int or type(written) is not int or read < 0 or written < 0:
            return None, 0
        details = usage.get("prompt_tokens_details")  # DeepSeek has another field
        cached = (details if isinstance(details, dict) else {}).get("cached_tokens")
        cached = cached or usage.get("prompt_cache_hit_tokens")
        cached = min(cached, read) if type(cached) is int and cached > 0 else 0
        return self._price(read, written, cached), cached

    def _price(self, read: int, written: int, cached: int = 0) -> Charge:
        service = self.service
        of_cached = service.price_input if service.price_cached is None else service.price_cached
        read_money = (read - cached) * service.price_input + cached * of_cached
        return Charge(read, written, (read_money + written * service.price_output) / _MILLION)


def _close(http: httpx.Client, kept: Responses, temporary: Path | None) -> None:
    http.close()
    kept.close()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def _read(request: Request, response: JSON) -> tuple[dict[str, bytes], str | None]:
    """The answers of a response by key, and None; or no answers, and the reason."""
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
    """An upper bound on the tokens of these texts: one for each byte, and some around each text."""
    return sum(len(text.encode()) + 16 for text in texts) + 16
