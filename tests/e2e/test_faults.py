"""A fault at any change of the disk never leaves a store, or an output, that a rerun cannot finish."""

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from running import FAULTS, LONG, Harness, environment, results

KINDS = ("before", "after", "EIO", "ENOSPC")
SAMPLE = 4  # of all faults, in the default run
# five kinds of steps, in as few steps as can be
SUITE: dict[str, Any] = {
    "suite": "faults",
    "datasets": {"toy": "toy"},
    "systems": {
        "short": {"context": ["shout"], "retriever": "overlap", "rerank": {"length": {}, "depth": 5}}
    },
    "measures": ["nDCG@10"],
    "depth": 20,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, bytes]]:
    """The changes of the disk that an undisturbed run makes, in order, and its results."""
    place = Harness(tmp_path_factory.mktemp("whole"))
    ran = faulty(place, 0, "none")
    assert ran.code == 0, ran.err
    return (place.folder / "changes").read_text().split(), results(place.out)


def faulty(place: Harness, at: int, kind: str) -> Any:
    place.suite(SUITE)
    changes = str(place.folder / "changes")
    return place.run(PYTHONPATH=FAULTS, FAULT_COUNTS=changes, FAULT_AT=str(at), FAULT_KIND=kind)


def check(place: Harness, at: int, kind: str, expected: dict[str, bytes]) -> None:
    """Run with that fault, then without any."""
    ran = faulty(place, at, kind)
    told = f"fault {kind} at change {at}: exit code {ran.code}\n{ran.err}"
    assert "Traceback" not in ran.err, told
    if kind.startswith("E"):
        assert ran.code in (0, 1), told
        if ran.code == 1:
            last = ran.err.splitlines()[-1]
            assert last.startswith(str(place.folder)), told
            assert last.endswith("finished steps are kept"), told
    again = place.run()
    assert again.code == 0, f"{told}\nthen:\n{again.err}"
    assert results(place.out) == expected, told
    assert list(place.out.rglob(".*")) == [], told


def test_an_undisturbed_run_changes_the_disk_in_every_way(whole: tuple[list[str], Any]) -> None:
    counts = Counter(whole[0])
    assert set(counts) == {"write", "fsync", "rename", "remove_tree"}
    assert counts["rename"] >= 7 + 4  # each step, the leaderboard, its README, a run, the values of queries


@pytest.mark.parametrize("kind", ["before", "ENOSPC"])
def test_some_faults_are_mended_by_a_rerun(
    harness: Harness, whole: tuple[list[str], dict[str, bytes]], kind: str
) -> None:
    changes, expected = whole
    # a different part of the sweep for each kind, the same in each run of the tests
    for at in range(1 + KINDS.index(kind) * 5, len(changes) + 1, len(changes) * len(KINDS) // SAMPLE):
        check(_place(harness, at, kind), at, kind, expected)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_mended_by_a_rerun(
    harness: Harness, whole: tuple[list[str], dict[str, bytes]], kind: str
) -> None:
    changes, expected = whole
    # a process that dies after a sync leaves what one leaves that dies before the next change
    points = [at for at, change in enumerate(changes, 1) if (kind, change) != ("after", "fsync")]

    def one(at: int) -> None:
        place = _place(harness, at, kind)
        check(place, at, kind, expected)
        shutil.rmtree(place.folder)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, points))


def _place(harness: Harness, at: int, kind: str) -> Harness:
    place = Harness(harness.folder / f"{kind}-{at}")
    place.folder.mkdir()
    return place


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from harness.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 60, 200, 500, 800, 1200, 2000, 3000])
def test_a_file_that_may_not_grow_stops_whichever_library_writes_it_and_a_rerun_finishes(
    harness: Harness, whole: tuple[list[str], dict[str, bytes]], size: int
) -> None:
    harness.suite(SUITE)
    words = [str(word) for word in harness.run_arguments()]
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *words],
        cwd=harness.folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    assert ran.returncode == 1, ran.stderr
    again = harness.run()
    assert again.code == 0, again.err
    assert results(harness.out) == whole[1]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own of 6 MB, where one may be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"may not mount a disk here: {mounted.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, leaving: int) -> Path:
    """Take all the room of a disk but so many bytes."""
    ballast = disk / "ballast"
    free = shutil.disk_usage(disk).free
    ballast.write_bytes(b"\0" * max(0, free - leaving))
    return ballast


@pytest.mark.parametrize("leaving", [0, 40_000])
def test_a_full_store_ends_in_one_line_and_a_rerun_succeeds_when_there_is_room(
    harness: Harness, small_disk: Path, whole: tuple[list[str], dict[str, bytes]], leaving: int
) -> None:
    harness.suite(SUITE)
    ballast = fill(small_disk, leaving)
    store = small_disk / "store"
    ran = harness.run("suite.yaml", "--store", store)
    assert ran.code == 1
    advice = "no space left on the device; free some and run again: finished steps are kept"
    assert ran.err.splitlines()[-1] == f"{store}: {advice}"
    assert "Traceback" not in ran.err
    ballast.unlink()
    again = harness.run("suite.yaml", "--store", store)
    assert again.code == 0, again.err
    assert results(harness.out) == whole[1]


def test_a_full_output_disk_ends_in_one_line_too(
    harness: Harness, small_disk: Path, whole: tuple[list[str], dict[str, bytes]]
) -> None:
    harness.suite(SUITE)
    ballast = fill(small_disk, 0)
    out = small_disk / "out"
    ran = harness.run("suite.yaml", "--out", out)
    assert ran.code == 1
    advice = "no space left on the device; free some and run again: finished steps are kept"
    assert ran.err.splitlines()[-1] == f"{out}: {advice}"
    assert "Traceback" not in ran.err
    ballast.unlink()
    again = harness.run("suite.yaml", "--out", out)
    assert again.code == 0, again.err
    assert results(out) == whole[1]
    assert "[1/7]" not in ran.err  # it was found before the first step
    assert "[7/7]" in again.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize(
    "words",
    ["--version", "list", "show out", "verify out", "schema suite", "run suite.yaml --out out --store store"],
)
def test_an_output_that_is_full_ends_a_command_in_one_line(finished: Harness, words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words.split()],
            cwd=finished.folder, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    full_line = "standard output: cannot be written (No space left on device); make room"
    assert done.stderr.splitlines()[-1] == full_line
    assert "Traceback" not in done.stderr


def test_output_of_ascii_alone_is_written_in_escapes(finished: Harness) -> None:
    ran = finished.command("show", "out", PYTHONIOENCODING="ascii")
    assert ran.code == 0, ran.err
    assert "\\u4e2d" in ran.out


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """A folder with a run whose system has a Chinese name."""
    place = Harness(tmp_path_factory.mktemp("printed"), here=True)
    place.suite({**SUITE, "systems": {"\u4e2d": {"retriever": "overlap"}}})
    ran = place.run()
    assert ran.code == 0, ran.err
    return place
