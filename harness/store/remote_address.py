"""The address of a remote: the file system behind it, and how messages show it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from harness.errors import HarnessError

RETRY_SECONDS = 10  # how long the client of Google's storage itself retries one request of ours
ATTEMPTS = 3  # requests of the S3 client per transfer; a request without an answer ends after about 3 s


def opened(address: str) -> tuple[Any, str]:
    """The file system of an address and the path in it. pyarrow by default keeps asking a silent S3 server
    for minutes; this file system makes fewer attempts."""
    from pyarrow import fs

    files, root = fs.FileSystem.from_uri(_bounded(address))
    if files.type_name != "s3":
        return files, root
    switches = {"true": True, "1": True, "false": False, "0": False}
    parameters = parse_qsl(urlsplit(address).query)
    options: dict[str, Any] = {name: switches.get(value, value) for name, value in parameters}
    strategy = fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)
    try:
        return fs.S3FileSystem(**{"region": files.region, **options, "retry_strategy": strategy}), root
    except TypeError:  # some options are known to addresses alone
        return files, root


def shown(address: str) -> str:
    """The address as messages show it. Raises HarnessError if it holds credentials, which logs would show."""
    parts = urlsplit(address)
    if "@" in parts.netloc or "secret" in parts.query.lower() or "access_key" in parts.query.lower():
        where = f"{parts.scheme}://...{parts.path}"
        advice = "leave them out and set them in the environment, such as AWS_ACCESS_KEY_ID"
        raise HarnessError(f"--remote {where}: holds credentials; {advice}")
    return f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.scheme else address


def _bounded(address: str) -> str:
    """The address, with a limit on the time that the client of Google's storage retries a request. Without
    this limit the client retries for 15 minutes and says nothing."""
    parts = urlsplit(address)
    if parts.scheme not in ("gs", "gcs") or "retry_limit_seconds" in parts.query:
        return address
    query = f"{parts.query}&" if parts.query else ""
    return urlunsplit(parts._replace(query=f"{query}retry_limit_seconds={RETRY_SECONDS}"))
