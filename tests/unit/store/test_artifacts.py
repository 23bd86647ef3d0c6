"""The store: whole or absent, one writer, damage found, digests remembered no longer than they hold."""

import fcntl
import os
import shutil
import threading
import time
from pathlib import Path

import orjson
import pytest
from step_samples import COST, INDEX

from harness.errors import ContractError, HarnessError, StoreError
from harness.execution.estimate import read_all
from harness.store import disk, recorded
from harness.store.artifacts import Store
from harness.store.manifest import Absent, Corrupt

STEP = "index-" + "0" * 64


def nobody() -> None:
    raise AssertionError("nobody else has it")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store").open()


def make(store: Store, text: str = "contents", step: str = STEP) -> None:
    with store.claim(step, nobody) as folder:
        assert folder is not None
        (folder / "file").write_text(text)
        store.finish(step, INDEX.keyed, {"texts": 3}, COST)


def test_a_finished_step_is_read_as_it_was_written(store: Store) -> None:
    make(store)
    found = store.read(STEP)
    assert (found.record, found.facts) == (INDEX, {"texts": 3})
    assert found.cost == {**COST, "bytes": 8}
    assert (found.folder / "file").read_text() == "contents"
    assert list(store.partial.iterdir()) == []
    with store.claim(STEP, nobody) as folder:
        assert folder is None


def test_an_unfinished_step_keeps_its_files_and_is_not_there(store: Store) -> None:
    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        (folder / "half").write_text("done")
    assert not store.has(STEP)
    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        assert (folder / "half").read_text() == "done"
    store.forget(STEP)
    assert list(store.partial.iterdir()) == []
    store.forget(STEP)  # nothing is there to forget


def test_a_second_claim_waits_says_so_once_and_finds_the_step_there(store: Store) -> None:
    waits: list[str] = []
    found: list[Path | None] = []

    def second() -> None:
        with Store(store.root).claim(STEP, lambda: waits.append("waiting")) as folder:
            found.append(folder)

    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        thread = threading.Thread(target=second)
        thread.start()
        deadline = time.monotonic() + 120
        while not waits and time.monotonic() < deadline:
            time.sleep(0.01)
        store.forget(STEP)  # of no effect: it is claimed
        (folder / "file").write_text("contents")
        store.finish(STEP, {}, {"texts": 3}, COST)
    thread.join(120)
    assert (waits, found) == (["waiting"], [None])


