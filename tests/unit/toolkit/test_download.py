"""A download goes on where it was interrupted, is checked, and says what to do where there is no network."""

import hashlib
import http.server
import re
import threading
from contextlib import contextmanager

import pytest

from harness.errors import HarnessError
from harness.toolkit.files import download

DATA = bytes(range(256)) * 5000
SHA256 = f"sha256:{hashlib.sha256(DATA).hexdigest()}"


class Server(http.server.BaseHTTPRequestHandler):
    """Gives DATA, in parts if asked; `cut` ends each answer after so many bytes."""

    cut: int | None = None
    ranges = True
    headers_of_hub: dict[str, str] = {}  # noqa: RUF012
    asked: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            for name, value in self.headers_of_hub.items():
                self.send_header(name, value)
            self.send_header("Location", "/data")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path != "/data":
            self.send_error(404)
            return
        wanted = self.headers["Range"]
        self.asked.append(wanted)
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1]) if wanted and self.ranges else 0
        if start >= len(DATA):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(DATA)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(DATA) - 1}/{len(DATA)}")
        self.send_header("Content-Length", str(len(DATA) - start))
        self.end_headers()
        self.wfile.write(DATA[start:][: self.cut])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(**given):
    handler = type("Given", (Server,), {"asked": [], **given})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_a_file_is_downloaded_and_checked(tmp_path):
    to = tmp_path / "new/data.bin"
    with serving() as (url, server):
        download.fetch(f"{url}/data", to, SHA256)
        download.fetch(f"{url}/data", to, SHA256)  # it is there
    assert to.read_bytes() == DATA
    assert server.asked == [None]
    assert [path.name for path in to.parent.iterdir()] == ["data.bin"]


def test_a_download_that_is_cut_goes_on_where_it_stopped(tmp_path):
    with serving(cut=300_000) as (url, server):
        download.fetch(f"{url}/data", tmp_path / "data", SHA256)
    assert (tmp_path / "data").read_bytes() == DATA
    assert server.asked == [None, *[f"bytes={300_000 * i}-" for i in range(1, 5)]]


def test_what_an_earlier_call_left_is_continued(tmp_path):
    (tmp_path / ".data.part").write_bytes(DATA[:1000])
    with serving() as (url, server):
        download.fetch(f"{url}/data", tmp_path / "data", SHA256)
    assert (tmp_path / "data").read_bytes() == DATA
    assert server.asked == ["bytes=1000-"]


def test_a_part_that_is_whole_is_taken(tmp_path):
    (tmp_path / ".data.part").write_bytes(DATA)
    with serving() as (url, _):
        download.fetch(f"{url}/data", tmp_path / "data", SHA256)
    assert (tmp_path / "data").read_bytes() == DATA


@pytest.mark.parametrize("left", [DATA[:1000], DATA + b"more"])
def test_a_server_without_ranges_gives_it_from_the_start(tmp_path, left):
    (tmp_path / ".data.part").write_bytes(left)
    with serving(ranges=False) as (url, _):
        download.fetch(f"{url}/data", tmp_path / "data", SHA256)
    assert (tmp_path / "data").read_bytes() == DATA


def test_a_part_of_another_file_is_found_out(tmp_path):
    (tmp_path / ".data.part").write_bytes(b"x" * 1000)
    with serving() as (url, _):
        with pytest.raises(HarnessError, match=rf"data: {url}/data gave sha256:\w+, expected {SHA256}"):
            download.fetch(f"{url}/data", tmp_path / "data", SHA256)
        assert list(tmp_path.iterdir()) == []
        download.fetch(f"{url}/data", tmp_path / "data", f"md5:{hashlib.md5(DATA).hexdigest()}")
    assert (tmp_path / "data").read_bytes() == DATA


@pytest.mark.parametrize(
    ("headers", "good"),
    [
        ({"X-Linked-ETag": f'"{SHA256[7:]}"'}, True),
        ({"X-Linked-ETag": f'"{"0" * 64}"'}, False),
        ({"X-Repo-Commit": "c", "ETag": f'"{hashlib.sha1(b"blob %d" % len(DATA) + bytes(1) + DATA).hexdigest()}"'}, True),
        ({"X-Repo-Commit": "c", "ETag": f'W/"{"0" * 40}"'}, False),
        ({"ETag": f'"{"0" * 40}"'}, True),
    ],
)  # fmt: skip
def test_the_digest_that_the_hub_says_is_checked(tmp_path, headers, good):
    with serving(headers_of_hub=headers) as (url, _):
        if good:
            download.fetch(f"{url}/moved", tmp_path / "data")
            assert (tmp_path / "data").read_bytes() == DATA
        else:
            with pytest.raises(HarnessError, match=r"expected (sha256|git):0000"):
                download.fetch(f"{url}/moved", tmp_path / "data")


def test_without_a_network_it_says_what_is_missing_and_where_to_put_it(tmp_path):
    with serving() as (url, _):
        pass
    target = tmp_path / "data"
    with pytest.raises(HarnessError, match=f"^{target}: .*{url}/data .*put the file at {target}$"):
        download.fetch(f"{url}/data", target, SHA256)


def test_what_a_server_refuses_is_told_at_once(tmp_path):
    with serving() as (url, _), pytest.raises(HarnessError, match=r"/nothing .*404"):
        download.fetch(f"{url}/nothing", tmp_path / "data")
    with pytest.raises(HarnessError, match="only https and http"):
        download.fetch("file:///etc/hosts", tmp_path / "data")
