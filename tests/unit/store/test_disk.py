"""The store's operations on the disk: old or new, never a part, and errors in a user's words."""

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.store import disk

# in a process of its own: it ends in the middle of writing
WRITING = """
import os
from pathlib import Path
from harness.store import disk
with disk.replacing(Path({path!r})) as beside:
    beside.write_text("a part")
    os._exit(1)
"""


def test_a_file_keeps_its_old_contents_until_the_new_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    disk.replace_file(path, b"old")

    def half_way() -> None:
        with disk.replacing(path) as beside:
            beside.write_bytes(b"ne")
            assert path.read_bytes() == b"old"
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError):
        half_way()
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]
    disk.replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_what_a_killed_process_left_beside_a_file_is_swept_and_what_lives_is_left(tmp_path: Path) -> None:
    kept = tmp_path / "a[1]"
    gone = subprocess.Popen([sys.executable, "-c", WRITING.format(path=str(kept))])
    gone.wait()
    (dead,) = tmp_path.iterdir()
    alive = dead.with_name(dead.name.replace(f".{gone.pid}.", f".{os.getppid()}.", 1))
    alive.write_text("a part")
    disk.replace_file(kept, b"whole")
    assert {*tmp_path.iterdir()} == {alive, kept}


def test_what_another_host_is_writing_is_left_for_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "another")
    with disk.replacing(tmp_path / "file") as beside:
        beside.write_bytes(b"of the other host")
        with monkeypatch.context() as here:
            here.setattr(socket, "gethostname", lambda: "this")
            here.setattr(os, "kill", lambda process, number: pytest.fail("a process of this host"))
            disk.replace_file(tmp_path / "file", b"of this host")
            assert beside.read_bytes() == b"of the other host"
            os.utime(beside, (0, 0))
            disk.replace_file(tmp_path / "file", b"a day later")
            assert not beside.exists()
            beside.write_bytes(b"of the other host")
    assert (tmp_path / "file").read_bytes() == b"of the other host"


@pytest.mark.parametrize(("number", "what"), [
    (errno.ENOSPC, "no space left .*run again"), (errno.EDQUOT, "no space left .*run again"),
    (errno.EROFS, "read-only .*--store or --out"), (errno.EIO, "input/output error; .*run again"),
])  # fmt: skip
def test_every_error_of_the_disk_says_where_what_and_what_to_do(
    tmp_path: Path, number: int, what: str
) -> None:
    with pytest.raises(StoreError, match=f"^{tmp_path}: {what}"), disk.explaining(tmp_path):
        raise OSError(number, os.strerror(number))


def test_a_tree_is_synced_without_waiting_at_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    synced: list[int] = []
    monkeypatch.setattr(disk, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    disk.fsync_tree(tmp_path)
    expected = [tmp_path / "folder" / "file", tmp_path / "folder", tmp_path]
    assert synced == [path.stat().st_ino for path in expected]


def test_whatever_stands_in_the_place_of_a_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    for name in ("file", "folder", "link", "absent"):
        disk.remove_tree(tmp_path / name)
    assert [item.name for item in tmp_path.iterdir()] == ["kept"]


def test_a_large_file_is_summed_in_pieces_and_every_byte_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "PIECE", 1 << 19)
    path = tmp_path / "large"
    data = bytearray(range(256)) * 5000
    path.write_bytes(data)
    before = disk.content_key(path)
    assert before == disk.content_key(path) != disk.sha256(path)
    for place in (0, (1 << 19) - 1, 1 << 19, len(data) - 1):
        changed = bytearray(data)
        changed[place] ^= 1
        path.write_bytes(changed)
        assert disk.content_key(path) != before
    small = tmp_path / "small"
    small.write_bytes(b"x" * 100)
    assert disk.content_key(small) == disk.sha256(small)