def test_a_claim_that_comes_just_as_another_run_finishes_the_step_leaves_no_folder(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, looked = Store(store.root), []

    def has(step: str) -> bool:
        looked.append(step)
        if len(looked) > 1:
            return Store.has(late, step)
        make(store)  # by another run, after this one has looked
        return False

    monkeypatch.setattr(late, "has", has)
    with late.claim(STEP, nobody) as folder:
        assert folder is None
    assert list(store.partial.iterdir()) == []


def test_only_the_folder_that_was_opened_is_forgotten_and_not_a_new_one_in_its_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.claim(STEP, nobody):
        pass
    lock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        make(store)  # two other runs, after this one has opened the folder: one finishes the step
        store.discard(STEP)
        work = store.partial / STEP / "files" / "work"  # and one, to which everything is new, is at it
        work.parent.mkdir(parents=True)
        work.write_text("of another run")
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    store.forget(STEP)
    assert (store.partial / STEP / "files" / "work").read_text() == "of another run"


def test_leftovers_that_disappear_while_they_are_listed_are_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("index-1", "index-2"):
        (store.partial / name).mkdir()
    stat = Path.stat

    def finished_meanwhile(path: Path, **how: bool) -> os.stat_result:
        if path.name == "index-1" and path.exists():
            path.rmdir()
        return stat(path, **how)

    monkeypatch.setattr(Path, "exists", lambda path: os.path.lexists(path))
    monkeypatch.setattr(Path, "stat", finished_meanwhile)
    assert [path.name for path in store.leftovers(time.time() + 10)] == ["index-2"]
    store.remove_leftover(store.partial / "index-1")  # it is gone


def test_a_method_may_not_write_the_manifest_but_a_killed_finish_may_have(store: Store) -> None:
    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        (folder / "manifest.json").write_text("left by a kill before the rename")
    make(store)
    other = "index-" + "1" * 64
    with store.claim(other, nobody) as folder:
        assert folder is not None
        (folder / "manifest.json").write_text("the method's own")
        with pytest.raises(ContractError, match=r"'manifest\.json'"):
            store.finish(other, {}, {}, {})


def test_a_number_that_no_reader_takes_is_refused_when_it_is_written(store: Store) -> None:
    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        with pytest.raises(ContractError, match=r"cannot be kept.*tokens_per_second"):
            store.finish(STEP, {}, {"texts": 3}, {**COST, "tokens_per_second": float("nan")})
    assert not store.has(STEP)


def test_after_a_failed_sync_nothing_is_left_to_go_on_from(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> None:
        raise OSError(5, "Input/output error")

    with store.claim(STEP, nobody) as folder:
        assert folder is not None
        (folder / "file").write_text("perhaps on the disk, perhaps not")
        monkeypatch.setattr(disk, "fsync_tree", fail)
        with pytest.raises(StoreError, match="check the disk"):
            store.finish(STEP, {}, {"texts": 3}, COST)
        assert list(folder.iterdir()) == []
    assert not store.has(STEP)


def test_an_artifact_without_its_manifest_is_damaged_not_absent(store: Store) -> None:
    make(store)
    (store.artifacts / STEP / "manifest.json").unlink()
    assert store.has(STEP)
    assert store.steps() == [STEP]
    with pytest.raises(Corrupt, match=r"manifest\.json is missing"):
        store.read(STEP, trust=True)
    store.discard(STEP)
    assert not store.has(STEP)
    store.discard(STEP)
    make(store)
    assert store.read(STEP).facts == {"texts": 3}


def test_an_artifact_that_was_removed_whole_is_absent_not_damaged(store: Store) -> None:
    make(store)
    shutil.rmtree(store.artifacts / STEP)
    with pytest.raises(Absent, match="it is not in the store"):
        store.read(STEP)


def test_what_killed_runs_left_of_one_kind_is_removed_unless_a_run_is_at_it(store: Store) -> None:
    for name in ("analyse-1", "analyse-2", "index-1"):
        (store.partial / name / "files").mkdir(parents=True)
    with store.claim("analyse-2", nobody):
        store.forget_all("analyse")
        assert sorted(path.name for path in store.partial.iterdir()) == ["analyse-2", "index-1"]


def test_what_a_kill_just_after_a_step_left_is_removed(store: Store) -> None:
    make(store)
    for name in (STEP, "index-1"):
        (store.partial / name).mkdir(parents=True)
    store.forget_finished()
    assert [path.name for path in store.partial.iterdir()] == ["index-1"]
    assert store.read(STEP).facts == {"texts": 3}


def test_a_manifest_of_another_step_is_refused(store: Store) -> None:
    other = "index-" + "1" * 64
    make(store)
    make(store, step=other)
    (store.artifacts / STEP / "manifest.json").replace(store.artifacts / other / "manifest.json")
    with pytest.raises(Corrupt, match="another step's"):
        store.read(other)


def test_a_manifest_of_another_version_is_damaged_whatever_differs(store: Store) -> None:
    make(store)
    path = store.artifacts / STEP / "manifest.json"
    content = orjson.loads(path.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0])
    path.write_bytes(recorded.sealed({**content, "keyed": {**content["keyed"], "format": 0}}))
    artifact = store.read(STEP)
    with pytest.raises(Corrupt, match="of another version"):
        _ = artifact.record
    assert read_all(store) == {}
    path.write_bytes(recorded.sealed({name: content[name] for name in ("step", "facts", "cost", "files")}))
    with pytest.raises(Corrupt, match="of another version"):
        _ = store.read(STEP).record


def test_what_was_verified_once_is_verified_again_when_its_stamps_change(store: Store) -> None:
    make(store)
    store.read(STEP)
    path = store.artifacts / STEP / "file"
    path.write_text("Contents")
    os.utime(path, ns=(1, 1))
    with pytest.raises(Corrupt, match="'file' was changed"):
        store.read(STEP)


def test_leftovers_are_old_partial_steps_and_what_was_being_removed(store: Store) -> None:
    with store.claim(STEP, nobody):
        pass
    (store.removed / "half-removed").mkdir()
    assert [path.name for path in store.leftovers(0)] == ["half-removed"]
    found = store.leftovers(time.time() + 10)
    assert {path.name for path in found} == {STEP, "half-removed"}
    with store.claim(STEP, nobody):
        for path in found:
            store.remove_leftover(path)
    assert {path.name for path in store.partial.iterdir()} == {STEP}
    assert list(store.removed.iterdir()) == []


def test_opening_again_and_at_once_is_harmless(tmp_path: Path) -> None:
    problems: list[BaseException] = []

    def open_it() -> None:
        try:
            Store(tmp_path / "new").open()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(HarnessError, match="is not a store, and holds other files"):
        Store(tmp_path / "other").open()
