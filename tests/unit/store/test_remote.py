"""The shared store: whole or absent, verified, and no worse than none where it fails."""

import errno
import os
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import faulty_s3
import pytest
from step_samples import COST, FACTS

from harness.errors import HarnessError, StoreError
from harness.store import remote as remotes
from harness.store import remote_address, remote_cleaning
from harness.store.artifacts import Store
from harness.store.remote import Remote
from harness.store.remote_transfer import fetch_missing, push_all

STEP, OTHER = "index-" + "0" * 64, "search-" + "1" * 64


def opened(folder: Path) -> Store:
    return Store(folder).open()


def make(store: Store, step: str = STEP, text: str = "contents") -> None:
    with store.claim(step, lambda: None) as folder:
        assert folder is not None
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text(text)
        (folder / "empty").touch()
        store.finish(step, {}, FACTS, COST)


def contents(store: Store, step: str = STEP) -> dict[str, bytes]:
    folder = store.read(step).folder
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return opened(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Store:
    return opened(tmp_path / "there")


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return Remote((tmp_path / "shared").as_uri())


def test_an_artifact_that_is_pushed_is_fetched_with_the_same_bytes(here, there, remote, monkeypatch):
    monkeypatch.setattr(remotes, "PIECE", 3)  # so that a file has several pieces
    make(here)
    assert remote.push(here, STEP)
    assert not remote.push(here, STEP)  # it has it already
    assert remote.steps() == [STEP]
    assert remote.fetch(there, STEP, print)
    assert contents(there) == contents(here)
    assert not list(there.partial.iterdir())


def test_a_fresh_artifact_replaces_the_one_that_the_remote_has(here, there, remote):
    make(here, text="old")
    remote.push(here, STEP)
    make(there, text="new")
    assert not remote.push(there, STEP)
    remote.replace = True
    assert remote.push(there, STEP)
    here.discard(STEP)
    assert remote.fetch(here, STEP, print)
    assert contents(here) == contents(there)


def test_what_the_remote_lacks_is_not_fetched(there, remote):
    assert not remote.fetch(there, STEP, print)
    assert remote.steps() == []


def test_an_artifact_without_its_list_does_not_exist(here, there, remote, monkeypatch):
    make(here)
    write = Remote._write

    def dies_before_the_list(self: Remote, path: str, data: bytes) -> None:
        if "/steps/" in path:
            raise KeyboardInterrupt
        write(self, path, data)

    monkeypatch.setattr(Remote, "_write", dies_before_the_list)
    with pytest.raises(KeyboardInterrupt):
        remote.push(here, STEP)
    assert remote.steps() == []
    assert not remote.fetch(there, STEP, print)


@pytest.mark.parametrize("damage", ["piece", "list", "missing"])
def test_what_is_damaged_there_is_not_taken_and_can_be_pushed_anew(here, there, remote, tmp_path, damage):
    make(here)
    remote.push(here, STEP)
    shared = tmp_path / "shared"
    pieces = [path for path in (shared / "pieces").rglob("*") if path.is_file()]
    if damage == "missing":
        pieces[0].unlink()
    else:
        path = (
            shared / "steps" / f"{STEP}.json"
            if damage == "list"
            else max(pieces, key=lambda p: p.stat().st_size)
        )
        path.write_bytes(b"x" + path.read_bytes()[1:])
    notes: list[str] = []
    assert not remote.fetch(there, STEP, notes.append)
    assert not there.has(STEP)
    assert len(notes) == 1
    assert remote.push(here, STEP)
    assert remote.fetch(there, STEP, notes.append)
    assert contents(there) == contents(here)


def test_a_transfer_that_fails_is_tried_again_and_then_told(here, remote, monkeypatch):
    make(here)
    monkeypatch.setattr(remotes, "PAUSES", (0.0, 0.0))
    remote._files = Failing(remote._files, failures=2)
    assert remote.push(here, STEP)
    remote._files = Failing(remote._files, failures=10**6)
    with pytest.raises(HarnessError, match="the server is away; check the address and the network"):
        remote.steps()


def test_who_may_not_write_is_told_once_and_keeps_the_results(here, remote, monkeypatch):
    make(here)
    make(here, OTHER)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError("AccessDenied")

    monkeypatch.setattr(remote, "_files", Failing(remote._files, writing=refused))
    notes: list[str] = []
    here.remote = remote
    assert push_all(here, [STEP, OTHER], notes.append) == []
    assert len(notes) == 1
    assert "takes no artifacts from you" in notes[0]
    assert here.has(STEP)


def test_what_is_made_after_a_push_has_failed_waits_for_the_next_run(here, remote, monkeypatch):
    make(here)
    make(here, OTHER)
    monkeypatch.setattr(remotes, "PAUSES", ())
    here.remote = remote
    with monkeypatch.context() as patch:
        patch.setattr(remote, "_files", Failing(remote._files, failures=10**6))
        assert push_all(here, [STEP], print) == []
    assert push_all(here, [OTHER], print) == []  # the same run makes further steps
    here.remote = Remote(remote.address)
    assert push_all(here, [], print) == sorted([STEP, OTHER])


def test_a_disk_that_fills_up_during_a_fetch_is_no_fault_of_the_remote(here, there, remote, monkeypatch):
    make(here)
    remote.push(here, STEP)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(remotes.os, "pwrite", full)
    notes: list[str] = []
    with pytest.raises(StoreError, match="no space left on the device"):
        remote.fetch(there, STEP, notes.append)
    assert remote.has(STEP)
    assert not notes
    assert not there.has(STEP)


def test_only_what_is_missing_here_is_fetched(here, there, remote):
    make(here)
    make(here, OTHER)
    here.remote = there.remote = remote
    push_all(here, [STEP, OTHER], print)
    make(there)
    step = type("Step", (), {"inputs": (STEP,)})
    assert fetch_missing(there, {OTHER: step}, [OTHER], print) == [OTHER]


@pytest.mark.parametrize(
    "address", ["s3://key:word@bucket/prefix", "s3://bucket/prefix?access_key=a&secret_key=b"]
)
def test_an_address_with_credentials_is_refused_and_not_repeated(address):
    with pytest.raises(HarnessError, match="holds credentials") as caught:
        Remote(address)
    for secret in ("word", "secret_key=b"):
        assert secret not in str(caught.value)


def test_an_address_of_no_kind_is_refused():
    with pytest.raises(HarnessError, match="--remote"):
        Remote("ftp://somewhere/else")


class Failing:
    """A file system whose first calls fail, or whose writes do."""

    def __init__(self, files: Any, failures: int = 0, writing: Any = None) -> None:
        self._files, self._failures, self._writing = files, failures, writing

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._files, name)
        if name == "type_name":
            return value
        if self._writing is not None and name in ("open_output_stream", "create_dir"):
            return self._writing

        def call(*given: Any, **named: Any) -> Any:
            if self._failures:
                self._failures -= 1
                raise OSError("the server is away")
            return value(*given, **named)

        return call


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a bucket on an S3 server on this machine."""
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    for name, value in faulty_s3.KEYS.items():
        monkeypatch.setenv(name, value)
    with faulty_s3.served() as server:
        yield server.address("prefix")


@pytest.mark.slow
@pytest.mark.extras
def test_an_artifact_goes_through_s3_with_the_same_bytes(here, there, s3):
    remote = Remote(s3)
    make(here, text="x" * 100_000)
    assert remote.steps() == []
    assert remote.push(here, STEP)
    assert remote.steps() == [STEP]
    assert remote.fetch(there, STEP, print)
    assert contents(there) == contents(here)


@pytest.mark.parametrize(("address", "message"), [
    ("shared", "--remote shared: URI has empty scheme"),
    ("s3://", "--remote s3://: names no bucket; give s3://BUCKET/PREFIX"),
    ("ftp://place/x", "--remote ftp://place/x: "),
])  # fmt: skip
def test_an_address_that_is_none_is_named_as_it_was_given(address, message):
    with pytest.raises(HarnessError) as caught:
        Remote(address)
    assert str(caught.value).startswith(message)
    assert "give s3://BUCKET/PREFIX" in str(caught.value)


@pytest.mark.parametrize("option", ["tls_verify_certificates=false", "allow_bucket_creation=0"])
def test_options_of_an_s3_address_that_only_addresses_know_are_taken(option):
    Remote(f"s3://bucket/prefix?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1&{option}")


def test_a_part_waits_a_month_for_the_others_of_its_step(here, tmp_path):
    part = "part-" + "0" * 64
    remote = Remote((tmp_path / "remote").as_uri())
    make(here, part)
    assert remote.push(here, part)

    def unneeded(days: float) -> list[str]:
        old = time.time() - days * 24 * 3600
        for path in (tmp_path / "remote").rglob("*"):
            os.utime(path, (old, old))
        entries = remote_cleaning.unneeded(remote, time.time() - 2 * 24 * 3600)
        return sorted(entry.path.partition("/")[0] for entry in entries)

    assert unneeded(days=20) == []
    assert set(unneeded(days=31)) == {"steps", "pieces"}


def test_google_s_client_does_not_retry_for_a_quarter_of_an_hour():
    assert (
        remote_address._bounded("gs://b/p") == f"gs://b/p?retry_limit_seconds={remote_address.RETRY_SECONDS}"
    )
    for address in ("gs://b/p?retry_limit_seconds=3", "s3://b/p", "file:///p"):
        assert remote_address._bounded(address) == address


@pytest.mark.slow
@pytest.mark.extras
def test_an_s3_that_never_answers_is_given_up(here, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    monkeypatch.setattr(remote_address, "ATTEMPTS", 1)
    monkeypatch.setattr(remotes, "PAUSES", (0.0,))
    with socket.socket() as silent:  # the system accepts connections for it, and nobody reads them
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        where = f"endpoint_override=127.0.0.1:{silent.getsockname()[1]}&scheme=http&region=us-east-1"
        remote = Remote(f"s3://bucket/prefix?{where}")
        notes: list[str] = []
        remote.note = notes.append
        with pytest.raises(HarnessError, match="check the address and the network"):
            remote.has(STEP)
    assert len(notes) == 1
    assert notes[0].endswith("; trying again")


def aged(folder: Path, days: float) -> None:
    """Give all files below a folder another age."""
    then = time.time() - days * 86400
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def test_cleaning_removes_old_parts_and_pieces_of_no_artifact_alone(here, there, remote, tmp_path):
    part, shared = "part-" + "2" * 64, tmp_path / "shared"
    make(here)
    make(here, part, "of a part that no run has joined")
    make(here, OTHER, "of an artifact that was taken out")
    for step in (STEP, part, OTHER):
        remote.push(here, step)
    remote.forget(OTHER)
    half = shared / "steps" / f".{uuid.uuid4().hex}"
    half.write_text("by a killed run")
    for theirs in ("pieces/ab/.bashrc", "steps/letter.json", "pieces/letter"):  # nobody else's is removed
        (shared / theirs).parent.mkdir(exist_ok=True)
        (shared / theirs).write_text("somebody else's")
    month = time.time() - 30 * 86400
    assert remote_cleaning.unneeded(remote, month) == []  # all of it is new
    aged(shared, 31)
    young = shared / "pieces" / "ab" / ("ab" * 32)
    young.parent.mkdir(exist_ok=True)
    young.write_text("of a push that is at work")
    entries = remote_cleaning.unneeded(remote, month)
    assert {entry.path for entry in entries} >= {f"steps/{part}.json", f"steps/{half.name}"}
    assert remote_cleaning.remove(remote, entries, month, lambda entry: None) == sum(e.size for e in entries)
    assert remote.steps() == [STEP]
    assert young.exists()
    assert remote.fetch(there, STEP, print)
    assert contents(there) == contents(here)
    assert remote_cleaning.unneeded(remote, month) == []
    texts = [path.read_bytes() for path in (shared / "pieces").rglob("*") if path.is_file()]
    assert not any(b"of a part" in text or b"was taken out" in text for text in texts)


def test_a_push_writes_old_pieces_again_so_that_cleaning_cannot_remove_them(here, there, remote, tmp_path):
    make(here)
    remote.push(here, STEP)
    remote.forget(STEP)
    aged(tmp_path / "shared", 31)
    month = time.time() - 30 * 86400
    entries = remote_cleaning.unneeded(remote, month)
    assert entries
    remote.push(here, STEP)  # between the two
    assert remote_cleaning.remove(remote, entries, month, lambda entry: None) == 0
    assert remote.fetch(there, STEP, print)
