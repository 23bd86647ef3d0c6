"""An S3 that answers late, with errors or not at all: the results are the same, nothing half-pushed is seen."""

from pathlib import Path

import pytest
from faulty_s3 import KEYS, Faulty, Shares, Watch
from running import EVERYTHING, Harness, results

pytest.importorskip("moto")
pytestmark = [pytest.mark.slow, pytest.mark.extras]


def test_two_people_share_an_s3_that_fails_now_and_then(
    s3: Faulty, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    s3.shares = Shares(error=0.1, late=0.02, silent=0.002, lost=0.002)
    with Watch(s3.address("team", sound=True)) as watch:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            harness = Harness(tmp_path / name)
            harness.suite(EVERYTHING)
            ran = harness.run("suite.yaml", "--remote", s3.address("team"))
            assert ran.code == 0, ran.err
            assert results(harness.out) == undisturbed
    assert " 0 to do" in ran.err
    assert watch.torn == []
    assert s3.counts["error"] > 0
    secrets = [KEYS["AWS_ACCESS_KEY_ID"].encode(), KEYS["AWS_SECRET_ACCESS_KEY"].encode()]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "leaderboard.json" for path in written)
    for content in [ran.out.encode(), ran.err.encode(), *(path.read_bytes() for path in written)]:
        assert not any(secret in content for secret in secrets)
