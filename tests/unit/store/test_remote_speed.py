"""The time of transfers: from a trial that leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.store import remote_speed
from harness.store.artifacts import Store
from harness.store.remote import Listed, Remote

STEP = "index-" + "0" * 64


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote((tmp_path / "shared").as_uri())


def test_a_fetch_takes_longer_the_more_is_fetched(remote: Remote, tmp_path: Path, monkeypatch) -> None:
    store = Store(tmp_path / "here").open()
    with store.claim(STEP, lambda: None) as folder:
        assert folder is not None
        (folder / "file").write_bytes(bytes(range(256)) * 100)
        store.finish(STEP, {"kind": "index"}, {}, {})
    remote.push(store, STEP)
    listed = remote.listed(STEP)
    assert listed is not None
    seconds = iter(range(1000))  # of the clock: one more at each look
    monkeypatch.setattr(remote_speed.time, "perf_counter", lambda: float(next(seconds)))
    few = remote_speed.fetch_seconds(remote, [listed])
    many = remote_speed.fetch_seconds(remote, [listed] * 10)
    larger = remote_speed.fetch_seconds(remote, [listed._replace(size=10**9)])
    assert few is not None
    assert many is not None
    assert larger is not None
    assert 0 < few < many < larger


def test_nothing_to_move_takes_no_time_and_no_trial(remote: Remote) -> None:
    assert remote_speed.fetch_seconds(remote, []) == 0
    assert remote_speed.push_seconds(remote, 0, 0) == 0
    assert remote.entries("pieces") == []


def test_pieces_that_are_missing_give_no_time(remote: Remote) -> None:
    lost = Listed(STEP, 10, {"file": ["0" * 64]})
    assert remote_speed.fetch_seconds(remote, [lost]) is None


def test_the_trial_of_a_push_is_small_and_leaves_nothing(remote: Remote, monkeypatch) -> None:
    written: list[int] = []
    write = Remote._write
    monkeypatch.setattr(
        Remote, "_write", lambda self, path, data: written.append(len(data)) or write(self, path, data)
    )
    small, large = (remote_speed.push_seconds(remote, size, 1) for size in (1000.0, 1e12))
    assert small < large
    assert written == [1000, remote_speed.TRIAL]
    assert remote.entries("pieces") == []
