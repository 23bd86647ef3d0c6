"""Serves folders on the loopback by the hub's protocol, so that the real downloading code runs without a network.

    with HubServer(root) as hub:
        subprocess.run(command, env={**os.environ, **hub.env, "HF_HOME": str(empty)})

`root/models/OWNER/NAME/` and `root/datasets/OWNER/NAME/` are the repositories at `main`, and a folder beside
them called `NAME@REVISION` is another revision (`NAME@refs%2Fconvert%2Fparquet`). The file `.hub.json` in a
repository says what is not a file of it:

    {"commits": ["<40 hex>", ...]}   the commits it is served under; `main` is the first. Else one of its content
    {"gated": true}                  its listing can be read, its files only with a token
    {"moved": "OWNER/NEW"}           a renamed repository: every request is redirected

Repositories may be added while the server runs. Large files are redirected to another origin, as the hub
does to its CDN.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

LARGE = {
    ".bin",
    ".gz",
    ".h5",
    ".model",
    ".msgpack",
    ".onnx",
    ".ot",
    ".p",
    ".parquet",
    ".pt",
    ".pth",
    ".safetensors",
    ".zip",
}
SETTINGS = ".hub.json"
_REPO = r"(?P<repo>[^/]+(?:/[^/]+)??)"
_API = re.compile(
    rf"/api/(?P<kind>models|datasets)/{_REPO}(?:/(?P<what>revision|tree)/(?P<revision>[^/]+)(?:/(?P<path>.+))?)?"
)
_FILE = re.compile(rf"/(?:(?P<kind>datasets)/)?{_REPO}/(?:resolve|raw)/(?P<revision>[^/]+)/(?P<path>.+)")
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class File(NamedTuple):
    path: str
    size: int
    oid: str  # the id of its blob in git: of the pointer's for a large file
    sha256: str | None  # only for a large file

    @property
    def etag(self) -> str:
        return self.sha256 or self.oid


class Refusal(Exception):
    def __init__(self, status: int, code: str, message: str, commit: str = "") -> None:
        self.status, self.code, self.message, self.commit = status, code, message, commit


class Moved(Exception):
    pass


class HubServer:
    """The running server. `url` is its address, `env` the variables that make the hub's clients ask it, and
    `requests` lists what was asked, as "METHOD /path". `page` is the number of files in a page of a listing."""

    def __init__(self, root: Path, page: int = 10) -> None:
        self.root, self.page = root, page
        self.requests: list[str] = []
        self.hub, self.cdn = (_Listener(("127.0.0.1", 0), handler) for handler in (_Hub, _Cdn))
        self.blobs: dict[str, Path] = {}  # by their sha256: what the CDN was told to give
        for listener in (self.hub, self.cdn):
            listener.owner = self
            threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.hub.server_port}"
        self.env = {
            "HF_ENDPOINT": self.url,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_OFFLINE": "0",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }

    def __enter__(self) -> HubServer:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in (self.hub, self.cdn):
            listener.shutdown()
            listener.server_close()

    def repository(self, kind: str, repo: str, revision: str) -> Repository:
        """The repository at a revision. Raises Refusal or Moved."""
        main = self.root / kind / repo
        settings = _settings(main)
        if "moved" in settings:
            raise Moved(settings["moved"])
        if not main.is_dir() or ".." in repo:
            raise Refusal(401, "RepoNotFound", "Repository not found")
        here = Repository(kind, repo, main, settings)
        if revision in ("main", *here.commits):
            return here._replace(commit=here.commits[0] if revision == "main" else revision)
        for folder in sorted(main.parent.glob(f"{main.name}@*")):
            other = Repository(kind, repo, folder, _settings(folder))
            if revision in (unquote(folder.name.partition("@")[2]), *other.commits):
                return other._replace(commit=other.commits[0])
        raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")


class Repository(NamedTuple):
    kind: str
    repo: str
    folder: Path
    settings: dict[str, Any]
    commit: str = ""

    @property
    def commits(self) -> list[str]:
        """The commits that it is served under; one derived from its content if it declares none."""
        if declared := self.settings.get("commits"):
            return list(declared)
        content = "\n".join(f"{file.path} {file.etag}" for file in self.files())
        return [hashlib.sha1(f"{self.repo}\n{content}".encode()).hexdigest()]

    def files(self) -> list[File]:
        paths = (path for path in self.folder.rglob("*") if path.is_file() and path.name != SETTINGS)
        return sorted(_digested(self.folder, path, path.stat().st_mtime_ns) for path in paths)

    def info(self) -> dict[str, Any]:
        return {
            "id": self.repo,
            "sha": self.commit,
            "private": False,
            "gated": "auto" if self.settings.get("gated") else False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": file.path} for file in self.files()],
        }

    def tree(self, below: str, recursive: bool) -> list[dict[str, Any]]:
        """The entries of a listing: the files and folders in the folder `below`, or all that is under it."""
        entries: dict[str, dict[str, Any]] = {}
        for file in self.files():
            parts = file.path.split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                oid = hashlib.sha1(folder.encode()).hexdigest()
                entries[folder] = {"type": "directory", "oid": oid, "size": 0, "path": folder}
            large = (
                {"lfs": {"oid": file.sha256, "size": file.size, "pointerSize": 134}} if file.sha256 else {}
            )
            entries[file.path] = {
                "type": "file",
                "oid": file.oid,
                "size": file.size,
                "path": file.path,
                **large,
            }
        start = f"{below}/" if below else ""
        inside = {path: entry for path, entry in entries.items() if path.startswith(start)}
        if not inside:
            raise Refusal(404, "EntryNotFound", f"{below} does not exist", self.commit)
        return [entry for path, entry in sorted(inside.items()) if recursive or "/" not in path[len(start) :]]


def _settings(folder: Path) -> dict[str, Any]:
    file = folder / SETTINGS
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


@functools.lru_cache(maxsize=100_000)
def _digested(folder: Path, path: Path, changed: int) -> File:
    """`changed` is the time of the last change, so that a file is read again only after one."""
    content = path.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest() if path.suffix in LARGE else None
    blob = content
    if sha256:
        blob = (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(content)}\n".encode()
        )
    oid = hashlib.sha1(b"blob %d\0" % len(blob) + blob).hexdigest()
    return File(path.relative_to(folder).as_posix(), len(content), oid, sha256)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    owner: HubServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone is no error: killed runs are among those that ask."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        raise NotImplementedError

    def send(self, status: int, body: bytes = b"", **headers: str | int | None) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": len(body), **headers}.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_file(self, path: Path, **headers: str | int | None) -> None:
        body = path.read_bytes()
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        if asked is None:
            return self.send(200, body, Accept_Ranges="bytes", **headers)
        first, last = int(asked[1]), min(int(asked[2] or len(body)), len(body) - 1)
        if first > last:
            return self.send(416, Content_Range=f"bytes */{len(body)}")
        part = f"bytes {first}-{last}/{len(body)}"
        return self.send(206, body[first : last + 1], Content_Range=part, **headers)


class _Cdn(_Handler):
    """The large files, by their digests."""

    def _answer(self) -> None:
        self.server.owner.requests.append(f"{self.command} cdn{self.path}")
        digest = self.path.strip("/")
        path = self.server.owner.blobs.get(digest)
        if path is None:
            return self.send(403)
        return self.send_file(path, ETag=f'"{digest}"')


class _Hub(_Handler):
    def _answer(self) -> None:
        self.server.owner.requests.append(f"{self.command} {self.path}")
        url = urlsplit(self.path)
        asked = _API.fullmatch(url.path) or _FILE.fullmatch(url.path)
        if asked is None:
            return self.send(404)
        kind, repo = asked["kind"] or "models", asked["repo"]
        try:
            here = self.server.owner.repository(kind, unquote(repo), unquote(asked["revision"] or "main"))
            if asked.re is _FILE:
                return self._file(here, unquote(asked["path"]))
            if asked["what"] == "tree":
                return self._tree(here, unquote(asked["path"] or ""), parse_qs(url.query))
            return self._json(here.info())
        except Moved as moved:
            to = self.path.replace(repo, quote(str(moved)), 1)
            return self.send(307, Location=self.server.owner.url + to)
        except Refusal as no:
            known = {"X_Repo_Commit": no.commit or None}
            return self.send(no.status, X_Error_Code=no.code, X_Error_Message=no.message, **known)

    def _json(self, answer: Any, **headers: str | None) -> None:
        self.send(200, json.dumps(answer).encode(), Content_Type="application/json; charset=utf-8", **headers)

    def _tree(self, here: Repository, below: str, query: dict[str, list[str]]) -> None:
        entries = here.tree(below, query.get("recursive", [""])[0].lower() in ("1", "true"))
        start = int(query.get("cursor", ["0"])[0])
        end = start + self.server.owner.page
        more = None
        if end < len(entries):
            again = urlencode({**{name: values[0] for name, values in query.items()}, "cursor": end})
            more = f'<{self.server.owner.url}{urlsplit(self.path).path}?{again}>; rel="next"'
        self._json(entries[start:end], Link=more)

    def _file(self, here: Repository, path: str) -> None:
        if here.settings.get("gated") and "Authorization" not in self.headers:
            raise Refusal(401, "GatedRepo", f"Access to {here.kind} {here.repo} is restricted.", here.commit)
        file = next((file for file in here.files() if file.path == path), None)
        if file is None:
            raise Refusal(404, "EntryNotFound", "Entry not found", here.commit)
        if file.sha256 is None:
            return self.send_file(here.folder / path, X_Repo_Commit=here.commit, ETag=f'"{file.etag}"')
        self.server.owner.blobs[file.sha256] = here.folder / path
        return self.send(
            302,
            Location=f"http://127.0.0.1:{self.server.owner.cdn.server_port}/{file.sha256}",
            X_Repo_Commit=here.commit,
            X_Linked_ETag=f'"{file.sha256}"',
            X_Linked_Size=file.size,
        )
