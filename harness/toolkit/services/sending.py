"""Sends one request to a service once: returns the JSON answer, or raises Retry or Refused."""

from __future__ import annotations

import email.utils
import time
from typing import Any

import httpx
import orjson

from harness.toolkit.services.settings import Service
from harness.types import JSON

LONGEST_WAIT = 300.0  # the longest wait in seconds that a service may demand
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
_SHOWN = 200  # characters of a service's message that an error shows


class Retry(Exception):
    """The request failed, and may succeed if it is sent again."""

    def __init__(self, reason: str, wait: float = 0.0, charged: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait  # seconds that the service asks the client to wait
        self.charged = charged  # whether the service may have charged for the request


class Refused(Exception):
    """The service will not answer the request, however often it is sent."""


def client(service: Service) -> httpx.Client:
    """An HTTP client that keeps its connections. For a service on this machine, the environment's proxy is
    not used."""
    limits = httpx.Limits(max_connections=service.concurrency, max_keepalive_connections=service.concurrency)
    headers = {"User-Agent": "passage-harness"}
    if secret := service.secret():
        headers["Authorization"] = f"Bearer {secret}"
    return httpx.Client(headers=headers, limits=limits, trust_env=not service.is_local)


def send(http: httpx.Client, service: Service, path: str, body: JSON) -> JSON:
    """The answer to one POST, as JSON. Raises Retry or Refused."""
    deadline = time.monotonic() + service.timeout
    url = f"{service.url.rstrip('/')}/{path}"
    content = bytearray()
    headers = {"Content-Type": "application/json"}
    sent = False
    try:
        with http.stream(
            "POST", url, content=orjson.dumps(body), headers=headers, timeout=service.timeout
        ) as response:
            sent = True
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:  # a service may go on sending single bytes for ever
                    raise httpx.ReadTimeout("the whole answer takes too long")
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise Retry("no connection") from error
    except httpx.TimeoutException as error:
        raise Retry("timeout", charged=True) from error
    except httpx.DecodingError as error:
        raise Retry("unreadable answer", charged=True) from error
    except httpx.TransportError as error:  # the connection broke, before or within the answer
        raise Retry("connection lost" if sent else "connection broken", charged=True) from error
    if response.status_code == 200:
        return _decoded(bytes(content))
    raise _failure(response, bytes(content), service)


def _decoded(content: bytes) -> JSON:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Retry("broken JSON", charged=True) from error


def _failure(response: httpx.Response, content: bytes, service: Service) -> Retry | Refused:
    code, message = _error(content)
    message = redacted(message, service)
    reason = f": {message[:_SHOWN]}" if message else ""
    if response.status_code in _AGAIN and code != "insufficient_quota":
        return Retry(str(response.status_code), _wait(response.headers.get("Retry-After")))
    return Refused(f"{response.status_code} {response.reason_phrase}{reason}")


def _error(content: bytes) -> tuple[str, str]:
    """The code and the message of an error, in any of the forms that services use."""
    try:
        body: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        return "", content.decode("utf-8", "replace").strip()
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return "", str(inner)
    return str(inner.get("code") or ""), str(inner.get("message") or inner.get("detail") or "")


def redacted(text: str, service: Service) -> str:
    """The text with the service's key replaced by ***: a service may repeat the key in its message."""
    secret = service.secret()
    return text.replace(secret, "***") if secret else text


def _wait(header: str | None) -> float:
    """The seconds to wait by a Retry-After header, which holds seconds or a date; 0 if there is none."""
    if header is None:
        return 0.0
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT) if seconds == seconds else 0.0
