"""What a running process has leased stays in the store, and a lease ends with its process."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from step_samples import COST, FACTS

from harness import cli
from harness.steps import PartOfStep
from harness.store import leases
from harness.store.artifacts import Store
from harness.types import JSON

HOLDING = """
import sys, time
from pathlib import Path
from harness.store.leases import Leases
with Leases(Path(sys.argv[1])).held(["search-a"]):
    print("held", flush=True)
    time.sleep(600)
"""


def make(store: Store, step: str, keyed: JSON = None) -> None:
    with store.claim(step, lambda: None) as folder:
        assert folder is not None
        store.finish(step, keyed or {}, FACTS, COST)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store").open()
    for step in ("search-a", "search-b"):
        make(store, step)
    return store


def collected(store: Store, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert cli.main(["cache", "gc", "--unused-for", "0", "--store", str(store.root), *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_gc_keeps_what_is_leased_and_says_how_much(store, capsys):
    partial = store.partial / "search-c"
    partial.mkdir()
    (store.converted / "model").mkdir(parents=True)  # which any run may be reading
    with store.leases.held(["search-a", "search-c"]), store.leases.held(["search-d"]):
        for options, verb in ((("--dry-run",), "would remove"), ((), "removed")):
            lines = collected(store, capsys, *options)
            kept = "1 artifacts are kept, because runs that are under way read them"
            assert lines[:2] == [f"{verb}  search-b", kept]
        assert store.steps() == ["search-a"]
        assert partial.exists()
        assert (store.converted / "model").exists()
    assert [line for line in collected(store, capsys) if "remove" in line] == [
        "removed  search-a",
        "removed  converted/model",
        "removed  partial/search-c",
    ]
    assert list((store.root / "leases").iterdir()) == []


def test_a_part_is_kept_with_the_step_that_joins_it(store, capsys):
    part = PartOfStep(of="search-c", start=0, stop=1)
    make(store, f"part-{part.key}", part.keyed)
    with store.leases.held(["search-c"]):
        collected(store, capsys)
        assert store.steps() == [f"part-{part.key}"]


def test_a_kill_lets_a_lease_lapse(store, capsys):
    folder = store.root / "leases"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        collected(store, capsys)
        assert store.steps() == ["search-a"]
        process.kill()
    collected(store, capsys)
    assert (store.steps(), list(folder.iterdir())) == ([], [])


@pytest.mark.parametrize(("age", "left"), [(0.0, ["search-a"]), (leases.LAPSE + 60, [])])
def test_a_lease_of_another_machine_lapses_without_a_sign_of_life(store, capsys, age, left):
    folder = store.root / "leases"
    folder.mkdir()
    lease = folder / "otherhost.1.token"
    lease.write_text("search-a\nsearch-c")
    os.utime(lease, (time.time() - age,) * 2)
    collected(store, capsys)
    assert store.steps() == left


def test_a_lease_shows_that_its_process_lives(store, monkeypatch):
    monkeypatch.setattr(leases, "BEAT", 0.01)
    with store.leases.held(["search-a"]):
        (lease,) = (store.root / "leases").iterdir()
        os.utime(lease, (0, 0))
        deadline = time.monotonic() + 60
        while lease.stat().st_mtime == 0:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_no_lease_begins_while_gc_removes_an_artifact(store):
    code = HOLDING.replace("sleep(600)", "sleep(0)")
    arguments = [sys.executable, "-c", code, str(store.root / "leases")]
    with store.leases.closed():
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
    out, _ = process.communicate(timeout=250)
    assert out == b"held\n"


def test_a_run_goes_on_without_a_lease_where_none_can_be_written(store):
    (store.root / "leases").write_text("in the way")
    with store.leases.held(["search-a"]):
        assert store.has("search-a")


def test_gc_goes_on_when_a_run_finishes_a_step_that_it_looks_at(store, capsys, monkeypatch):
    for name in ("deep/er", "other"):
        (store.partial / "search-c" / name).mkdir(parents=True)
    scandir = os.scandir

    def finishing(path):
        if str(path).endswith(("deep", "other")):
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", finishing)
    assert any("search-a" in line for line in collected(store, capsys))
