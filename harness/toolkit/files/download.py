"""Downloads a whole file, continues an interrupted download, and checks the file against its digest."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import IO, Any, NamedTuple

from harness.errors import HarnessError

_TRIES = 3  # attempts in a row that bring no new byte, before the download fails
SECONDS = 30.0  # without a byte, before an attempt fails
_PIECE = 1 << 20
_TOTAL = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+)")
_INTERRUPTED = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)


class Received(NamedTuple):
    """What the server states about the whole file: its size and its digest."""

    size: int | None
    digest: str | None  # in the form that `fetch` takes


def fetch(url: str, to: Path, digest: str | None = None) -> None:
    """Downloads the file at `url` to `to`: afterwards `to` is either whole or absent. Does nothing if `to`
    exists. `digest` is `sha256:HEX`, `md5:HEX`, or `git:HEX` for the name that git gives a file. Without
    `digest`, the file is checked against the digest that the model hub states for its own files. After an
    interruption, the bytes received so far stay in a file beside `to`, and the next call continues from them.
    Raises HarnessError if the digest differs or the file cannot be downloaded."""
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f".{to.name}.part")
    announced = _whole(url, to, part)
    wanted = digest or announced.digest
    actual = _digest(part, wanted.partition(":")[0]) if wanted else None
    if actual != wanted:
        part.unlink()
        raise HarnessError(f"{to}: {url} gave {actual}, expected {wanted}; download it again")
    part.replace(to)


def _whole(url: str, to: Path, part: Path) -> Received:
    left = _TRIES
    while True:
        before = _size(part)
        try:
            response_digest = _continued(url, part)
            if response_digest.size is None or _size(part) == response_digest.size:
                return response_digest
            reason = f"{_size(part):,} of {response_digest.size:,} bytes came"
            if _size(part) > response_digest.size:  # the part is of another file
                part.unlink()
        except urllib.error.HTTPError as error:
            reason = f"{error.code} {error.reason}"
            if error.code < 500:
                raise HarnessError(f"{to}: {url} refuses access: {reason}; {_advice(to)}") from error
        except _INTERRUPTED as error:
            reason = str(getattr(error, "reason", error) or type(error).__name__).lower()
        left = left - 1 if _size(part) <= before else _TRIES
        if not left:
            raise HarnessError(f"{to}: it is not here, and {url} cannot be read: {reason}; {_advice(to)}")


def _advice(to: Path) -> str:
    return f"try again where the network reaches it, or put the file at {to}"


def _continued(url: str, part: Path) -> Received:
    """Appends the missing bytes to `part`, until the response ends, and returns what the server states."""
    start = _size(part)
    try:
        with _opened(url, start) as (response, hops):
            first, total = _content_range(response.headers)
            going_on = response.status == 206 and first == start
            if total is None and response.headers["Content-Length"]:
                total = int(response.headers["Content-Length"])
            with part.open("ab" if going_on else "wb") as file:
                while piece := response.read(_PIECE):
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            return Received(total, _of_hub([*hops, response.headers]))
    except urllib.error.HTTPError as error:
        total = _content_range(error.headers)[1]
        if error.code == 416 and total is not None:  # no bytes follow those in `part`
            if total != start:
                part.unlink()
            return Received(total, _of_hub([error.headers]))
        raise


@contextmanager
def _opened(url: str, start: int) -> Iterator[tuple[Any, list[Message]]]:
    """The response, and the headers of the redirects before it: the hub states digests before."""
    if not url.startswith(("https://", "http://")):
        raise HarnessError(f"{url}: only https and http are downloaded; name another address")
    hops: list[Message] = []

    class Redirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(
            self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
        ) -> urllib.request.Request | None:
            hops.append(headers)
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    request_headers = {"User-Agent": "passage-harness", "Accept-Encoding": "identity"}
    if start:
        request_headers["Range"] = f"bytes={start}-"
    opener = urllib.request.build_opener(Redirect)
    with opener.open(urllib.request.Request(url, headers=request_headers), timeout=SECONDS) as response:
        yield response, hops


def _content_range(headers: Message) -> tuple[int | None, int | None]:
    """The offset of the first byte of the response, and the size of the whole file; None if not stated."""
    match = _TOTAL.fullmatch(headers.get("Content-Range", ""))
    if not match:
        return None, None
    return (int(match[1]) if match[1] else None), int(match[2])


def _of_hub(hops: list[Message]) -> str | None:
    """The digest that the hub states: it names large files by their SHA-256 and small ones as git does."""
    for headers in hops:
        etag = headers.get("X-Linked-ETag") or (headers.get("ETag") if headers.get("X-Repo-Commit") else None)
        name = (etag or "").removeprefix("W/").strip('"')
        if re.fullmatch("[0-9a-f]{64}", name):
            return f"sha256:{name}"
        if re.fullmatch("[0-9a-f]{40}", name):
            return f"git:{name}"
    return None


def _digest(path: Path, kind: str) -> str:
    hashed = hashlib.new("sha1" if kind == "git" else kind, usedforsecurity=False)
    if kind == "git":
        hashed.update(b"blob %d\0" % _size(path))
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            hashed.update(piece)
    return f"{kind}:{hashed.hexdigest()}"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
