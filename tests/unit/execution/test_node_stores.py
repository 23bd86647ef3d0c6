"""The stores of nodes: those of one run are removed after it, and none that is in use."""

import fcntl
import os
from pathlib import Path

import pytest
from step_samples import COST, FACTS

from harness.execution import node_stores, node_versions
from harness.execution.ray_node import FOLDER, Node, Settings
from harness.store import disk
from harness.store.artifacts import Store

NODE = "0123456789abcdef0123456789"
FIRST, SECOND, THIRD = (digit * 16 for digit in "abc")  # tokens of runs
STEP = "index-" + "0" * 64


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path / "nodes"))
    return tmp_path / "nodes"


def begun(base: Path, token: str, one_run: bool = True, node: str = NODE) -> Node:
    """A node at work, with a store that has an artifact."""
    remote = (base.parent / "remote").as_uri()
    made = Node(Settings("absent", token, remote, 1, node_versions.here(), one_run, one_run))
    assert made.begin(node) is None
    with made.store.claim(STEP, lambda: None) as folder:
        if folder is not None:
            (folder / "file").write_bytes(b"contents")
            made.store.finish(STEP, {}, FACTS, COST)
    return made


def names(base: Path) -> list[str]:
    return sorted(path.name for path in base.iterdir())


def test_a_later_run_removes_the_stores_of_fresh_runs_that_ended(base: Path) -> None:
    for token, one_run in ((FIRST, True), (SECOND, True), ("", False)):
        os.close(begun(base, token, one_run).lock)  # the process ends
    (base / "another folder").mkdir()
    (base / f"{NODE[:16]}-{FIRST}.removed").mkdir()  # by a process that was killed
    begun(base, THIRD, one_run=False)
    assert names(base) == [NODE[:16], "another folder"]
    assert Store(base / NODE[:16]).has(STEP)


def test_a_store_in_use_stays_until_its_last_worker_ends(base: Path) -> None:
    one, other = begun(base, FIRST), begun(base, FIRST)
    os.close(one.lock)
    begun(base, SECOND)
    assert other.store.read(STEP).files.keys() == {"file"}
    os.close(other.lock)
    begun(base, THIRD)
    assert names(base) == [f"{NODE[:16]}-{SECOND}", f"{NODE[:16]}-{THIRD}"]


def test_a_run_keeps_its_stores_between_two_workers(base: Path) -> None:
    os.close(begun(base, FIRST, node="f" * 26).lock)
    begun(base, FIRST)
    assert len(names(base)) == 2


def test_a_store_that_is_removed_while_a_worker_begins_is_made_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.close(begun(base, FIRST).lock)
    flock = fcntl.flock

    def after_another(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        node_stores.remove_unused(base, SECOND)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", after_another)
    again = begun(base, FIRST)
    assert again.store.read(STEP).files.keys() == {"file"}
    node_stores.remove_unused(base, SECOND)
    assert again.store.has(STEP)


def test_a_store_that_came_back_while_another_removed_it_stays(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.close(begun(base, FIRST).lock)
    flock, back = fcntl.flock, []

    def after_another(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        disk.remove_tree(base / f"{NODE[:16]}-{FIRST}")
        back.append(begun(base, FIRST))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", after_another)
    node_stores.remove_unused(base, SECOND)
    assert back[0].store.has(STEP)


def test_without_locks_nothing_is_removed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    begun_before = Store(base / f"{NODE[:16]}-{FIRST}")
    os.close(node_stores.use(begun_before.root))
    node_stores.remove_unused(base, SECOND)
    assert begun_before.root.is_dir()
