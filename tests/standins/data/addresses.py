"""Answers for the https addresses from which ir_datasets downloads: a proxy on the loopback with a certificate.

ir_datasets checks each file's MD5. `table` makes a copy of its list of downloads that has the stand-ins' digests:
a package of links to the installed one, for PYTHONPATH. Addresses and code are its own.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class Proxy:
    """The running proxy. `env` makes the library requests use it. It gives the file of each address in
    `files`, and 404 for every other address."""

    def __init__(self, files: Mapping[str, Path], certificate: Path) -> None:
        self.files = files
        self.requests: list[str] = []
        self.hosts: set[str] = set()  # that were asked for, known or not
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate)
        self.listener = _Listener(("127.0.0.1", 0), _Tunnel)
        self.listener.owner = self
        threading.Thread(target=self.listener.serve_forever, args=(0.05,), daemon=True).start()
        address = f"http://127.0.0.1:{self.listener.server_address[1]}"
        self.env = {"HTTPS_PROXY": address, "https_proxy": address, "REQUESTS_CA_BUNDLE": str(certificate)}

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown()
        self.listener.server_close()


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    owner: Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust the certificate has gone; `hosts` says what it wanted."""


class _Tunnel(socketserver.StreamRequestHandler):
    server: _Listener

    def handle(self) -> None:
        method, host = _head(self.rfile).split()[:2]
        if method != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            return
        self.server.owner.hosts.add(host.removesuffix(":443"))
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with self.server.owner.tls.wrap_socket(self.connection, server_side=True) as inside:
            path = _head(inside.makefile("rb")).split()[1]
            url = f"https://{host.removesuffix(':443')}{path}"
            self.server.owner.requests.append(url)
            file = self.server.owner.files.get(url)
            body = file.read_bytes() if file else b""
            status = "200 OK" if file else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            inside.sendall(head.encode() + body)


def _head(stream: Any) -> str:
    """The first line of a request, whose headers are read and left out."""
    first = stream.readline().decode()
    while stream.readline().strip():
        pass
    return first


def certificate(path: Path, addresses: Mapping[str, Path]) -> Path:
    """A certificate with its key for the hosts of these addresses, which signs itself."""
    hosts = sorted({f"DNS:{urlsplit(url).hostname}" for url in addresses})
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=stand-ins",
         "-addext", f"subjectAltName={','.join(hosts)}", "-keyout", f"{path}.key", "-out", path],
        check=True, capture_output=True,
    )  # fmt: skip
    path.write_text(path.read_text() + Path(f"{path}.key").read_text())
    return path


def downloads() -> dict[str, Any]:
    """The list of downloads of the installed ir_datasets."""
    return json.loads((_installed() / "etc" / "downloads.json").read_text(encoding="utf-8"))


def table(folder: Path, files: Mapping[str, Path]) -> None:
    """The package ir_datasets in `folder`, whose list of downloads has the digests of `files` (by address)."""
    package = folder / "ir_datasets"
    (package / "etc").mkdir(parents=True)
    for source in _installed().iterdir():
        if source.name not in ("etc", "__pycache__"):
            (package / source.name).symlink_to(source)
    (package / "etc" / "metadata.json").symlink_to(_installed() / "etc" / "metadata.json")
    listed = downloads()
    for entry in _entries(listed):
        file = files.get(entry.get("url", ""))
        if file:
            content = file.read_bytes()
            entry |= {"expected_md5": hashlib.md5(content).hexdigest(), "size_hint": len(content)}
    (package / "etc" / "downloads.json").write_text(json.dumps(listed), encoding="utf-8")


def _entries(listed: Any) -> list[dict[str, Any]]:
    if not isinstance(listed, dict):
        return []
    if "url" in listed:
        return [listed]
    return [entry for inner in listed.values() for entry in _entries(inner)]


def _installed() -> Path:
    spec = importlib.util.find_spec("ir_datasets")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
