"""An S3 that answers late, or with errors: the results are the same, and nothing half-pushed is ever seen."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running import EVERYTHING, Harness, results

pytest.importorskip("moto")
pytestmark = [pytest.mark.slow, pytest.mark.extras]

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a bucket on a server that fails one request in eight, and delays one in eight."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    moto, draw, faulty = DomainDispatcherApplication(create_backend_app), random.Random(0), threading.Event()

    def application(environ: Any, start_response: Any) -> Any:
        fate = draw.random() if faulty.is_set() else 1.0
        if fate < 0.125:
            start_response("500 Internal Server Error", [("Content-Length", "0")])
            return [b""]
        if fate < 0.25:
            time.sleep(0.2)
        return moto(environ, start_response)

    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    where = f"endpoint_override=127.0.0.1:{server.port}&scheme=http&region=us-east-1"
    from pyarrow import fs

    files, _ = fs.FileSystem.from_uri(f"s3://bucket?{where}&allow_bucket_creation=true")
    files.create_dir("bucket")
    faulty.set()
    yield f"s3://bucket/team?{where}"
    server.shutdown()
    thread.join()


def test_two_people_share_an_s3_that_fails_now_and_then(
    s3: str, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        harness = Harness(tmp_path / name)
        harness.suite(EVERYTHING)
        ran = harness.run("suite.yaml", "--remote", s3, **KEYS)
        assert ran.code == 0, ran.err
        assert results(harness.out) == undisturbed
    assert " 0 to do" in ran.err
