"""Digests of the user's files: remembered while the file stays the same."""

import errno
import os
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.store import disk
from harness.store.file_digests import FileDigests


@pytest.fixture
def digests(tmp_path: Path) -> FileDigests:
    folder = tmp_path / "digests"
    folder.mkdir()
    return FileDigests(folder)


def test_a_digest_is_remembered_until_the_file_changes(digests: FileDigests, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("one")
    os.utime(path, ns=(10**18, 10**18))
    first = digests.of(path)
    (memo,) = digests.folder.iterdir()
    memo.write_text(memo.read_text().replace(first, "f" * 64))
    assert digests.of(path) == "f" * 64
    path.write_text("two")
    os.utime(path, ns=(2 * 10**18 // 2 + 1, 10**18 + 1))
    assert digests.of(path) == disk.sha256(path)
    memo.write_text("torn")
    assert digests.of(path) == disk.sha256(path)


def test_a_file_that_cannot_be_read_is_a_mistake_of_the_user(
    digests: FileDigests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> str:  # whoever runs the tests may be allowed to read everything
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(disk, "content_key", refused)
    (tmp_path / "data").write_text("one")
    for path in (tmp_path / "data", tmp_path):
        with pytest.raises(HarnessError, match=r"data: .*permission denied"):
            digests.of(path)


def test_a_file_that_was_written_just_now_is_not_remembered(digests: FileDigests, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("one")
    first = digests.of(path)
    before = path.stat()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # within one tick of the clock
    assert digests.of(path) != first


def test_a_folder_is_found_by_the_digest_of_its_contents_until_they_change(
    digests: FileDigests, tmp_path: Path
) -> None:
    for name in ("a/model/weights", "a/model/deeper/config", "b/model/weights"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name[2:])
        os.utime(path, ns=(10**18, 10**18))
    wanted = digests.of(tmp_path / "a" / "model")
    digests.of(tmp_path / "b" / "model")
    assert digests.folder_with(wanted) == tmp_path / "a" / "model"
    assert digests.folder_with("0" * 64) is None
    further = tmp_path / "a" / "model" / "optimiser"
    further.touch()  # its digest is not remembered
    assert digests.folder_with(wanted) is None
    further.unlink()
    assert digests.folder_with(wanted) == tmp_path / "a" / "model"
    (tmp_path / "a" / "model" / "weights").write_text("other")
    assert digests.folder_with(wanted) is None
