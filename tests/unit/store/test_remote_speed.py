"""The time of transfers: from a trial that leaves nothing behind."""

import errno
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from step_samples import COST, FACTS

from harness.store import remote_speed
from harness.store.artifacts import Store
from harness.store.recorded import Listed
from harness.store.remote import Refused, Remote

STEP = "index-" + "0" * 64


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote((tmp_path / "shared").as_uri())


def test_a_fetch_takes_longer_the_more_is_fetched(remote: Remote, tmp_path: Path, monkeypatch) -> None:
    store = Store(tmp_path / "here").open()
    with store.claim(STEP, lambda: None) as folder:
        assert folder is not None
        (folder / "file").write_bytes(bytes(range(256)) * 100)
        store.finish(STEP, {"kind": "index"}, FACTS, COST)
    remote.push(store, STEP)
    listed = remote.listed(STEP)
    assert listed is not None
    seconds = iter(range(1000))  # of the clock: one more at each look
    monkeypatch.setattr(remote_speed.time, "perf_counter", lambda: float(next(seconds)))
    few = remote_speed.fetch_seconds(remote, [listed])
    many = remote_speed.fetch_seconds(remote, [listed] * 10)
    larger = remote_speed.fetch_seconds(remote, [structs.replace(listed, size=10**9)])
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


class Stopping:
    """A file system that the user interrupts once: before or after a call, or while a file is written."""

    def __init__(self, files: Any, at: str, where: str) -> None:
        self._files, self._at, self._where = files, at, where

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._files, name)
        if name != self._at:
            return value

        def call(*given: Any, **named: Any) -> Any:
            self._at = ""
            if self._where == "before":
                raise KeyboardInterrupt
            made = value(*given, **named)
            if self._where == "within":  # a part of the file is written
                made.write(b"a part")
                made.close()
            raise KeyboardInterrupt

        return call


@pytest.mark.parametrize(
    ("at", "where"),
    [
        ("create_dir", "after"),
        ("open_output_stream", "before"),
        ("open_output_stream", "within"),
        ("move", "before"),
        ("move", "after"),
        ("delete_file", "before"),
        ("delete_file", "after"),
    ],
)
def test_a_trial_that_is_interrupted_at_any_call_leaves_no_file(remote: Remote, at, where) -> None:
    remote._files = Stopping(remote._files, at, where)
    with pytest.raises(KeyboardInterrupt):
        remote_speed.push_seconds(remote, 1000.0, 1)
    assert remote.entries("pieces") == []


def test_a_trial_that_may_not_be_removed_is_noted_with_its_place(remote: Remote, monkeypatch) -> None:
    def denied(path: str) -> None:
        raise PermissionError("AccessDenied")

    notes: list[str] = []
    remote.note = notes.append
    remote._files = Denying(remote._files, delete_file=denied)
    assert remote_speed.push_seconds(remote, 1000.0, 1) > 0
    [(path, size, _)] = remote.entries("pieces")
    assert size == 1000
    assert len(notes) == 1
    assert f"a trial of 1000 bytes stays at {remote._root}/{path} (AccessDenied); remove it" in notes[0]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_remote_without_write_access_says_so_at_once(remote: Remote, code) -> None:
    def denied(*_: Any, **__: Any) -> None:
        raise OSError(code, "no")

    remote._files = Denying(remote._files, create_dir=denied)
    with pytest.raises(Refused):
        remote_speed.push_seconds(remote, 1000.0, 1)


class Denying:
    """A file system some of whose calls are replaced."""

    def __init__(self, files: Any, **calls: Any) -> None:
        self._files, self._calls = files, calls

    def __getattr__(self, name: str) -> Any:
        return self._calls.get(name) or getattr(self._files, name)
