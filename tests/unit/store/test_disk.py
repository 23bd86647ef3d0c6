"""The store's operations on the disk: old or new, never a part, and errors in a user's words."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.store import disk


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
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead, alive = (tmp_path / f".{process}.new.a[1]" for process in (gone.pid, os.getppid()))
    for path in (dead, alive):
        path.write_text("a part")
    disk.replace_file(tmp_path / "a[1]", b"whole")
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted([alive.name, "a[1]"])


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "no space left on the device; free some and run again: finished steps are kept"),
        (errno.EDQUOT, "no space left on the device; free some and run again: finished steps are kept"),
        (errno.EROFS, "read-only file system; choose another folder with --store or --out"),
        (errno.EIO, "input/output error; check the disk and run again: finished steps are kept"),
    ],
)
def test_every_error_of_the_disk_says_where_what_and_what_to_do(
    tmp_path: Path, number: int, says: str
) -> None:
    with pytest.raises(StoreError) as caught, disk.explaining(tmp_path):
        raise OSError(number, os.strerror(number))
    assert str(caught.value) == f"{tmp_path}: {says}"


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
